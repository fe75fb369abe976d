"""Past conversations as every surface sees them, whatever home they come from.

Times are seconds since 1970 (UTC), texts are as stored: nothing here is safe to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol


class Visibility(StrEnum):
    """Whether the agent still sees a message: yes, folded into a summary, or taken back."""

    LIVE = "live"
    SUMMARISED = "summarised"
    UNDONE = "undone"


class Handoff(StrEnum):
    """How a compaction handed a conversation on; an opaque checkpoint cannot be read."""

    MODEL = "model-written summary"
    DETERMINISTIC = "deterministic summary"
    OPAQUE = "opaque checkpoint"


class Relation(StrEnum):
    """What a session is to the one it came from."""

    ROOT = "root"
    CONTINUATION = "continuation"
    BRANCH = "branch"
    RESET = "reset"
    DELEGATE = "delegate"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call an assistant's message makes; ``arguments`` is JSON text as stored."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One row of a conversation.

    ``id`` orders the messages of a session (the database's id for Hermes, the line of the ledger
    for vak, whose own name of it is ``entry_id``). ``text`` is what was said, decoded; ``size``
    its length in characters, and ``whole`` is false where ``text`` holds only its beginning.
    ``notes`` are words for what is unusual about it ("observed", "has media").
    """

    id: int
    session_id: str
    role: str
    text: str
    at: float | None
    size: int
    whole: bool = True
    visibility: Visibility = Visibility.LIVE
    tool_name: str = ""
    tool_call_id: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    handoff: Handoff | None = None
    notes: tuple[str, ...] = ()
    entry_id: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, or one part of a chain that compaction cut.

    ``workspace`` is the folder it worked in, ``preview`` the first thing a person said.
    ``root_id`` is where its family begins, ``chain`` the parts of its chain from the first to the
    newest (itself alone where nothing was cut). ``messages`` counts rows as the home says.
    ``notes`` are words for what is unusual about it ("2 lines cannot be read").
    """

    id: str
    source: str
    title: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    end_reason: str = ""
    last_active: float | None = None
    messages: int = 0
    tool_calls: int = 0
    model: str = ""
    workspace: str = ""
    git_branch: str = ""
    parent_id: str = ""
    root_id: str = ""
    relation: Relation = Relation.ROOT
    chain: tuple[str, ...] = ()
    preview: str = ""
    archived: bool = False
    pinned: bool = False
    hidden: bool = False
    unread: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relative:
    """A member of a session's family tree; ``depth`` counts from the root."""

    session: Session
    depth: int


class Mark(NamedTuple):
    """A message in the outline of a session: enough to place it, without its text.

    ``copy_of`` is the id of an earlier message of the session with the same role, time and text,
    which a compaction carried on; 0 for none.
    """

    id: int
    role: str
    at: float | None
    visibility: Visibility
    copy_of: int = 0


@dataclass(frozen=True, slots=True)
class Filters:
    """What to list or search. Empty means all; ``after`` is inclusive, ``before`` is not.

    ``sources`` without hidden ones unless named; ``title`` and ``workspace`` match a part, in any
    case. The three ``with_*`` let in what is counted and left out otherwise.
    """

    sources: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    after: float | None = None
    before: float | None = None
    workspace: str = ""
    title: str = ""
    session_id: str = ""
    with_hidden: bool = False
    with_tool_output: bool = False
    with_undone: bool = False
    with_archived: bool = False


class Order(StrEnum):
    """The order of hits or of sessions."""

    RANKED = "ranked"
    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class Listing:
    """Sessions, newest activity first, and what was left out: source -> count, archived."""

    sessions: tuple[Session, ...]
    total: int
    by_source: dict[str, int] = field(default_factory=dict)
    archived: int = 0
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that answers a search. ``session_id`` is the part of the chain that owns it.

    ``spans`` are (start, end) code-point offsets of the matches in ``snippet``, which is a part of
    the message's text. ``more`` counts further hits in the same session.
    ``says_it``: the text as it is now answers the search.
    """

    session_id: str
    root_id: str
    message_id: int
    role: str
    at: float | None
    title: str
    source: str
    visibility: Visibility
    snippet: str
    spans: tuple[tuple[int, int], ...] = ()
    score: float = 0.0
    more: int = 0
    in_title: bool = False
    says_it: bool = True


class Engine(StrEnum):
    """What answered a search: signoff's index, the database's own full text, or a scan."""

    INDEX = "index"
    DATABASE = "database"
    SCAN = "scan"


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a person's search.

    ``effective`` is the query as it ran, ``literally`` whether it had to be read word by word,
    ``corrected`` the words that were found only in another spelling (asked, found). ``tool_output``
    and ``hidden_sources`` count the hits left out by the filters, ``undone`` those taken back.
    ``is_whole``: every match was looked at, else there may be more sessions than
    ``total_sessions``, and where the index answered some of these may have been taken back.
    ``note`` says what the engine could not do, in words; ``""`` for nothing.
    """

    query: str
    effective: str
    engine: Engine
    hits: tuple[Hit, ...] = ()
    total_sessions: int = 0
    is_whole: bool = True
    literally: bool = False
    corrected: tuple[tuple[str, str], ...] = ()
    tool_output: int = 0
    hidden_sources: int = 0
    undone: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of a home: rows, by source, and the bytes of its database or ledgers."""

    sessions: int
    archived: int
    messages: int
    by_source: dict[str, int]
    database_bytes: int


class Conversations(Protocol):
    """The past of one home, read only. Every method raises :class:`core.errors.UnreadableError`
    when the past cannot be read, and none leaves anything open or changed in the home."""

    def listing(self, wanted: Filters, limit: int) -> Listing:
        """At most ``limit`` sessions: roots, each chain as one row under its newest part."""

    def session(self, session_id: str) -> Session | None:
        """One session by its exact id."""

    def resolve(self, text: str) -> str:
        """The id of the session that ``text`` names: exact, a unique beginning, or a pasted
        ``@session:profile/id``. Raises :class:`core.errors.NotFoundError`."""

    def outline(self, session_id: str) -> Sequence[Mark]:
        """Every message of a session in order, without texts; a :class:`core.outline.Outline`
        where there may be many."""

    def messages(self, ids: Sequence[int], session_id: str, longest: int) -> tuple[Message, ...]:
        """These messages, in order; texts are cut at ``longest`` characters."""

    def family(self, session_id: str) -> tuple[Relative, ...]:
        """The whole family of a session, parents before children, depth first."""

    def totals(self) -> Totals:
        """What ``stats`` counts."""

    def version(self) -> object:
        """Something that differs after any change; cheap enough to ask every second."""


#: Asked between steps of a long search: true when the answer is not wanted any more.
Cancelled = Callable[[], bool]
