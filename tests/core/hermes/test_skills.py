"""Where the agent looks for a skill and which folder a name means (specs: 3.3, curator 1.1, 1.2)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.homes.hermes.config import Config
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import tree as skills
from core.model import Node, NodeKind
from core.view import Disk, Snapshot, Tree, View, holds
from tests.core.hermes.skill_homes import DATA, folder, home, link, skill

EXT = Config(external_dirs=("/ext/one", "shared"))


def find(
    view: View, name: str, config: Config | None = None, rules: Rules = Rules.V0_19
) -> str | None:
    return skills.find_skill(view, name, config or Config(), rules)


def test_a_skill_is_named_by_its_folder_not_by_its_head() -> None:
    view = home(**{"skills/ops/deep/er/tool/SKILL.md": skill("other")})
    assert find(view, "tool") == "skills/ops/deep/er/tool"
    assert find(view, "other") is None
    assert find(view, "deep") is None
    assert find(view, "") is None


def test_the_home_comes_before_external_folders_in_their_order() -> None:
    files = {
        "/ext/one/a/SKILL.md": skill("a"),
        "shared/a/SKILL.md": skill("a"),
        "shared/b/SKILL.md": skill("b"),
        "/ext/one/probe/SKILL.md": skill("probe"),
    }
    view = home(**files)
    assert find(view, "a", EXT) == "/ext/one/a"
    assert find(view, "b", EXT) == "shared/b"
    assert find(view, "probe", EXT) == "skills/probe"
    assert find(view, "b") is None
    assert skills.candidates(view, "a", EXT, Rules.V0_19) == ("/ext/one/a", "shared/a")


@pytest.mark.parametrize("part", sorted(skills.EXCLUDED))
def test_excluded_parts_hide_what_is_below(part: str) -> None:
    view = home(
        **{f"skills/x/{part}/inner/SKILL.md": skill("inner"), f"skills/{part}/SKILL.md": skill("q")}
    )
    assert find(view, "inner") is None
    assert find(view, part) is None


@pytest.mark.parametrize("part", ["references", "templates", "scripts", "assets"])
def test_support_folders_hide_only_below_a_skill(part: str) -> None:
    # curator 1.2: a category named `scripts` is fine, an old package below references/ is data.
    view = home(
        **{
            f"skills/{part}/tool/SKILL.md": skill("tool"),
            f"skills/probe/{part}/old/SKILL.md": skill("old"),
            f"skills/probe/sub/{part}/kept/SKILL.md": skill("kept"),
        }
    )
    assert find(view, "tool") == f"skills/{part}/tool"
    assert find(view, "old") is None
    assert find(view, "kept") == f"skills/probe/sub/{part}/kept"
    assert skills.in_support_folder(view, f"skills/probe/{part}/old/SKILL.md", "skills")
    assert not skills.in_support_folder(view, f"skills/{part}/tool/SKILL.md", "skills")


def test_links_to_folders_are_not_entered_but_a_linked_file_counts() -> None:
    files: dict[str, bytes | Node] = {
        "real/SKILL.md": skill("real"),
        "skills/linked": link("../real"),
        "skills/loop/again": link("."),
        "skills/file/SKILL.md": link("../../real/SKILL.md"),
        "skills/dangling/SKILL.md": link("../nowhere"),
        "skills/round/SKILL.md": link("SKILL.md"),
        "skills/folder/SKILL.md/keep": b"",
    }
    view = home(**files)
    found = {
        name: find(view, name)
        for name in ("linked", "again", "file", "dangling", "round", "folder")
    }
    assert found == {
        "linked": None,
        "again": None,
        "file": "skills/file",
        "dangling": None,
        "round": None,
        "folder": "skills/folder",  # D-S0: SKILL.md as a folder exists, for the agent
    }


def test_the_first_in_the_file_systems_order_wins_under_019_the_sorted_one_under_newest() -> None:
    view = View(
        Tree({"skills/z/dup/SKILL.md": skill("dup"), "skills/a/dup/SKILL.md": skill("dup")})
    )
    assert find(view, "dup") == "skills/z/dup"
    assert find(view, "dup", rules=Rules.NEWEST) == "skills/a/dup"
    assert skills.candidates(view, "dup", Config(), Rules.V0_19) == ("skills/z/dup", "skills/a/dup")


def test_newest_rules_take_category_and_name_and_the_folder_new_skills_go_to() -> None:
    view = home(
        **{
            "skills/a/dup/SKILL.md": skill("dup"),
            "skills/z/dup/SKILL.md": skill("dup"),
            "own/x/SKILL.md": skill("x"),
        }
    )
    assert find(view, "z/dup", rules=Rules.NEWEST) == "skills/z/dup"
    assert find(view, "dup/z", rules=Rules.NEWEST) is None
    assert find(view, "../skills/z/dup", rules=Rules.NEWEST) is None
    assert find(view, "z/dup") is None
    config = Config(create_dir="own")
    assert find(view, "x", config, Rules.NEWEST) == "own/x"
    assert find(view, "x", config) is None


def test_only_the_answer_is_recorded() -> None:
    files = {"skills/a/tool/SKILL.md": skill("tool")}
    view = View(Tree(files))
    find(view, "tool")
    find(view, "none")
    assert [(fact.kind, fact.value) for fact in view.facts] == [
        ("skill", ""),
        ("skill", "skills/a/tool"),
    ]
    more = View(Tree({**files, "skills/new/SKILL.md": skill("new")}))
    assert all(holds(fact, more) for fact in view.facts)
    moved = View(Tree({"skills/b/tool/SKILL.md": skill("tool"), "skills/none/SKILL.md": b""}))
    assert not any(holds(fact, moved) for fact in view.facts)


class Counting(Tree):
    """A tree that counts how often folders are listed."""

    listings = 0

    def names(self, path: str) -> tuple[str, ...]:
        self.listings += 1
        return super().names(path)


def test_the_tree_is_walked_once_a_snapshot() -> None:
    tree = Counting({f"skills/s{n}/SKILL.md": b"" for n in range(50)})
    source = Snapshot(tree)
    for n in range(50):
        assert find(View(source), f"s{n}") == f"skills/s{n}"
    assert tree.listings == 51


def test_a_walk_deeper_than_pythons_stack_ends() -> None:
    deep = "/".join(["d"] * 1100)
    view = View(Tree({f"skills/{deep}/tool/SKILL.md": b""}))
    assert find(view, "tool") == f"skills/{deep}/tool"


def test_the_listing_says_both_names() -> None:
    view = home(
        **{
            "skills/ops/dup/SKILL.md": skill("other"),
            "skills/bad/SKILL.md": b"no head\n---\nname: 'late'\n",
            "skills/empty/SKILL.md": b"---\nname:\n---\nname: body\n",
            "/ext/one/far/SKILL.md": b'\xff---\r\n---\r\nname: "far away"\r\n',
        }
    )
    listed = {
        s.folder: (s.root, s.category, s.named, s.declared)
        for s in skills.list_skills(view, EXT, Rules.V0_19)
    }
    assert listed == {
        "skills/probe": ("skills", "", "probe", "probe"),
        "skills/ops/dup": ("skills", "ops", "dup", "other"),
        # curator 1.1: a name line after a stray fence in the body is taken for it.
        "skills/bad": ("skills", "", "bad", "late"),
        "skills/empty": ("skills", "", "empty", "empty"),
        "/ext/one/far": ("/ext/one", "", "far", "far away"),
    }


def test_the_name_is_looked_for_in_4000_characters() -> None:
    head = "---\n" + "x: y\n" * 800
    view = home(**{"skills/far/SKILL.md": f"{head}name: other\n---\n".encode()})
    assert skills.declared_name(view, "skills/far") == "far"


def test_the_hostile_tree_is_listed_once_each() -> None:
    # D-S0: all listed once; the archive is not part of it.
    view = View(Tree(folder(DATA / "hostile-skills")))
    listed = [s.folder for s in skills.list_skills(view, Config(), Rules.NEWEST)]
    assert sorted(listed) == [
        "skills/[red]bracket[/red]",
        "skills/bad-yaml",
        "skills/esc-skill",
        "skills/linked-inside",
        "skills/md-is-dir",
        "skills/name-mismatch",
        "skills/no-frontmatter",
        "skills/notes/dup",
        "skills/ops/dup",
        "skills/ops/site-check",
        "skills/pinned-skill",
    ]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the agent ran on Python 3.11")
def test_the_order_is_that_of_pathlib(tmp_path: Path) -> None:
    for n in range(40):
        below = tmp_path / "skills" / f"c{n * 7919 % 40}" / f"d{n % 3}" / "dup"
        below.mkdir(parents=True)
        (below / "SKILL.md").write_bytes(b"")
    (tmp_path / "skills" / "c3" / "SKILL.md").write_bytes(b"")
    os.symlink(tmp_path / "skills" / "c1", tmp_path / "skills" / "linked")
    script = "import pathlib, sys; print('\\n'.join(map(str, pathlib.Path(sys.argv[1]).rglob('SKILL.md'))))"
    root = str(tmp_path / "skills")
    lines = subprocess.run(
        [sys.executable, "-c", script, root], capture_output=True, text=True, check=True
    ).stdout.split()
    expected = tuple(
        line[len(str(tmp_path)) + 1 : -len("/SKILL.md")]
        for line in lines
        if line.endswith("dup/SKILL.md")
    )
    view = View(Disk(tmp_path))
    assert skills.candidates(view, "dup", Config(), Rules.V0_19) == expected
    assert len(expected) == 40


def test_exists_follows_links() -> None:
    view = home(**{"a": link("skills"), "b": link("nowhere"), "c": Node(NodeKind.OTHER)})
    assert [skills.exists(view, path) for path in ("a", "b", "c", "d")] == [
        True,
        False,
        True,
        False,
    ]
