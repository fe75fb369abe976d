"""Names, ids, settings and projects as the original has them (specs, memory-rag 1, 2, 3, 7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableError
from core.homes.rag import lexical
from core.homes.rag.nodes import (
    Layer,
    Node,
    collection_of,
    decode,
    encode,
    flat,
    layer_of,
    node_id,
    one_line,
    project_of,
    slug,
)
from core.homes.rag.projects import entry_of, project_for, read_projects
from core.homes.rag.settings import DEFAULTS, RagSettings, read_settings

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]))


@pytest.mark.parametrize(
    ("project", "expected"),
    [
        ("Site A/Blog", "site-a-blog"),
        ("api", "api"),
        ("  --  ", "default"),
        ("", "default"),
        ("Ünï", "n"),
    ],
)
def test_slugs(project: str, expected: str) -> None:
    assert slug(project) == expected


def test_collections() -> None:
    assert collection_of("Site A/Blog", Layer.CODE) == "rag_site-a-blog__code"
    assert project_of("rag_site-a-blog__code") == "site-a-blog"
    assert layer_of("rag_a__b__wiki") == "wiki"
    assert (project_of("docs"), layer_of("rag_x__other")) == ("", "")


def test_ids_are_those_of_the_original() -> None:
    """The two examples of section 3."""
    assert (
        node_id("mem", "the queue drops jobs older than six hours")
        == "a2c03c47-4f25-aac0-559a-4d9bc0ee330d"
    )
    assert node_id("code", "src/app.py", "0", "print(1)") == "1b96a293-42b0-7d5d-639c-d38705253010"


@given(
    TEXTS,
    st.dictionaries(
        TEXTS,
        TEXTS
        | st.integers()
        | st.booleans()
        | st.none()
        | st.floats(allow_nan=False, allow_infinity=False),
    ),
)
def test_a_node_is_what_was_written_of_it(document: str, metadata: dict[str, object]) -> None:
    document = document.replace("\0", "")
    node = Node("c", "i", document, flat(metadata))
    assert decode("c", "i", encode(node)) == node


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"document": "x", "metadata": {"a": []}}'])
def test_what_is_no_node_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode("c", "i", data)


def test_what_libraries_keep_for_themselves_is_hidden() -> None:
    """Section 3: hide ``_...``, ``doc_id``, ``document_id``, ``ref_doc_id``."""
    kept = {
        "_node_content": "{}",
        "_node_type": "TextNode",
        "doc_id": "None",
        "document_id": "None",
        "ref_doc_id": "None",
        "path": "a.md",
    }
    assert Node("c", "i", "", kept).shown == {"path": "a.md"}


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [(" a\nb ", 10, "a b"), ("x" * 11, 10, "x" * 10 + "…"), ("x" * 10, 10, "x" * 10)],
)
def test_texts_of_answers(text: str, limit: int, expected: str) -> None:
    assert one_line(text, limit) == expected


# -- settings --------------------------------------------------------------------------------------


def settings(tmp_path: Path, **environ: str) -> RagSettings:
    return read_settings(environ, tmp_path)


def test_the_eleven_settings_with_their_defaults(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert len(DEFAULTS) == 11
    assert {each.name: each.value for each in found.told if each.name in DEFAULTS} == DEFAULTS
    assert {each.origin for each in found.told} == {"default"}
    assert (found.memory_cap, found.threshold, found.max_chars, found.chunk_cap) == (
        50,
        10,
        600,
        4500,
    )
    assert (found.store, found.projects_file) == (
        tmp_path / "hermes-rag",
        tmp_path / ".hermes/projects.yaml",
    )


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_setting_is_taken_and_its_origin_told(tmp_path: Path, name: str) -> None:
    value = "777" if DEFAULTS[name].isdigit() else "/elsewhere/x"
    (told,) = (each for each in settings(tmp_path, **{name: value}).told if each.name == name)
    assert (told.value, told.origin, told.problem) == (value, name, "")


def test_the_wiki_root_has_two_names_and_the_readme_s_is_first(tmp_path: Path) -> None:
    both = {"HERMES_WIKI_ROOT": "/second", "HERMES_RAG_WIKI_ROOT": "/first"}
    assert settings(tmp_path, **both).wiki_root == Path("/first")
    assert settings(tmp_path, HERMES_WIKI_ROOT="/second").wiki_root == Path("/second")


@pytest.mark.parametrize("value", ["many", "-1", "0", "1e3", "9" * 12])
def test_a_number_that_is_none_is_told_and_the_default_used(tmp_path: Path, value: str) -> None:
    found = settings(tmp_path, HERMES_RAG_MEMORY_CAP=value)
    assert found.memory_cap == 50
    (told,) = (each for each in found.told if each.problem)
    assert told.problem.startswith("HERMES_RAG_MEMORY_CAP is")


def test_the_json_folders_are_a_list(tmp_path: Path) -> None:
    assert settings(tmp_path, HERMES_RAG_SKIP_JSON_DIRS=" a/, ,b ").skip_json == ("a/", "b")


# -- projects --------------------------------------------------------------------------------------

PROJECTS = """\
# comment: not read
projects:
- path: "~/code"
  project: everything
- name: 'api'
  dir: /srv/api/   # no inline comments: part of the path
- Slug: web
  ROOT: ~/code/web
- prefix: /srv/api
  name: api
- path: /nowhere
"""


def test_the_longest_path_wins_part_by_part(tmp_path: Path) -> None:
    file = tmp_path / "projects.yaml"
    file.write_text(PROJECTS)
    entries = read_projects(file, Path("/home/me"))
    assert [e.project for e in entries if e.path == "/home/me/code/web"] == ["web"]
    assert project_for("", Path("/home/me/code/web/src"), entries) == "web"
    assert project_for("", Path("/home/me/code/webby"), entries) == "everything"
    assert project_for("", Path("/srv/api"), entries) == "api"
    assert project_for("", Path("/srv/apix"), entries) == "apix", "by parts, not by letters"
    assert project_for("  Named ", Path("/srv/api"), entries) == "Named"
    assert project_for("", Path("/nowhere/x"), entries) == "x", (
        "an entry counts once both are known"
    )
    assert entry_of(Path("/elsewhere"), entries) is None


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\0", b"- - -\n:::\n- path\n", b"- path: a" + b"x" * 2_000_000]
)
def test_a_broken_projects_file_is_never_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p").write_bytes(data)
    assert project_for("", Path("/a/b"), read_projects(tmp_path / "p", tmp_path)) == "b"
    assert read_projects(tmp_path, tmp_path) == ()
    assert read_projects(tmp_path / "absent", tmp_path) == ()


# -- words of a question ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "expected", "parts"),
    [
        ("Where is the Queue?", ("queue",), ()),
        ("what is it", ("what", "is", "it"), ()),
        ("naïve Café", ("naive", "cafe"), ()),
        ("foo_bar.baz", ("foo", "bar", "baz"), ()),
        ("队列 drops", ("drops",), ("队列",)),
        ("queue queue QUEUE", ("queue",), ()),
        ("\x1b[0m\0", ("0m",), ()),
        ("…", (), ()),
    ],
)
def test_words(question: str, expected: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert lexical.parse(question) == lexical.Query(expected, parts)


def test_two_rankings_as_one() -> None:
    a, b, c = (Node("c", name, name) for name in "abc")
    assert [n.id for n in lexical.fused([[a, b], [b, c]], 3)] == ["b", "a", "c"]
    assert [n.id for n in lexical.distinct([a, b, a, c], 2)] == ["a", "b"]
