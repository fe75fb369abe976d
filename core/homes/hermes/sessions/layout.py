"""Which full-text tables a ``state.db`` has, told from their definitions alone.

They are never touched here: a table may be damaged, or need a tokenizer that only the agent loads
(``messages_fts_cjk``). Layouts as of hermes-agent 0.19.0 (inline) and 0.21 (external content).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

BASE, TRIGRAM, CJK = "messages_fts", "messages_fts_trigram", "messages_fts_cjk"
_DEFINITION = re.compile(r"using\s+(\w+)\s*\((.*)\)\s*;?\s*\Z", re.IGNORECASE | re.DOTALL)
_OPTION = re.compile(r"\s*(\w+)\s*=\s*(.*?)\s*\Z", re.DOTALL)
_ARGUMENT = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^,'"])+""")


class Storage(StrEnum):
    """Where an index keeps its text: with itself, in the messages, or there is no such index."""

    INLINE = "inline"
    EXTERNAL = "external"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Layout:
    """The full-text tables of a database.

    ``columns`` are those of the base index (``messages_fts``). An inline index holds content, tool
    name and tool calls in one text, whole, and its trigram index covers every row; an external one
    holds the beginning of tool rows (8,192 characters), and its trigram index leaves out tool rows,
    the sources ``cron`` and ``subagent``, and delegates. ``cjk`` is never to be read.
    """

    base: Storage = Storage.NONE
    trigram: Storage = Storage.NONE
    columns: tuple[str, ...] = ()
    cjk: bool = False

    @property
    def trigram_covers_all(self) -> bool:
        """Whether every message is in the trigram index."""
        return self.trigram is Storage.INLINE


def detect(definitions: Iterable[tuple[str, str]]) -> Layout:
    """The layout told by ``(name, SQL)`` of the tables in ``sqlite_master``."""
    known = {name.lower(): sql for name, sql in definitions}
    base, columns = _index(known.get(BASE, ""))
    trigram, _ = _index(known.get(TRIGRAM, ""))
    return Layout(base, trigram, columns, CJK in known)


def _index(sql: str) -> tuple[Storage, tuple[str, ...]]:
    found = _DEFINITION.search(sql)
    if not found or found[1].lower() != "fts5":
        return Storage.NONE, ()
    storage, columns = Storage.INLINE, []
    for argument in _ARGUMENT.findall(found[2]):
        option = _OPTION.match(argument)
        if option is None:
            if argument.strip():
                columns.append(argument.split()[0].strip("\"'`[]"))
        elif option[1].lower() == "content":
            storage = Storage.EXTERNAL
    return storage, tuple(columns)
