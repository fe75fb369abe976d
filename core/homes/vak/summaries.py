"""What a list says of a ledger, read once for each state of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from core.homes.vak.home import cwd_of
from core.homes.vak.ledgers import MESSAGE, TOOL_USE, Entry, Ledger, Line, read_entry, read_ledger
from core.homes.vak.listing import LedgerFile
from core.homes.vak.recall.documents import said
from core.homes.vak.times import seconds
from core.homes.vak.whitespace import trim

#: Sources: a session of a person, and one of a worker.
SESSION, WORKER = "vak", "worker"
#: Characters of a preview; bytes of ledgers that are kept parsed.
PREVIEW, _KEPT = 120, 32 << 20


@dataclass(frozen=True, slots=True)
class Summary:
    """A ledger in a list. ``problem`` says why it cannot be read at all; times in seconds.

    ``first_start`` and ``first_size`` are where the line is that the preview comes from.
    """

    started: float | None = None
    active: float | None = None
    messages: int = 0
    tool_calls: int = 0
    model: str = ""
    workspace: str = ""
    parent_id: str = ""
    preview: str = ""
    skipped: int = 0
    problem: str = ""
    first_start: int = 0
    first_size: int = 0


def summarise(ledger: Ledger) -> Summary:
    """The summary of a ledger."""
    header = ledger.header
    contract = header.fields.get("contract") if header else None
    model = contract.get("model") if isinstance(contract, dict) else ""
    parent = header.fields.get("parent_session_id") if header else ""
    spoken = [entry for entry in ledger.entries if entry.kind == MESSAGE]
    first = next((entry for entry in spoken if entry.role == "user" and said(entry)), None)
    times = [entry.at for entry in ledger.entries]
    return Summary(
        seconds(header.at if header else times[0]) if times else None,
        seconds(max(times)) if times else None,
        len(spoken),
        sum(block["type"] == TOOL_USE for entry in spoken for block in entry.blocks),
        model if isinstance(model, str) else "",
        cwd_of(header),
        parent if isinstance(parent, str) else "",
        preview_of(first),
        len(ledger.skipped),
        first_start=first.line.offset if first else 0,
        first_size=len(first.line.data) if first else 0,
    )


def source_of(summary: Summary) -> str:
    """Where a ledger comes from: a session of a person, or a worker of one."""
    return WORKER if summary.parent_id else SESSION


def preview_of(entry: Entry | None) -> str:
    """The beginning of what was said, in one line."""
    return " ".join(trim(said(entry)).split())[:PREVIEW] if entry else ""


class Reader:
    """Ledgers and their summaries, kept while the files stay as they are. For any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._parsed: OrderedDict[str, tuple[tuple[int, ...], Ledger]] = OrderedDict()
        self._summaries: dict[str, tuple[tuple[int, ...], Summary]] = {}

    def ledger(self, file: LedgerFile) -> Ledger:
        """The whole ledger. Raises ``OSError``."""
        with self._guard:
            known = self._parsed.get(file.place)
            if known and known[0] == file.identity:
                self._parsed.move_to_end(file.place)
                return known[1]
        found = read_ledger(file.path)
        with self._guard:
            self._parsed[file.place] = (file.identity, found)
            room = _KEPT
            for path in reversed(list(self._parsed)):
                room -= self._parsed[path][0][2]
                if room < 0 and path != file.place:
                    del self._parsed[path]
        return found

    def summary(self, file: LedgerFile) -> Summary:
        """The summary; of a ledger that cannot be read one with its ``problem``."""
        with self._guard:
            known = self._summaries.get(file.place)
        if known and known[0] == file.identity:
            return known[1]
        try:
            found = summarise(read_ledger(file.path))
        except OSError as problem:
            return Summary(problem=(problem.strerror or str(problem)).lower())
        self.know([(file, found)])
        return found

    def knows(self, file: LedgerFile) -> bool:
        """Whether the summary needs no look at the file."""
        with self._guard:
            known = self._summaries.get(file.place)
        return known is not None and known[0] == file.identity

    def preview(self, file: LedgerFile) -> str:
        """The first thing a person said, read where it stands."""
        found = self.summary(file)
        if found.preview or not found.first_size:
            return found.preview
        line = Line(0, 0, found.first_start, b"", True)
        entry = read_entry(file.path, found.first_size, line)
        return preview_of(entry)

    def know(self, summaries: Iterable[tuple[LedgerFile, Summary]]) -> None:
        """Take summaries that were made elsewhere."""
        with self._guard:
            for file, summary in summaries:
                self._summaries[file.place] = (file.identity, summary)
