"""What each tool takes: named, typed and bounded before anything else happens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from core.text import one_line

#: Characters of a memory entry, of a skill's file, of a word about a proposal, of a name.
LONG, FILE, WORDS, NAME = 8_000, 100_000, 500, 200
#: Operations of one batch, and sessions left out of a search.
MOST_OPERATIONS, MOST_SESSIONS = 50, 20
#: Characters of a message about wrong arguments.
_SAID = 200

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class ArgumentsError(Exception):
    """The arguments of a call are not those of the tool; one sentence."""


def _plain(text: str) -> str:
    found = _CONTROL.search(text)
    if found:
        raise ValueError(f"holds a control character (U+{ord(found[0]):04X})")
    return text


def _line(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise ValueError("must be one line")
    return _plain(text)


Text = Annotated[str, Field(max_length=LONG), AfterValidator(_plain)]
FileText = Annotated[str, Field(max_length=FILE), AfterValidator(_plain)]
Words = Annotated[str, Field(max_length=WORDS), AfterValidator(_plain)]
Name = Annotated[str, Field(max_length=NAME), AfterValidator(_line)]
_WHY = Field("", description="Why, in a sentence; the person who decides reads it.")
_SESSION = Field("", description="Your session's id, so that the person finds where it came from.")


class Arguments(BaseModel):
    """Arguments of a tool; what it does not know is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)

    def given(self) -> dict[str, Any]:
        """What the caller wrote, defaults left out."""
        return self.model_dump(exclude_unset=True)


def read(model: type[Arguments], given: Mapping[str, Any] | None) -> Arguments:
    """The arguments of a call. Raises :class:`ArgumentsError`.

    ``null`` counts as left out: some clients fill in what they do not use.
    """
    told = {key: value for key, value in (given or {}).items() if value is not None}
    try:
        return model.model_validate(told)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        said = f"{where}: {reason[:1].lower()}{reason[1:]}" if where else reason
        raise ArgumentsError(f"Wrong arguments: {one_line(said, _SAID)}") from None


class SessionSearch(Arguments):
    """Search past conversations, or read in one: with a query it searches, with a session it reads
    or, around a message, scrolls, with neither it lists the newest."""

    query: Words | None = Field(None, description="What to look for; words, phrases, OR, NOT.")
    session_id: Name | None = Field(None, description="Read this session.")
    around_message_id: int | Name | None = Field(
        None, description="With session_id: the messages around this one."
    )
    window: int | None = Field(None, description="Messages on either side, 1 to 20; 5.")
    limit: int | None = Field(None, description="Sessions, 1 to 10; 3.")
    sort: Name | None = Field(None, description="newest or oldest, instead of the best first.")
    role_filter: Name | None = Field(None, description="Roles, with commas; user,assistant.")
    current_session_id: Name | None = Field(None, description="Your own session: left out.")
    profile: Name | None = Field(None, description="Another profile's past.")
    detail: Name | None = Field(None, description="full or adaptive.")
    after: Name | None = Field(None, description="Sessions begun since: 2026-07-01, 7d.")
    before: Name | None = Field(None, description="Sessions begun before.")
    exclude_session_ids: list[Name] | None = Field(
        None, max_length=MOST_SESSIONS, description="Leave these sessions out."
    )


class Operation(Arguments):
    """One step of a batch."""

    action: Literal["add", "replace", "remove", "patch"]
    content: Text | None = None
    old_text: Text | None = None
    new_text: Text | None = None


class Memory(Arguments):
    """Propose a change of the long-term memory, which a person approves or refuses.

    add: content. replace: old_text names the entry by a part of it, content takes its place.
    remove: old_text. patch: new_text for old_text inside its entry. Several at once: operations."""

    action: Literal["add", "replace", "remove", "patch"] | None = None
    target: Literal["memory", "user"] = Field(
        "memory", description="memory: notes about the work; user: about the person."
    )
    content: Text | None = None
    old_text: Text | None = Field(None, description="A part of the entry that only it has.")
    new_text: Text | None = None
    operations: list[Operation] | None = Field(None, max_length=MOST_OPERATIONS)
    reason: Words = _WHY
    session_id: Name = _SESSION


class ProposeSkill(Arguments):
    """Propose a skill, or a change of one, which a person approves or refuses.

    create: content is the whole SKILL.md, or description and instructions. edit: content. patch:
    old_string, new_string. write_file and remove_file: file_path below the skill's folder."""

    action: Literal["create", "edit", "patch", "write_file", "remove_file", "delete"] = "create"
    name: Name = Field(min_length=1)
    content: FileText | None = None
    description: Words | None = Field(None, description="When to use it, in a line.")
    instructions: FileText | None = None
    category: Name | None = None
    file_path: Name | None = None
    file_content: FileText | None = None
    old_string: FileText | None = None
    new_string: FileText | None = None
    replace_all: bool = False
    absorbed_into: Name | None = None
    reason: Words = _WHY
    session_id: Name = _SESSION


class Remember(Arguments):
    """Propose one note for the long-term memory, which a person approves or refuses."""

    note: Text = Field(min_length=1)
    kind: Literal["fact", "decision", "preference", "reference", "note", "invariant"] = "fact"
    tag: Annotated[str, Field(max_length=96), AfterValidator(_line)] = ""
    scope: Literal["workspace", "profile"] = Field(
        "workspace", description="workspace: about the work; profile: about the person."
    )
    reason: Words = _WHY
    session_id: Name = _SESSION


_WORKSPACE = Field("", description="Its path; by default the one you were started in.")


class VakSearch(Arguments):
    """Search past conversations and notes, the most relevant first."""

    query: Words
    limit: int = Field(8, description="Hits, 1 to 50.")
    workspace: Name = Field("", description="Its path, or * for all; by default your own.")
    current_session_id: Name = Field("", description="Your own session: left out.")


class VakRemember(Remember):
    """Propose one note, which a person approves or refuses."""

    workspace: Name = _WORKSPACE


class VakSkill(Arguments):
    """Propose a skill, which a person installs or refuses."""

    name: Name = Field(min_length=1, description="Lower-case letters, digits, single hyphens.")
    description: Annotated[str, Field(max_length=1_024), AfterValidator(_line)] = Field(
        description="When to use it, in a line."
    )
    instructions: FileText = Field(min_length=1, description="Markdown.")
    workspace: Name = _WORKSPACE
    reason: Words = _WHY
    session_id: Name = _SESSION


_PROJECT = Field("", description="By default that of the folder the server was started in.")
_SHORT = Field(min_length=1, description="The short id that recall prints.")


class Recall(Arguments):
    """What is known on a question: the project's wiki, its code, notes from earlier work, then
    notes of every project. Bounded; says which layer has nothing."""

    query: Text
    project: Name = _PROJECT
    layer: Name = Field("auto", description="auto, wiki, code or memory.")
    top_wiki: int = 2
    top_code: int = 3
    top_memory: int = 1


class Learn(Arguments):
    """Keep one thing learnt as a note of the project, at most 500 characters. The same text twice
    is one note. A kind like rag:gotcha says on which wiki page it will be merged."""

    text: Text
    kind: Name = "learning"
    project: Name = _PROJECT
    supersedes: Name = Field("", description="The short id of the note this one replaces.")


class Retire(Arguments):
    """Withdraw a note that is wrong or over. It is kept, and recall stops returning it."""

    node_id: Name = _SHORT
    reason: Words = ""
    project: Name = _PROJECT


class Stats(Arguments):
    """What the store holds of a project, how it is used, and whether notes are due to be merged."""

    project: Name = _PROJECT


class IngestCode(Arguments):
    """Index the source files below a folder that the projects file names."""

    root: Words = Field(min_length=1)
    project: Name = Field("", description="By default the folder's name.")
    rebuild: bool = True


class IngestWiki(Arguments):
    """Index the Markdown pages below a folder that the projects file names, all of them anew."""

    wiki_dir: Words = Field(min_length=1)
    project: Name = Field("", description="By default the folder's name.")
