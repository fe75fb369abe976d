"""The past conversations of a Hermes home, as every surface asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.conversations import Filters, Listing, Message, Relative, Session, Totals
from core.errors import NotFoundError
from core.homes.hermes.home import DEFAULT, is_profile_name
from core.homes.hermes.sessions import catalogue, transcript
from core.homes.hermes.sessions.catalogue import Catalogues
from core.homes.hermes.sessions.ground import look
from core.homes.hermes.sessions.lineage import Asked, Lineage
from core.homes.hermes.sessions.listing import choose, described, listing, previews
from core.homes.hermes.sessions.opening import DATABASE, Database, reading
from core.homes.hermes.sessions.parts import Part, parts_of, present, record
from core.homes.hermes.sessions.values import count, word
from core.outline import Outline

#: How a pasted link to a session begins: ``@session:profile/id``.
LINK = "@session:"
#: Sessions named when a beginning is not unique.
_NAMED = 3
#: Looks at what is to be listed while it changes.
_LOOKS = 3
_CATALOGUES = Catalogues()


class StateDb:
    """:class:`core.conversations.Conversations` of one profile; making it reads nothing.

    ``home`` is the profile's folder, ``profile`` its name (``""`` for unknown), ``seconds`` what
    one question may take. It may be used from any thread, and holds nothing open between
    questions. All but :meth:`version` raise :class:`core.errors.UnreadableError`.
    """

    def __init__(self, home: Path, *, profile: str = "", seconds: float | None = None) -> None:
        self._home = home
        self._profile = profile
        self._seconds = seconds

    def listing(self, wanted: Filters, limit: int) -> Listing:
        """At most ``limit`` conversations: roots, branches and resets, each chain as one row under
        its newest part. See :func:`listing.choose` for what is counted, and
        :meth:`catalogue.Catalogues.of` for what is a little late while an agent writes."""
        path = Path(self._path)
        texts = bool(wanted.title or wanted.workspace)
        with self._reading() as db:
            seen = _CATALOGUES.of(db, path, texts=texts)
            all_, shown = seen.catalogue, seen.shown
            chosen = choose(all_, wanted, limit)
            if seen.are_as_shown and chosen.is_among(shown):
                return listing(chosen, shown)
            parts = parts_of(db, ids := chosen.ids)
            for _ in range(0 if seen.is_exact else _LOOKS):
                checked = _CATALOGUES.check(db, path, all_, ids, parts)
                if checked is all_:
                    break
                all_, chosen = checked, choose(checked, wanted, limit)
                parts = parts_of(db, ids := chosen.ids)
            if len(parts) < len(ids):
                parts = present(db, ids)
            shown = described(db, chosen, parts, shown)
            _CATALOGUES.show(path, all_, shown)
            return listing(chosen, shown)

    def session(self, session_id: str) -> Session | None:
        """One session by its exact id."""
        with self._reading() as db:
            lineage = Lineage(kin := Asked(db))
            part = kin.get(session_id)
            if part is None:
                return None
            return _record(lineage, part, previews(db, [part.id]).get(part.id, ""))

    def resolve(self, text: str) -> str:
        """The id of the session that ``text`` names: exact to the last space, a unique
        beginning (ASCII letters in any case, as the agent takes it), or a pasted
        ``@session:profile/id``.

        Raises :class:`NotFoundError` for none, for several, for another profile's, and for one
        whose id is no text: neither the agent nor signoff can ask for its messages.
        """
        named = text.strip()
        with self._reading() as db:
            if exact := parts_of(db, [text]):
                return exact[0].id
            if _is_no_text(db, text):
                raise NotFoundError(
                    f"The id of the session {text!r} is stored as no valid text:"
                    " nothing can be looked up by it",
                    "The list is all that shows it; the agent cannot open it either",
                )
            if named.startswith(LINK):
                named = self._local(named.removeprefix(LINK))
            found = _named(db, named)
            if not found and "/" in named:
                found = _named(db, self._local(named))
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFoundError(f"There is no session {text!r}", "`signoff sessions` lists them")
        examples = ", ".join(found[:_NAMED])
        more = "" if len(found) <= _NAMED else " and more"
        raise NotFoundError(f"Several sessions begin with {named!r}", f"They are {examples}{more}")

    def outline(self, session_id: str) -> Outline:
        """Every message of a session in order of id, without texts."""
        with self._reading() as db:
            return transcript.outline(db, session_id)

    def messages(self, ids: Sequence[int], session_id: str, longest: int) -> tuple[Message, ...]:
        """These messages of the session, in order of id; texts, and the arguments of calls, are
        cut at ``longest`` characters."""
        with self._reading() as db:
            return transcript.messages(db, ids, session_id, longest)

    def family(self, session_id: str) -> tuple[Relative, ...]:
        """The whole family of a session, parents before children, depth first; delegates too.
        Empty for an unknown session."""
        with self._reading() as db:
            lineage = Lineage(kin := Asked(db))
            part = kin.get(session_id)
            root = kin.get(lineage.root(part)) if part else None
            if root is None:
                return ()
            members = list(lineage.tree(root))
            words = previews(db, [part.id for part, _ in members])
            return tuple(
                Relative(_record(lineage, part, words.get(part.id, "")), depth)
                for part, depth in members
            )

    def totals(self) -> Totals:
        """All sessions and messages, whatever their state; the bytes are those of the database and
        of its log."""
        with self._reading() as db:
            columns = db.columns("sessions")
            archived = 0
            if "archived" in columns:
                archived = db.rows("SELECT count(*) FROM sessions WHERE archived = 1")[0][0]
            sources = db.rows(
                "SELECT source, count(*) FROM sessions GROUP BY source ORDER BY 2 DESC"
            )
            ground = look(self._path)
            return Totals(
                sessions=sum(count(number) for _, number in sources),
                archived=archived,
                messages=db.rows("SELECT count(*) FROM messages")[0][0],
                by_source={word(source): count(number) for source, number in sources},
                database_bytes=ground.stamp[0] + ground.log[0] if ground else 0,
            )

    def debug(self, message_id: int) -> tuple[tuple[str, str], ...]:
        """What else is stored with a message, as (label, text), for the debug view."""
        with self._reading() as db:
            return transcript.debug(db, message_id)

    def owner(self, message_id: int) -> str | None:
        """The session that a message stands in."""
        with self._reading() as db:
            rows = db.rows("SELECT session_id FROM messages WHERE id = ?", (message_id,))
            return word(rows[0][0]) if rows else None

    def version(self) -> object:
        """Something that differs after any change; ``None`` while there is no database.

        It tells from the files alone. A commit is on disk a moment before it can be read, so it
        differs once more when the files have stood still for :data:`catalogue.SETTLED` seconds.
        """
        ground = look(self._path)
        return None if ground is None else (ground, catalogue.is_settled(ground))

    # -- helpers -----------------------------------------------------------------------------------

    @property
    def _path(self) -> str:
        return os.path.realpath(self._home / DATABASE)

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        with reading(self._home, seconds=self._seconds) as db:
            db.expect_conversations()
            yield db

    def _local(self, link: str) -> str:
        """The id of ``profile/id``."""
        profile, slash, session_id = link.partition("/")
        if not slash:
            return link
        name = profile.lower()
        if name and name not in (DEFAULT, self._profile.lower()) and not is_profile_name(name):
            raise NotFoundError(
                f"{profile!r} is no name of a profile", f"A link is {LINK}profile/id"
            )
        if self._profile and profile and profile.lower() != self._profile.lower():
            raise NotFoundError(
                f"The session {session_id!r} belongs to the profile {profile!r}",
                f"Name it: signoff --profile {profile}",
            )
        return session_id


def working_in(db: Database, home: Path, workspace: str) -> frozenset[str]:
    """The sessions of the profile's folder ``home`` whose workspace holds this, in any case; a
    little late where a listing would be."""
    path = Path(os.path.realpath(home / DATABASE))
    texts = _CATALOGUES.of(db, path, texts=True).catalogue.texts or {}
    needle = workspace.casefold()
    return frozenset(key for key, each in texts.items() if needle in each.folder)


def _record(lineage: Lineage, part: Part, preview: str) -> Session:
    chain = tuple(each.id for each in lineage.chain(part))
    return record(part, lineage.relation(part), lineage.root(part), chain, preview)


def _is_no_text(db: Database, text: str) -> bool:
    """Whether a session is listed as ``text`` though no statement finds it by that."""
    return any(word(row[0]) == text for row in db.rows("SELECT id FROM sessions"))


def _named(db: Database, text: str) -> list[str]:
    """The id ``text``, else those that begin with it."""
    if not text:
        return []
    if exact := parts_of(db, [text]):
        return [exact[0].id]
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    sql = "SELECT id FROM sessions WHERE id LIKE ? ESCAPE '\\' ORDER BY id LIMIT ?"
    return [word(row[0]) for row in db.rows(sql, (f"{escaped}%", _NAMED + 1))]
