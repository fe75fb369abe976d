"""Values used lately, up to a number of them."""

from __future__ import annotations

from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Recent(Generic[KeyT, ValueT]):
    """A store of ``limit`` values; the one not used for longest gives way.

    Unlike ``textual.cache.LRUCache`` (8.2.8), putting a value under a known key replaces it.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: dict[KeyT, ValueT] = {}

    def get(self, key: KeyT) -> ValueT | None:
        """The value under ``key``, from now on the newest."""
        if key not in self._values:
            return None
        value = self._values[key] = self._values.pop(key)
        return value

    def put(self, key: KeyT, value: ValueT) -> None:
        """Keep ``value`` under ``key`` as the newest."""
        self._values.pop(key, None)
        self._values[key] = value
        if len(self._values) > self._limit:
            del self._values[next(iter(self._values))]

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
