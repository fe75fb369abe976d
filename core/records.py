"""Rows of a database as nodes of a home: planned, sealed, journalled and undone like files.

A home whose content lies in a database (a note store) has paths like
``notes.sqlite3/collection/id``: the file, then what names the row. Everything above reads and
writes them as it does files; only :class:`core.files.Writer` hands them over to the database.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from core.model import Node
from core.view import Disk


class Records(Protocol):
    """The rows of one database, each of them a file node with a fixed mode."""

    def holds(self, path: str) -> bool:
        """Whether ``path`` names a row here, present or not."""

    def node(self, path: str) -> Node | None:
        """The row at ``path`` as a file, ``None`` if absent. Raises ``OSError``."""

    def put(self, path: str, before: Node | None, after: Node | None) -> None:
        """Make the row ``after`` in one transaction, if it is still ``before``.

        Raises ``OSError``, also when it is not.
        """


class Mounted(Disk):
    """A home's folder together with the rows of its database."""

    def __init__(self, root: Path, records: Records) -> None:
        super().__init__(root)
        self._records = records

    def node(self, path: str, *, data: bool) -> Node | None:
        if self._records.holds(path):
            return self._records.node(path)
        return super().node(path, data=data)
