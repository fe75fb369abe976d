"""The first words of a session in a list.

Source: hermes-agent 0.19.0, executed; what the newer agent leaves out and unwraps, as described
(specs, hermes-sessions 1.7 and 2.4) and from the texts that its skills are wrapped in.
"""

from __future__ import annotations

import re
from typing import Any

from core.homes.hermes.recall.store import Store
from core.homes.hermes.recall.windows import is_summary

#: Characters of a preview; three more are read, to tell whether something follows.
LENGTH = 60

_FOLLOWS = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
_HEADER = "[PRIOR CONTEXT — for reference only; not a new message]"
_END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
_SKILL = re.compile(r'\[IMPORTANT: The user has invoked the "([^"]*)"')
_ASKED = "The user has provided the following instruction alongside the skill invocation: "
_ASKED_BUNDLE = "\nUser instruction: "
_AFTER, _AFTER_BUNDLE = "\n\n[Runtime note:", "\n\n[Loaded as part of the "


def v0_19(store: Store, session_id: Any) -> str:
    """The beginning of the first row with the role ``user``, whatever it is."""
    sql = (
        "SELECT substr(replace(replace(m.content, char(10), ' '), char(13), ' '), 1, 63)"
        " FROM messages m WHERE m.session_id = ? AND m.role = 'user' AND m.content IS NOT NULL"
        " ORDER BY m.timestamp, m.id LIMIT 1"
    )
    found = store.rows(sql, (session_id,))
    return _cut(str(found[0][0]).strip()) if found else ""


def newest(store: Store, session_id: Any) -> str:
    """The beginning of what the person first said: no summary, nothing hidden; of a skill that was
    called its name and what was asked of it."""
    shown = ""
    if "display_kind" in store.db.columns("messages"):
        shown = " AND COALESCE(m.display_kind, '') <> 'hidden'"
    # Ids first: rows may be large, and the first one is nearly always the one.
    ids = store.rows(
        "SELECT m.id FROM messages m WHERE m.session_id = ? AND m.role = 'user'"
        f" AND m.content IS NOT NULL{shown} ORDER BY m.timestamp, m.id",
        (session_id,),
    )
    for (message_id,) in ids:
        found = store.rows("SELECT m.content FROM messages m WHERE m.id = ?", (message_id,))
        text = _said(str(found[0][0]).split("\0", 1)[0]) if found else None
        if text is not None:
            return _described(text)
    return ""


def _said(content: str) -> str | None:
    """What the person said in a row that a compaction may have written into; none for nothing."""
    before, mark, after = content.partition(_FOLLOWS)
    if is_summary(content):
        return content.partition(_END)[2].strip() or None
    if mark and is_summary(after):
        return before.strip().removeprefix(_HEADER).strip() or None
    return content


def _described(text: str) -> str:
    called = _SKILL.match(text.strip())
    if called is None:
        return _cut(_one_line(text)[: LENGTH + 3].strip())
    name = called[1].strip()
    _, asked, rest = text.rpartition(_ASKED)
    rest = rest.split(_AFTER, 1)[0]
    if not asked:
        _, asked, rest = text.partition(_ASKED_BUNDLE)
        rest = rest.split(_AFTER_BUNDLE, 1)[0]
    label = name if name.startswith("/") else f"/{name}"
    words = " ".join(rest.split()) if asked else ""
    return _cut(f"{label} — {words}" if words else label)


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


def _cut(text: str) -> str:
    return text[:LENGTH] + "..." if len(text) > LENGTH else text
