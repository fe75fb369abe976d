"""Which tools there are, what each may do, and which of them a client is offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from console.mcp import arguments, hermes, knowledge, vak
from console.mcp.answers import Answer
from console.mcp.asking import Asker
from core.desk.opening import Opened
from core.homes.base import Kind

#: The names to serve under: signoff's own, and that of the note store's own server.
SIGNOFF, ORIGINAL = "signoff", "hermes-memory-rag"


class Part(StrEnum):
    """What a tool belongs to: a setting of that name takes it off the list."""

    SEARCH = "search_enabled"
    WRITE = "write_enabled"
    SKILLS = "skill_proposals"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. ``writes``: it leaves something behind; ``destroys``: it takes something away.

    ``same``: asked twice, it does no more than once.
    """

    name: str
    title: str
    model: type[arguments.Arguments]
    run: Callable[[Opened, Any, Asker], Answer]
    part: Part
    writes: bool = True
    destroys: bool = False
    same: bool = True

    @property
    def description(self) -> str:
        """What it does, for the caller."""
        return " ".join((self.model.__doc__ or "").split())

    @property
    def schema(self) -> dict[str, Any]:
        """Its arguments as a JSON Schema."""
        made = self.model.model_json_schema()
        return {key: value for key, value in made.items() if key not in ("title", "description")}


HERMES = (
    Tool(
        "session_search",
        "Search past conversations",
        arguments.SessionSearch,
        hermes.session_search,
        Part.SEARCH,
        writes=False,
    ),
    Tool("memory", "Propose a memory change", arguments.Memory, hermes.memory, Part.WRITE),
    Tool("remember", "Propose a note", arguments.Remember, hermes.remember, Part.WRITE),
    Tool(
        "propose_skill",
        "Propose a skill",
        arguments.ProposeSkill,
        hermes.propose_skill,
        Part.SKILLS,
    ),
)


VAK = (
    Tool(
        "session_search",
        "Search past conversations",
        arguments.VakSearch,
        vak.session_search,
        Part.SEARCH,
        writes=False,
    ),
    Tool("remember", "Propose a note", arguments.VakRemember, vak.remember, Part.WRITE),
    Tool("propose_skill", "Propose a skill", arguments.VakSkill, vak.propose_skill, Part.SKILLS),
)
NOTES = (
    Tool(
        "recall",
        "Recall what is known",
        arguments.Recall,
        knowledge.recall,
        Part.SEARCH,
        writes=False,
    ),
    Tool("learn", "Keep a note", arguments.Learn, knowledge.learn, Part.WRITE),
    Tool(
        "retire",
        "Withdraw a note",
        arguments.Retire,
        knowledge.retire,
        Part.WRITE,
        destroys=True,
    ),
    Tool(
        "stats", "Count what is known", arguments.Stats, knowledge.stats, Part.SEARCH, writes=False
    ),
)
INGEST = (
    Tool(
        "ingest_code",
        "Index code",
        arguments.IngestCode,
        knowledge.ingest_code,
        Part.WRITE,
        destroys=True,
    ),
    Tool(
        "ingest_wiki",
        "Index a wiki",
        arguments.IngestWiki,
        knowledge.ingest_wiki,
        Part.WRITE,
        destroys=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What is served: ``server`` is the name it is served under."""

    server: str = SIGNOFF
    read_only: bool = False

    def tools(self, opened: Opened) -> Mapping[str, Tool]:
        """The tools a client sees on a home, by name, in a fixed order."""
        off = opened.settings.mcp_off
        every = (*NOTES, *INGEST)
        if self.server != ORIGINAL:
            of_vak = opened.found.kind is Kind.VAK
            every = (*(VAK if of_vak else HERMES), *NOTES)
            off = off | vak.off(opened) if of_vak else off
        return {
            tool.name: tool
            for tool in every
            if tool.part not in off and not (self.read_only and tool.writes)
        }
