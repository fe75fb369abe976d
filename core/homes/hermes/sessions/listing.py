"""The list of conversations: filtered, counted, and with the first words of those shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from core.conversations import Filters, Listing
from core.homes.hermes.sessions.catalogue import HIDDEN, Catalogue, Conversation, Kind, Shown, Texts
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
    def ids(self) -> list[str]:
        """Every session that has a say in what is listed, each once."""
        return list(dict.fromkeys([key for each in self.conversations for key in each.chain]))

    def is_among(self, shown: Mapping[str, Shown]) -> bool:
        """Whether all of it is ``shown``."""
        rows = ((shown.get(each.tip), each) for each in self.conversations)
        return all(row is not None and row.conversation is each for row, each in rows)


def choose(all_: Catalogue, wanted: Filters, limit: int) -> Chosen:
    """At most ``limit`` conversations that pass the filters, newest activity first.

    ``total`` counts all that pass; ``archived`` and ``hidden`` those that only these two flags
    keep out. ``by_source`` counts, for each source, what naming that source alone would list. A
    time range takes in conversations that began before its end and were active after its start.
    A catalogue without texts will do for filters that ask for none.
    """
    matching = _matching(all_, wanted)
    kinds, sources = all_.kinds, {source.lower() for source in wanted.sources}
    if matching is not all_.conversations:
        kinds = Counter(each.kind for each in matching)
    by_source: Counter[str] = Counter()
    archived = hidden = total = 0
    shown: set[Kind] = set()
    for kind, number in kinds.items():
        named = kind.source.lower() in sources
        kept = wanted.with_archived or not kind.archived
        seen = wanted.with_hidden or not kind.hidden
        if kept and seen:
            by_source[kind.source] += number
        if sources and not named:
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
    first = tuple(islice(passed, min(limit, len(matching))))
    return Chosen(first, total, ordered, archived, hidden)


def described(
    db: Database,
    chosen: Chosen,
    parts: Iterable[Part],
    before: Mapping[str, Shown],
) -> dict[str, Shown]:
    """The rows of what was chosen by the ids of their newest parts, with the first words of each.

    ``parts`` are the sessions of it as they are now; a row that is as it was ``before`` is the same
    one. What is gone is left out.
    """
    known = {part.id: part for part in parts}
    words = previews(
        db, [*dict.fromkeys(key for e in chosen.conversations for key in (e.tip, e.first))]
    )
    found: dict[str, Shown] = {}
    for each in chosen.conversations:
        tip, first = known.get(each.tip), known.get(each.first)
        if tip is None or first is None:
            continue
        preview = words.get(each.tip) or words.get(each.first) or ""
        old = before.get(each.tip)
        if old is None or old[:4] != (each, tip, first, preview):
            session = record(tip, each.relation, each.root, each.chain, preview, first)
            old = Shown(each, tip, first, preview, session)
        found[each.tip] = old
    return found


def listing(chosen: Chosen, shown: Mapping[str, Shown]) -> Listing:
    """What was chosen, as surfaces see it."""
    rows = (shown.get(each.tip) for each in chosen.conversations)
    sessions = tuple([row.session for row in rows if row is not None])
    return Listing(sessions, chosen.total, chosen.by_source, chosen.archived, chosen.hidden)


def _matching(all_: Catalogue, wanted: Filters) -> Sequence[Conversation]:
    conversations = all_.conversations
    found: Iterable[Conversation] = conversations
    if wanted.session_id:
        found = [row for row in (all_.by_part.get(wanted.session_id),) if row is not None]
    if (after := wanted.after) is not None:
        found = [each for each in found if each.active >= after]
    if (before := wanted.before) is not None:
        found = [each for each in found if each.started < before]
    none, texts = Texts("", ""), all_.texts or {}
    if needle := wanted.title.casefold():
        found = [e for e in found if any(needle in texts.get(key, none).title for key in e.chain)]
    if needle := wanted.workspace.casefold():
        found = [e for e in found if any(needle in texts.get(key, none).folder for key in e.chain)]
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
            # What is longer is an encoded structure, and not worth keeping.
            is_short = content is None or len(content) <= _BYTES
            found[word(session_id)] = (_words if is_short else _words.__wrapped__)(content)
    return found


@lru_cache(maxsize=2_000)
def _words(content: bytes | None) -> str:
    # Of the sessions that a list shows few change from one look to the next.
    text = text_of(content)
    return "" if is_summary(text) else preview(text)
