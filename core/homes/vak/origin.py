"""Where a proposed skill came from: the session its footer names, at the call that proposed it."""

from __future__ import annotations

from pathlib import Path

from core.clock import is_date
from core.homes.hermes.origin import Provenance
from core.homes.hermes.pending import Proposal
from core.homes.hermes.staging import staged_by
from core.homes.vak.home import ledger_files
from core.homes.vak.ledgers import TOOL_USE, Entry, read_ledger
from core.homes.vak.listing import LedgerFile
from core.homes.vak.queue import project_of, skill_of
from core.homes.vak.times import seconds, written
from core.text import one_line

#: The agent's tool that proposes a skill, and the one that writes a note.
PROPOSE, REMEMBER = "propose_skill", "remember"
#: Bytes of a ledger past which it is not looked through for this.
_MOST = 64 << 20
_CELLS = 60


def trace(home: Path, proposal: Proposal) -> Provenance:
    """The session, and the line of its ledger, that proposed a skill; never raises."""
    if caller := staged_by(proposal.raw):
        return Provenance(caller.words)
    footer = skill_of(proposal).footer
    if footer is None or not footer.session_id:
        return Provenance("nothing in it says which session proposed it")
    named = one_line(footer.session_id, _CELLS)
    file = find_ledger(home, footer.session_id, project_of(proposal))
    if file is None:
        return Provenance(f"session {named}, whose ledger is not there")
    line, when = call(file, PROPOSE, "name", proposal.target)
    if line is None and is_date(footer.at):
        when = f" ({written(int(footer.at) * 1_000_000_000)[:16].replace('T', ' ')} UTC)"
    return Provenance(f"from session {named}{when}", footer.session_id, line or 1)


def find_ledger(home: Path, session_id: str, project: str) -> LedgerFile | None:
    """The ledger of a session, of that workspace before any other's."""
    files = [file for file in ledger_files(home) if file.session_id == session_id]
    files.sort(key=lambda file: file.project != project)
    return files[0] if files else None


def call(file: LedgerFile, tool: str, key: str, value: str) -> tuple[int | None, str]:
    """The newest line with a call of ``tool`` whose input says so, and its time in words.

    ``None`` where there is none; then the last line of the ledger is a place to look.
    """
    if file.size > _MOST:
        return None, ""
    try:
        ledger = read_ledger(file.path)
    except OSError:
        return None, ""
    for entry in reversed(ledger.entries):
        if any(_is_call(block, tool, key, value) for block in entry.blocks):
            return entry.line.number, _when(entry)
    return (ledger.entries[-1].line.number if ledger.entries else None), ""


def _is_call(block: object, tool: str, key: str, value: str) -> bool:
    if not isinstance(block, dict) or (block["type"], block.get("name")) != (TOOL_USE, tool):
        return False
    given = block.get("input")
    said = given.get(key) if isinstance(given, dict) else None
    return isinstance(said, str) and said.strip().lower() == value.strip().lower()


def _when(entry: Entry) -> str:
    at = written(entry.at)
    return f" ({at[:16].replace('T', ' ')} UTC)" if is_date(seconds(entry.at)) else ""
