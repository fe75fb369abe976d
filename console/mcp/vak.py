"""The tools on a vak home: its own search, skills into its queue, notes that wait beside it."""

from __future__ import annotations

from console.mcp.answers import Answer, of_json, refused
from console.mcp.arguments import VakRemember, VakSearch, VakSkill
from console.mcp.asking import Asker
from console.mcp.feeding import feed
from console.mcp.hermes import told
from core.desk import recalling, staging_vak
from core.desk.opening import Opened
from core.desk.staging import StagingError
from core.homes.vak.settings import read_settings
from core.homes.vak.times import written
from core.view import View


def off(opened: Opened) -> frozenset[str]:
    """What the home's own settings switch off."""
    found = read_settings(View(opened.source, recording=False))
    allowed = {
        "search_enabled": found.search_enabled,
        "write_enabled": found.write_enabled,
        "skill_proposals": found.skill_proposals,
    }
    return frozenset(name for name, on in allowed.items() if not on)


def session_search(opened: Opened, call: VakSearch, by: Asker) -> Answer:
    """What vak's own tool finds in ledgers and notes."""
    if not call.query.strip():
        return refused("A blank query finds nothing: say what to look for.")
    where = _where(opened, call.workspace)
    found = recalling.recall(
        opened,
        recalling.Request(call.query, where, call.limit, call.current_session_id or None),
    )
    feed(opened)
    return of_json(
        {
            "matches": found.matches,
            "hits": [
                {
                    "session_id": hit.document.session_id,
                    "entry_id": hit.document.entry_id,
                    "ts": written(hit.document.at),
                    "role": hit.document.role,
                    "score": round(hit.score, 5),
                    "snippet": hit.snippet,
                    "project_hash": hit.document.project or None,
                }
                for hit in found.hits
            ],
        }
    )


def remember(opened: Opened, call: VakRemember, by: Asker) -> Answer:
    """Let a note wait; the home is not touched before a person approves it."""
    staged = staging_vak.stage_note(
        opened,
        call.note,
        by.caller,
        kind=call.kind,
        tag=call.tag,
        scope=call.scope,
        workspace=call.workspace or None,
    )
    return told(staged)


def propose_skill(opened: Opened, call: VakSkill, by: Asker) -> Answer:
    """Write a proposal into the home's queue, footer and all."""
    staged = staging_vak.stage_skill(
        opened,
        call.name,
        call.description,
        call.instructions,
        by.caller,
        workspace=call.workspace or None,
    )
    return told(staged)


def _where(opened: Opened, named: str) -> str:
    """The workspace meant; unnamed the one the server was started in, or all of them.

    Raises :class:`StagingError` for one that the home does not know: nothing is found in it.
    """
    if named == recalling.EVERYWHERE:
        return named
    try:
        return staging_vak.workspace_of(opened, named or None)
    except StagingError:
        if named:
            raise
        return recalling.EVERYWHERE
