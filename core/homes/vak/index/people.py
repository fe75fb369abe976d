"""People's search by the index: its candidates, read where they stand and checked again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.conversations import Filters, Visibility
from core.homes.vak.index.building import read_row
from core.homes.vak.index.catalogue import Catalogue, Row
from core.homes.vak.index.teaching import teach
from core.homes.vak.ledgers import lines, open_ledger
from core.homes.vak.searching import Said, Search
from core.homes.vak.store import Past
from core.homes.vak.transcript import TOOL, text_of
from core.recall.index import Candidates, Category, Index, Status
from core.recall.query import matches

#: Candidates asked for one session that is to be shown, and how many times more where these are
#: of too few sessions.
EACH, MORE = 2, 8
_SEEN = tuple(Visibility)
#: What is known of a ledger that is not indexed.
_NOT_LISTED: tuple[int, tuple[int, ...]] = (0, ())
_LISTED: dict[str, tuple[str, dict[str, tuple[int, tuple[int, ...]]]]] = {}


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index found. ``tools`` counts what tools answered where that is left out;
    ``is_whole`` says that there is nothing else."""

    said: list[Said]
    tools: int
    corrected: tuple[tuple[str, str], ...]
    is_whole: bool


def is_ready(known: Catalogue, index: Index) -> bool:
    """Whether the index of people's search holds all that the catalogue lists."""
    state = index.state()
    return (
        state.status is Status.READY
        and state.identity == known.value("stamp")
        and state.through_id >= int(known.value("last") or 0)
    )


def by_index(search: Search, known: Catalogue, index: Index) -> Indexed | None:
    """What answers, of the ledgers that are indexed and, line by line, of the others.

    ``None`` when the index cannot answer. The search then asks for the words that were found.
    """
    keys, fresh = _divided(search.past, known)
    filters = search.query.filters
    tools = filters.with_tool_output or TOOL in filters.roles
    categories = (Category.SAID, *((Category.TOOL,) if tools else ()))
    query = replace(search.query, filters=_narrowed(search, filters))
    sessions = _sessions(search, known, filters)

    def ask(count: int) -> tuple[Candidates, list[Row]] | None:
        found = index.search(query, categories, count, search.order, sessions=sessions)
        if found is None:
            return None
        rows = {row.id: row for row in known.messages([hit.id for hit in found.hits])}
        return found, [
            row for hit in found.hits if (row := rows.get(hit.id)) and row.ledger in keys
        ]

    count = EACH * search.limit
    answer = ask(count)
    if answer and _are_few(search, *answer):
        count *= MORE
        answer = ask(count)
    if answer is None:
        return None
    found, there = answer
    search.query = replace(found.query, filters=filters)
    teach(search.past.reader, known, [search.past.files[keys[row.ledger]] for row in there])
    said = list(_confirmed(search, there, keys))
    for key in fresh:
        if search.is_over():
            search.is_cut = True
            break
        if not filters.session_id or filters.session_id == key:
            said += _scanned(search, key)
    left = 0 if tools else found.counts[Category.TOOL]
    return Indexed(said, left, found.corrected, len(found.hits) < count)


def _are_few(search: Search, found: Candidates, there: list[Row]) -> bool:
    """Whether more may be found than these, and these are of too few sessions."""
    is_cut = len(found.hits) >= EACH * search.limit
    return is_cut and len({row.ledger for row in there}) < search.limit


def _divided(past: Past, known: Catalogue) -> tuple[dict[int, str], list[str]]:
    """``number -> id`` of the ledgers that are indexed as they are, and the ids of the others."""
    state = known.state()
    if past.divided is None or past.divided[0] != state:
        listed = _listed(known, state)
        keys: dict[int, str] = {}
        fresh: list[str] = []
        for key, file in past.files.items():
            number, identity = listed.get(file.file, _NOT_LISTED)
            if identity == file.identity:
                keys[number] = key
            else:
                fresh.append(key)
        past.divided = state, keys, fresh
    return past.divided[1:]


def _listed(known: Catalogue, state: str) -> dict[str, tuple[int, tuple[int, ...]]]:
    """``file -> (number, identity)`` of all ledgers that are indexed, read once a state."""
    stamp = known.value("stamp")
    if stamp not in _LISTED or _LISTED[stamp][0] != state:
        _LISTED[stamp] = (
            state,
            {
                ledger.file: (ledger.number, tuple(map(int, ledger.identity.split(":"))))
                for ledger in known.ledgers().values()
            },
        )
    return _LISTED[stamp][1]


def _confirmed(search: Search, rows: list[Row], keys: dict[int, str]) -> Iterator[Said]:
    for row in rows:
        key = keys[row.ledger]
        entry = read_row(search.past.files[key], row)
        if entry is not None and matches(search.query, text := text_of(entry)):
            yield search.said(key, entry, text, _SEEN[row.seen])


def _scanned(search: Search, key: str) -> list[Said]:
    try:
        with open_ledger(search.past.files[key].path) as stream:
            return list(search.among(key, lines(stream)))
    except OSError:
        return []


def _narrowed(search: Search, filters: Filters) -> Filters:
    """Filters as the index knows them: it calls a session by its file."""
    file = search.past.files.get(filters.session_id)
    return replace(filters, session_id=file.file if file else filters.session_id)


def _sessions(search: Search, known: Catalogue, filters: Filters) -> list[str] | None:
    """The ledgers of the workspace that is asked for; ``None`` for all."""
    folder = filters.workspace.casefold()
    if not folder:
        return None
    past = search.past
    teach(past.reader, known, past.files.values())
    return [
        file.file
        for key, file in past.files.items()
        if folder in past.session(key).workspace.casefold()
    ]
