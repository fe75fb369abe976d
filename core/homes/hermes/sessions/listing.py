"""The list of conversations: filtered, counted, and with the first words of those shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.conversations import Filters, Listing
from core.homes.hermes.sessions.catalogue import HIDDEN, Catalogue, Conversation, Kind
from core.homes.hermes.sessions.content import MERGED, SUMMARY, is_summary, preview, text_of
from core.homes.hermes.sessions.opening import Database
from core.homes.hermes.sessions.parts import BATCH, Part, record
from core.homes.hermes.sessions.values import word

#: Bytes of a message that are read for a preview.
_BYTES = 1_200


@dataclass(frozen=True, slots=True)
class Chosen:
    """The conversations to list, newest activity first, and the counts of a :class:`Listing`."""

    conversations: tuple[Conversation, ...]
    total: int
    by_source: dict[str, int]
    archived: int
    hidden: int

    @property
    def parts(self) -> list[Part]:
        """Every session that has a say in what is listed."""
        return [part for each in self.conversations for part in each.chain]


def choose(all_: Catalogue, wanted: Filters, limit: int) -> Chosen:
    """At most ``limit`` conversations that pass the filters, newest activity first.

    ``total`` counts all that pass; ``archived`` and ``hidden`` those that only these two flags
    keep out. ``by_source`` counts, for each source, what naming that source alone would list. A
    time range takes in conversations that began before its end and were active after its start.
    """
    matching = _matching(all_.conversations, wanted)
    kinds = all_.kinds
    if matching is not all_.conversations:
        kinds = Counter(each.kind for each in matching)
    by_source: Counter[str] = Counter()
    archived = hidden = total = 0
    shown: set[Kind] = set()
    for kind, number in kinds.items():
        named = kind.source in wanted.sources
        kept = wanted.with_archived or not kind.archived
        seen = wanted.with_hidden or not kind.hidden
        if kept and seen:
            by_source[kind.source] += number
        if wanted.sources and not named:
            continue
        if not kept:
            archived += number
        elif not seen or (kind.source in HIDDEN and not named and not wanted.with_hidden):
            hidden += number
        else:
            total += number
            shown.add(kind)
    passed = (each for each in reversed(matching) if each.kind in shown)
    ordered = dict(by_source.most_common())
    return Chosen(tuple(islice(passed, limit)), total, ordered, archived, hidden)


def described(db: Database, all_: Catalogue, chosen: Chosen) -> Listing:
    """The list of what was chosen, with the first words of each."""
    ids = [part.id for each in chosen.conversations for part in {each.tip, each.first}]
    words = previews(db, ids)
    sessions = tuple(
        record(
            each.tip,
            each.relation,
            all_.lineage.root(each.first),
            tuple(part.id for part in each.chain),
            words.get(each.tip.id) or words.get(each.first.id) or "",
            each.first,
        )
        for each in chosen.conversations
    )
    return Listing(sessions, chosen.total, chosen.by_source, chosen.archived, chosen.hidden)


def _matching(conversations: Sequence[Conversation], wanted: Filters) -> Sequence[Conversation]:
    found: Iterable[Conversation] = conversations
    if wanted.session_id:
        found = (e for e in found if any(part.id == wanted.session_id for part in e.chain))
    if (after := wanted.after) is not None:
        found = (each for each in found if each.active >= after)
    if (before := wanted.before) is not None:
        found = (each for each in found if each.first.started < before)
    if needle := wanted.title.casefold():
        found = (e for e in found if any(needle in part.title.casefold() for part in e.chain))
    if folder := wanted.workspace.casefold():
        found = (e for e in found if any(folder in part.workspace.casefold() for part in e.chain))
    return conversations if found is conversations else list(found)


def previews(db: Database, ids: Sequence[str]) -> dict[str, str]:
    """The first words a person said in each session; summaries and what nobody saw are passed
    over, and so is what was taken back."""
    columns = db.columns("messages")
    where = ["m.session_id = s.id", "m.role = 'user'", "m.content IS NOT NULL", "m.content <> ''"]
    starts = [*SUMMARY, MERGED]
    where += [f"substr(m.content, 1, {len(start)}) <> '{start}'" for start in starts]
    if "active" in columns:
        kept = " OR m.compacted = 1" if "compacted" in columns else ""
        where.append(f"(m.active IS NULL OR m.active <> 0{kept})")
    if "display_kind" in columns:
        where.append("(m.display_kind IS NULL OR m.display_kind <> 'hidden')")
    # By time, as the agent picks it: that is what its index serves. An encoded structure begins
    # with U+0000 and must be whole to be read.
    order = "m.timestamp, m.id" if "timestamp" in columns else "m.id"
    raw = "CAST(m.content AS BLOB)"
    sql = (
        f"SELECT s.id, (SELECT CASE WHEN substr({raw}, 1, 1) = x'00' THEN {raw}"
        f" ELSE substr({raw}, 1, {_BYTES}) END FROM messages m"
        f" WHERE {' AND '.join(where)} ORDER BY {order} LIMIT 1)"
        " FROM sessions s WHERE s.id IN "
    )
    found: dict[str, str] = {}
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        for session_id, content in db.rows(f"{sql}({', '.join('?' * len(some))})", some):
            text = text_of(content)
            found[word(session_id)] = "" if is_summary(text) else preview(text)
    return found
