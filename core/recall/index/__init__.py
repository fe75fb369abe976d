"""An inverted index of messages in signoff's own state: fast, never the truth, always rebuildable.

It holds words and numbers, no text. Whoever searches reads the messages it names from the home and
drops what is gone. It needs the ``tantivy`` package; without it every answer is the same through
the home's own search, only slower.
"""

from core.recall.index.engine import Index
from core.recall.index.files import available
from core.recall.index.records import (
    Candidate,
    Candidates,
    Category,
    Document,
    IndexState,
    Status,
)

__all__ = [
    "Candidate",
    "Candidates",
    "Category",
    "Document",
    "Index",
    "IndexState",
    "Status",
    "available",
]
