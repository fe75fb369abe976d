"""Rows and pages of the note store: whatever another program stored, nothing of it is obeyed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from console.render.knowledge import KnowledgeItem, ProjectItem, node_row, project_row
from console.render.knowledge_pages import (
    MergeItem,
    ProjectPage,
    merge_lines,
    node_lines,
    project_lines,
)
from core.homes.rag.nodes import project_of
from tests.console.test_render import check, texts

#: What a Chroma store of another program may hold in every field, ids and names included.
items = st.builds(
    KnowledgeItem,
    key=texts,
    id=texts,
    project=texts,
    layer=st.sampled_from(["memory", "wiki", "code"]),
    status=texts,
    live=st.booleans(),
    kind=texts,
    path=texts,
    text=texts,
    age=texts,
    when=texts,
    source=texts,
    successor=texts,
    reason=texts,
    page=texts,
    shared=st.booleans(),
    named=st.booleans(),
)


@given(items, st.integers(20, 100))
@settings(max_examples=100)
def test_a_row_fits_and_obeys_nothing(item: KnowledgeItem, width: int) -> None:
    check(node_row(item, width), width)


@given(items, st.lists(items, max_size=3), st.integers(20, 100))
@settings(max_examples=50)
def test_a_note_in_full(item: KnowledgeItem, chain: list[KnowledgeItem], width: int) -> None:
    check((line.content for line in node_lines(item, chain, width)), width)


@given(texts, st.integers(20, 100))
@settings(max_examples=50)
def test_a_project_and_a_merge(said: str, width: int) -> None:
    project = ProjectItem(said, (("memory", 3),), 1, due=True, shared=False)
    page = ProjectPage(((said, 3),), (said,), said, said, (said,), (said,))
    check((line.content for line in project_lines(project, page, width)), width)
    check(project_row(project, width), width)
    merge = MergeItem(said, said, (), ((said, said, said),))
    check((line.content for line in merge_lines(merge, width)), width)


def test_a_collection_no_project_name_leads_to_is_none_of_a_project() -> None:
    """Its notes could be counted but never listed: every name is looked up by its slug."""
    assert project_of("rag_tally-port__memory") == "tally-port"
    for name in ("rag_[red]__memory", "rag_Tally__wiki", "rag_a__b__memory", "rag_../x__code"):
        assert project_of(name) == ""
