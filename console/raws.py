"""The words around what stands in a record that is no proposal, in the console and in ``show``."""

from __future__ import annotations

from core.desk.raw import Raw
from core.model import NodeKind


def raw_words(found: Raw) -> tuple[str, str]:
    """A heading for ``found.text`` (``""``: there is nothing to show) and what of it is missing."""
    if found.trouble or found.kind is None or found.kind is NodeKind.OTHER:
        return "", f"nothing of it can be shown: {found.trouble}" if found.trouble else ""
    if found.kind is NodeKind.FILE:
        heading = "As it stands in the file" if found.text else "The file is empty"
        return heading, f"{found.left:,} more bytes" if found.left else ""
    if found.kind is NodeKind.LINK:
        return "The link leads to", ""
    heading = "In the folder" if found.text else "The folder is empty"
    return heading, "more names" if found.left else ""
