"""``learn``: the note a text becomes, and what is answered (specs, memory-rag 4)."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import datetime

from core.errors import UsageError
from core.homes.rag.nodes import (
    ACTIVE,
    SHORT,
    Layer,
    Node,
    collection_of,
    learnt,
    node_id,
    scrubbed,
    stamp,
)

KIND = "learning"


@dataclass(frozen=True, slots=True)
class Learnt:
    """What ``learn`` did.

    ``was``: the status of a note that was there already (then nothing changed). ``replaced``: the
    note it took the place of, ``unmatched`` says why there was none. ``archived``: how many of the
    oldest were put away. ``staged`` notes wait; from ``threshold`` on a merge is due.
    """

    id: str
    project: str
    was: str | None = None
    replaced: str = ""
    unmatched: str = ""
    archived: tuple[str, ...] = ()
    staged: int = 0
    threshold: int = 0

    @property
    def due(self) -> bool:
        """Whether a merge is due."""
        return self.staged >= self.threshold > 0

    @property
    def text(self) -> str:
        """The answer in one line: the id, then what else there is to know."""
        parts = [self.id]
        if self.was is not None and self.was != ACTIVE:
            parts.append(f"there already, {self.was}; reactivate {self.id[:SHORT]} brings it back")
        if self.replaced:
            parts.append(f"replaced {self.replaced[:SHORT]}")
        if self.unmatched:
            parts.append(f"supersedes matched no single note ({self.unmatched})")
        if self.archived:
            parts.append(f"{len(self.archived)} oldest archived")
        if self.due and self.was is None:
            parts.append(
                f"CONSOLIDATION DUE: staging at {self.staged} >= {self.threshold},"
                f" run signoff knowledge merge --project {shlex.quote(self.project)}"
            )
        return " || ".join(parts)


def note_of(text: str, project: str, kind: str, now: datetime, client: str = "") -> Node:
    """The note that ``text`` becomes; ``client`` is the program that learnt it, if one did.

    Its name is signoff's own field beside those of the original, which leaves it alone. Raises
    :class:`UsageError` for a blank text.
    """
    document = learnt(text)
    if not document:
        raise UsageError("There is nothing to learn in a blank text", "Give a sentence")
    metadata = {
        "status": ACTIVE,
        "source": "learn",
        "created": stamp(now),
        "layer": str(Layer.MEMORY),
        "path": str(Layer.MEMORY),
        "kind": scrubbed(kind).strip() or KIND,
    }
    if client:
        metadata["client"] = scrubbed(client)
    return Node(collection_of(project, Layer.MEMORY), node_id("mem", document), document, metadata)
