"""FNV-1a, 64 bits: how vak names the folder of a workspace, and a note by its heading."""

from __future__ import annotations

_START, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def fnv1a(data: bytes) -> str:
    """The hash as 16 lower-case hex digits."""
    value = _START
    for byte in data:
        value = (value ^ byte) * _PRIME & _MASK
    return f"{value:016x}"


def workspace_hash(path: str) -> str:
    """The name of the folders of the workspace at ``path``, taken exactly as the agent holds it."""
    return fnv1a(path.encode("utf-8", "surrogateescape"))
