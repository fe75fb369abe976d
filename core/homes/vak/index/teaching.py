"""What the index knows of ledgers for lists, so that nobody reads all of them for a list."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from core.homes.vak.index.catalogue import Catalogue, identity_of, reading
from core.homes.vak.listing import LedgerFile
from core.homes.vak.summaries import Reader


def teach(reader: Reader, known: Catalogue, files: Iterable[LedgerFile]) -> None:
    """Let ``reader`` know the summaries of ledgers, of those that are indexed as they are."""
    wanted = {file.file: file for file in files if not reader.knows(file)}
    reader.know(
        (wanted[name], summary)
        for name, (identity, summary) in known.summaries(wanted).items()
        if identity_of(wanted[name]) == identity
    )


def teach_all(reader: Reader, folder: Path, files: Iterable[LedgerFile]) -> None:
    """The same from the index in ``folder``; where it cannot be used, nothing is taught."""
    try:
        with reading(folder) as known:
            if known is not None:
                teach(reader, known, files)
    except sqlite3.Error:
        return
