"""What the agent accepts as a skill: spec hermes-approval-memory 3.3, skills-curator 1.4 and 1.5."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import rules
from core.homes.hermes.skills.rules import RefusedError

GOOD = "---\nname: a\ndescription: d\n---\n\n# B\n"


def short(value: object) -> str:
    return ascii(value)[:40]


def refused(check: Callable[[], object]) -> str:
    with pytest.raises(RefusedError) as problem:
        check()
    assert problem.value.message.endswith(".")
    return problem.value.category


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("", "invalid_name"),
        (None, "invalid_name"),
        ([], "invalid_name"),
        (5, "invalid"),
        (["a"], "invalid"),
        ("a" * 65, "too_long"),
        ("A", "invalid_name"),
        ("-a", "invalid_name"),
        (".a", "invalid_name"),
        ("a b", "invalid_name"),
        ("../../memories", "invalid_name"),  # D-31, D51
        ("[/x]", "invalid_name"),  # D-43
        ("á", "invalid_name"),
        ("a\nb", "invalid_name"),
    ],
)
def test_names_the_agent_refuses(name: object, category: str) -> None:
    assert refused(lambda: rules.check_name(name)) == category


@pytest.mark.parametrize("name", ["a", "0", "a" * 64, "a.b_c-d", "a..", "a\n"])
def test_names_the_agent_takes(name: str) -> None:
    # The last one passes by the `$` of the agent's pattern (skills-curator 1.4, run).
    assert rules.check_name(name) == name


@pytest.mark.parametrize(
    ("category", "refusal"),
    [
        ("a/b", "invalid_name"),
        ("a\\b", "invalid_name"),
        ("..", "invalid_name"),
        ("A", "invalid_name"),
        ("a" * 65, "too_long"),
        (5, "invalid"),
        (False, "invalid"),
    ],
)
def test_categories_the_agent_refuses(category: object, refusal: str) -> None:
    assert refused(lambda: rules.check_category(category)) == refusal


@pytest.mark.parametrize(
    ("category", "folder"), [(None, ""), ("", ""), ("  ", "  "), (" sp ", " sp "), ("ops", "ops")]
)
def test_a_category_is_used_as_it_stands(category: str | None, folder: str) -> None:
    # 3.3: "blank passes the check but is then used verbatim as a folder name of spaces".
    assert rules.check_category(category) == folder


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("  \n", "invalid_frontmatter"),
        ("# B\n", "invalid_frontmatter"),
        ("---\nname: a\ndescription: d\n# B\n", "invalid_frontmatter"),
        ("---\nname: a\ndescription: d\n---", "invalid_frontmatter"),
        ("---\nname: [a\ndescription: d\n---\nB\n", "invalid_frontmatter"),
        ("---\n- name\n---\nB\n", "invalid_frontmatter"),
        ("---\ndescription: d\n---\nB\n", "invalid_frontmatter"),
        ("---\nname: a\n---\nB\n", "invalid_frontmatter"),
        ("---\nname: a\ndescription: d\n---\n \n", "invalid_frontmatter"),
        ("---\nname: a\ndescription: 2026-99-99\n---\nB\n", "invalid_frontmatter"),
        ("---\nname: a\ndescription: d\nx: " + "9" * 5000 + "\n---\nB\n", "invalid_frontmatter"),
        ("---\nname: a\ndescription: d\nx: " + "[" * 5000 + "\n---\nB\n", "invalid_frontmatter"),
        (
            "---\nname: a\ndescription: d\nx: !!python/object:os.system\n---\nB\n",
            "invalid_frontmatter",
        ),
        ("---\nname: \x1b[0m\ndescription: d\n---\nB\n", "invalid_frontmatter"),
        ("---\nname: a\ndescription: " + "d" * 1025 + "\n---\nB\n", "too_long"),
        ("---\nname: a\ndescription: [" + "d, " * 400 + "d]\n---\nB\n", "too_long"),
        ("---\nname: a\ndescription: 0x" + "f" * 5000 + "\n---\nB\n", "too_long"),
        (5, "invalid"),
        ({"a": 1}, "invalid"),
    ],
    ids=short,
)
def test_texts_the_agent_refuses(text: object, category: str) -> None:
    assert refused(lambda: rules.check_skill_text(text)) == category


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "\ufeff\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        "---name: a\ndescription: d\n---  \n\nB",
        "---\nname: a\ndescription:\n---\nB\n",
        "---\nname: a\ndescription: [one, two]\n---\nB\n",
        "---\nname:\ndescription: " + "d" * 1024 + "\n---\nB\n",
        "---\nname: a\ndescription: 2026-01-02\nx: &a [1]\ny: *a\n---\nB\n",
        "---\nname: a\ndescription: d\nx: &x {k: 1}\ny: {<<: *x}\n---\nB\n",
    ],
    ids=short,
)
def test_texts_the_agent_takes(text: str) -> None:
    assert "description" in rules.check_skill_text(text).fields


@pytest.mark.timeout(60)
def test_alias_bombs_are_never_expanded() -> None:
    # D-42: refused as the agent refuses it, in a blink, and said to be no text.
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    for at, above in zip("bcdefghijk", "abcdefghij", strict=True):
        lines.append(f"{at}: &{at} [" + ",".join([f"*{above}"] * 10) + "]")
    bomb = "---\nname: b\n" + "\n".join(lines) + "\ndescription: *k\n---\nB\n"
    with pytest.raises(RefusedError, match="it is not text") as problem:
        rules.check_skill_text(bomb)
    assert problem.value.category == "too_long"


@pytest.mark.timeout(60)
def test_merge_bombs_end_soon() -> None:
    lines = ["a: &a {" + ",".join(f"k{n}: 1" for n in range(30)) + "}"]
    for at, above in zip("bcdefg", "abcdef", strict=True):
        lines.append(f"{at}: &{at} {{<<: [" + ",".join([f"*{above}"] * 20) + "]}")
    bomb = "---\nname: b\ndescription: d\n" + "\n".join(lines) + "\n---\nB\n"
    with contextlib.suppress(RefusedError):  # which one it is depends on the YAML package
        rules.check_skill_text(bomb)


def test_a_head_past_the_size_limit_is_not_parsed() -> None:
    text = "---\nname: a\ndescription: d\nx: " + "y" * 100_001 + "\n---\nB\n"
    assert refused(lambda: rules.check_skill_text(text)) == "too_large"


@pytest.mark.parametrize("fence", ["'", '"'])
def test_newest_rules_hold_a_new_description_to_60(fence: str) -> None:
    # Section 0: "1024 for edits, 60 for new skills (stripped of quotes)"; upstream 94372.
    def text(length: int) -> str:
        return f"---\nname: a\ndescription: {fence}{'d' * length}{fence}\n---\nB\n"

    rules.check_skill_text(text(60), new=True, rules=Rules.NEWEST)
    assert (
        refused(lambda: rules.check_skill_text(text(61), new=True, rules=Rules.NEWEST))
        == "too_long"
    )
    rules.check_skill_text(text(61), new=True, rules=Rules.V0_19)
    rules.check_skill_text(text(61), rules=Rules.NEWEST)


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("..", "path_traversal"),
        ("references/../../x.md", "path_traversal"),  # D-33
        ("../../../memories/USER.md", "path_traversal"),  # D-32, R03
        ("../SKILL.md", "path_traversal"),
        ("docs/notes.md", "path_not_allowed"),
        ("notes.md", "path_not_allowed"),
        (".", "path_not_allowed"),
        ("/etc/passwd", "path_not_allowed"),
        ("a/b/SKILL.md", "path_not_allowed"),
        ("references\\x.md", "path_not_allowed"),
        ("SKILL.MD", "path_not_allowed"),
        ("references", "path_is_directory"),
        ("references/.", "path_is_directory"),
        (5, "invalid"),
        (["references/a.md"], "invalid"),
    ],
    ids=short,
)
def test_paths_the_agent_refuses(path: object, category: str) -> None:
    assert refused(lambda: rules.check_file_path(path)) == category


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("SKILL.md", "SKILL.md"),
        ("./SKILL.md", "SKILL.md"),
        ("probe/SKILL.md", "probe/SKILL.md"),
        ("./references//a/./b.md", "references/a/b.md"),
        ("scripts/x", "scripts/x"),
        ("references/…/a.md", "references/…/a.md"),
        ("/SKILL.md", "/SKILL.md"),
    ],
)
def test_paths_the_agent_takes(path: str, normal: str) -> None:
    assert rules.check_file_path(path) == normal


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (0, "missing_argument"),
        ([], "missing_argument"),
        (5, "invalid"),
        ("x" * 100_001, "too_large"),
        ("é" * 600_000, "too_large"),
        ("\ud83d", "invalid"),
    ],
    ids=short,
)
def test_support_texts_the_agent_refuses(text: object, category: str) -> None:
    assert refused(lambda: rules.check_support_text(text, "references/a.md")) == category


def test_bytes_are_counted_before_characters() -> None:
    # skills-curator 1.4: "bytes are checked first".
    with pytest.raises(RefusedError, match="bytes"):
        rules.check_support_text("é" * 600_000, "x")


@pytest.mark.parametrize("text", ["", "x" * 100_000, "\0"], ids=short)
def test_support_texts_the_agent_takes(text: str) -> None:
    assert rules.check_support_text(text, "references/a.md") == text


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.dates()
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, min_size=2, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.sets(st.integers(), min_size=1, max_size=4)
    ),
    max_leaves=12,
)


@given(plain)
def test_the_bounded_length_is_the_length_python_prints(value: object) -> None:
    assert rules.shown_length(value, 10_000) == len(str(value))


@given(st.text(max_size=300), st.text(max_size=40))
def test_any_text_is_read_or_refused(head: str, body: str) -> None:
    text = f"---\n{head}\n---\n{body}"
    with contextlib.suppress(RefusedError):
        assert text.endswith(rules.read_frontmatter(text).body)
