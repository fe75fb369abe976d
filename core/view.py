"""How a plan reads: one small interface over a home that records every read.

A :class:`View` reads through a source: ``Disk`` (the folder), ``Tree`` (in memory: a test),
``Snapshot`` (any of them, read once), :class:`core.overlay.Overlay` (another source with changes
laid over it: a forecast). What was read becomes the seal of a plan.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast

from core.disk import Disk as Disk
from core.disk import Listing
from core.model import Node, NodeKind

T = TypeVar("T")

ABSENT = "absent"
#: Links followed from one path before it counts as a loop.
MAX_LINKS = 16


@dataclass(frozen=True, slots=True)
class Reading:
    """The three states of a file: absent, readable, unreadable (with the reason).

    ``link`` is the path the bytes really come from when links were followed, else ``None``.
    """

    data: bytes | None
    mode: int = 0
    reason: str = ""
    link: str | None = None

    @property
    def absent(self) -> bool:
        """Whether nothing is there: not even something that cannot be read."""
        return self.data is None and not self.reason

    @property
    def digest(self) -> str:
        """A short text that tells two states apart: hash and mode, ``absent``, or the reason."""
        if self.data is None:
            return f"unreadable:{self.reason}" if self.reason else ABSENT
        return f"{hashlib.sha256(self.data).hexdigest()}:{self.mode:o}:{self.link or ''}"


def sha256(data: bytes) -> str:
    """The hex digest used in seals, hashes of changes and lock names."""
    return hashlib.sha256(data).hexdigest()


def join(*parts: str) -> str:
    """Join path parts with ``/``, skipping empty ones; an absolute later part wins."""
    path = ""
    for part in parts:
        if part[:1] == "/":
            path = part
        elif part:
            path = f"{path}/{part}" if path and path[-1] != "/" else path + part
    return path


def parent(path: str) -> str:
    """The folder of ``path``; ``""`` is the home itself."""
    head = path.rpartition("/")[0]
    return head or ("/" if path.startswith("/") else "")


def name(path: str) -> str:
    """The last part of ``path``."""
    return path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Fact:
    """One recorded read: what a plan was based on.

    ``resolve(view, key)`` gives the value again on another view; two facts are equal when kind,
    key and value are. A file's value is its hash, a skill look-up's the folder it resolved to.
    ``called`` is what people call it, where the key is no path.
    """

    kind: str
    key: str
    value: str
    resolve: Callable[[View, str], str] = field(compare=False, repr=False)
    called: str = field(default="", compare=False)

    @property
    def shown(self) -> str:
        """It in words, for a sentence."""
        return self.called or self.key or "the home"


class Source(Protocol):
    """Where reads come from: three look-ups, none of them recorded."""

    def node(self, path: str, *, data: bool) -> Node | None:
        """The thing at ``path``, links not followed; ``None`` if absent.

        ``data`` asks for a file's bytes. Raises ``OSError`` when it cannot be looked at.
        """

    def names(self, path: str) -> tuple[str, ...]:
        """Names in a folder, in the file system's own order. Raises ``OSError``."""

    def relative(self, path: str) -> str:
        """A path as paths of this home are named: relative if it lies inside, else absolute.

        ``path`` is absolute, or climbs out of the home (``../x``).
        """


class View:
    """Reads of a home, each recorded once: what was read becomes the seal of a plan.

    A view lives for one plan. ``quiet()`` gives a twin that records nothing, for walks whose
    result is recorded as one fact by :meth:`ask`.
    """

    def __init__(self, source: Source, *, recording: bool = True) -> None:
        self.source = source
        self._recording = recording
        self._facts: dict[tuple[str, str], Fact] = {}

    # -- what was read ---------------------------------------------------------------------

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every recorded read, in a fixed order."""
        return tuple(self._facts[key] for key in sorted(self._facts))

    def record(self, fact: Fact) -> None:
        """Note that a plan depends on ``fact``."""
        if self._recording:
            self._facts.setdefault((fact.kind, fact.key), fact)

    def quiet(self) -> View:
        """The same reads, nothing recorded."""
        return View(self.source, recording=False) if self._recording else self

    def ask(
        self, kind: str, key: str, resolve: Callable[[View, str], str], called: str = ""
    ) -> str:
        """A look-up recorded by its answer, not by all it read (a skill's folder, a limit).

        ``resolve(view, key)`` must be a module-level function: it checks the seal later.
        """
        value = self.shared(f"{kind}\0{key}", lambda view: resolve(view, key))
        self.record(Fact(kind, key, value, resolve, called))
        return value

    def shared(self, key: str, make: Callable[[View], T]) -> T:
        """``make(quiet view)``, made once for all views of one :class:`Snapshot`."""
        source = self.source
        if not isinstance(source, Snapshot):
            return make(self.quiet())
        if key not in source.answers:
            source.answers[key] = make(self.quiet())
        return cast("T", source.answers[key])

    # -- reads -----------------------------------------------------------------------------

    def read(self, path: str) -> Reading:
        """A regular file's bytes, links followed; anything else is absent or unreadable."""
        reading = self._read(path)
        if self._recording:
            self.record(Fact("file", path, reading.digest, _file_value))
        return reading

    def node(self, path: str) -> Node | None:
        """The thing at ``path`` itself, links not followed, with its bytes; ``None`` if absent.

        A thing that cannot be read is an ``OTHER`` node: present, and not to be touched.
        """
        try:
            node = self.source.node(path, data=True)
        except (OSError, ValueError):
            node = Node(NodeKind.OTHER)
        if self._recording:
            self.record(Fact("node", path, _node_digest(node), _node_value))
        return node

    def names(self, path: str) -> tuple[str, ...]:
        """Names in a folder, in the file system's order; empty if it is absent or no folder."""
        try:
            names = self.source.names(path)
        except (OSError, ValueError):
            names = ()
        if self._recording:
            self.record(Fact("names", path, "\0".join(sorted(names)), _names_value))
        return names

    def kind(self, path: str) -> NodeKind | None:
        """What stands at ``path``, links not followed, ``None`` if nothing does."""
        kind: NodeKind | None
        try:
            node = self.source.node(path, data=False)
            kind = node.kind if node else None
        except (OSError, ValueError):
            kind = NodeKind.OTHER
        if self._recording:
            self.record(Fact("kind", path, str(kind), _kind_value))
        return kind

    def current(self, path: str, *, follow: bool) -> Node | None:
        """What stands at ``path``; with ``follow`` a link to a file counts as that file."""
        if follow:
            reading = self.read(path)
            if reading.data is not None:
                return Node(NodeKind.FILE, reading.data, reading.mode)
        return self.node(path)

    def tree(self, path: str) -> Iterator[tuple[str, Node]]:
        """``path`` and all below it, folders before what they hold; links are not entered."""
        node = self.node(path)
        if node is None:
            return
        yield path, node
        if node.kind is NodeKind.DIR:
            for child in sorted(self.names(path)):
                yield from self.tree(join(path, child))

    def resolve(self, path: str) -> str | None:
        """``path`` with every link in it followed, ``None`` for a loop; need not exist.

        Not recorded: record the decision it led to with :meth:`ask`.
        """
        done, links = _root(path), 0
        todo = _parts(path)
        while todo:
            part = todo.pop(0)
            if part == "..":
                done = self.source.relative(_above(done))
                continue
            here = self.source.relative(join(done, part))
            try:
                node = self.source.node(here, data=False)
            except (OSError, ValueError):
                return None
            if node is None or node.kind is not NodeKind.LINK:
                done = here
                continue
            links += 1
            if links > MAX_LINKS:
                return None
            target = os.fsdecode(node.data)
            if target.startswith("/"):
                target = self.source.relative(target)
                done = _root(target)
            todo = _parts(target) + todo
        return done

    def _read(self, path: str) -> Reading:
        try:
            node, link = self.source.node(path, data=True), None
            if node is not None and node.kind is NodeKind.LINK:
                link = self.resolve(path)
                if link is None:
                    return Reading(None, reason="a link that leads in a circle")
                node = self.source.node(link, data=True)
                if node is None:
                    return Reading(None, reason="a link to nothing", link=link)
        except (OSError, ValueError) as problem:
            return Reading(None, reason=_reason(problem))
        if node is None:
            return Reading(None)
        if node.kind is NodeKind.DIR:
            return Reading(None, reason="a folder, not a file", link=link)
        if node.kind is not NodeKind.FILE:
            return Reading(None, reason="not a regular file", link=link)
        return Reading(node.data, node.mode, link=link)


class Snapshot:
    """A source read at most once per path: for labelling many records in one pass.

    ``answers`` holds what :meth:`View.shared` made. Never used for a commit.
    """

    def __init__(self, base: Source) -> None:
        self.base = base
        self._nodes: dict[tuple[str, bool], Node | OSError | ValueError | None] = {}
        self._names: dict[str, tuple[str, ...] | OSError | ValueError] = {}
        self._listings: dict[str, Listing] = {}
        self.answers: dict[str, object] = {}

    def relative(self, path: str) -> str:
        return self.base.relative(path)

    def node(self, path: str, *, data: bool) -> Node | None:
        key = (path, data)
        if key not in self._nodes:
            try:
                self._nodes[key] = self._look(path, data)
            except (OSError, ValueError) as problem:
                self._nodes[key] = problem
        found = self._nodes[key]
        if isinstance(found, Exception):
            raise found
        return found

    def _look(self, path: str, data: bool) -> Node | None:
        """``path`` looked at; a file that was seen already is opened without another look."""
        if data and isinstance(self.base, Disk):
            above, _, own = path.rpartition("/")
            listing = self._listings.get(above)
            if listing is not None and own in listing.files:
                return self.base.file(path)
            seen = self._nodes.get((path, False))
            if isinstance(seen, Node) and seen.kind is NodeKind.FILE:
                return self.base.file(path)
        return self.base.node(path, data=data)

    def names(self, path: str) -> tuple[str, ...]:
        if path not in self._names:
            try:
                if isinstance(self.base, Disk):
                    self._listings[path] = self.base.listing(path)
                    self._names[path] = self._listings[path].names
                else:
                    self._names[path] = self.base.names(path)
            except (OSError, ValueError) as problem:
                self._names[path] = problem
        found = self._names[path]
        if isinstance(found, Exception):
            raise found
        return found

    def listing(self, path: str) -> Listing | None:
        """A folder that was listed, if that told what is in it; ``None``: look at each."""
        return self._listings.get(path)


class Tree:
    """A home in memory. ``files`` maps paths to bytes (mode 0644) or nodes; folders are implied."""

    def __init__(self, files: Mapping[str, bytes | Node]) -> None:
        self._nodes: dict[str, Node] = {"": Node(NodeKind.DIR, mode=0o755)}
        for path, content in files.items():
            above = parent(path)
            missing = []
            while above not in self._nodes:
                missing.append(above)
                above = parent(above) if above != "/" else ""
            for folder in reversed(missing):
                self._nodes[folder] = Node(NodeKind.DIR, mode=0o755)
            if isinstance(content, bytes):
                content = Node(NodeKind.FILE, content, 0o644)
            self._nodes[path] = content

    def relative(self, path: str) -> str:
        return path

    def node(self, path: str, *, data: bool) -> Node | None:
        return self._nodes.get(path)

    def names(self, path: str) -> tuple[str, ...]:
        if path not in self._nodes:
            raise FileNotFoundError(path)
        return tuple(name(p) for p in self._nodes if name(p) and parent(p) == path)


def seal(facts: Iterable[Fact]) -> str:
    """One hash over everything a plan was based on."""
    digest = hashlib.sha256()
    for fact in facts:
        for part in (fact.kind, fact.key, fact.value):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def holds(fact: Fact, view: View) -> bool:
    """Whether ``fact`` is still true on ``view``."""
    return fact.resolve(view.quiet(), fact.key) == fact.value


def _file_value(view: View, key: str) -> str:
    return view.read(key).digest


def _node_value(view: View, key: str) -> str:
    return _node_digest(view.node(key))


def _names_value(view: View, key: str) -> str:
    return "\0".join(sorted(view.names(key)))


def _kind_value(view: View, key: str) -> str:
    return str(view.kind(key))


def _node_digest(node: Node | None) -> str:
    return f"{node.kind}:{node.mode:o}:{sha256(node.data)}" if node else ABSENT


def _above(path: str) -> str:
    """The folder above ``path``, also above the home itself: ``..``, ``../..``."""
    return join(path, "..") if not path or name(path) == ".." else parent(path)


def _root(path: str) -> str:
    return "/" if path.startswith("/") else ""


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part and part != "."]


def _reason(problem: OSError | ValueError) -> str:
    if isinstance(problem, ValueError):
        return "a path the system does not allow"
    return problem.strerror.lower() if problem.strerror else str(problem)
