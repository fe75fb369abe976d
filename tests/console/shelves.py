"""The knowledge mode in tests: the sample's store beside an empty home, and ways to its notes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

from console.render.knowledge import KnowledgeItem
from console.sample.empty import write_empty
from console.sample.knowledge import write_store
from core.homes.rag.nodes import Layer, Node, collection_of, node_id
from core.homes.rag.own import OwnStore
from tests.console.pilots import KNOWLEDGE_MODE, NOW, Console, open_console

TOLD = json.loads((resources.files("console.sample") / "knowledge.json").read_text("utf-8"))
#: The ids of the sample's notes by their key, and their texts.
TEXTS = {each["key"]: each["text"] for each in TOLD["notes"]}
IDS = {key: node_id("mem", text) for key, text in TEXTS.items()}


def home_in(folder: Path) -> Path:
    """An empty home in ``folder``, without a store beside it."""
    return write_empty(folder / ".hermes")


def with_store(folder: Path) -> Path:
    """An empty home in ``folder``, the sample's note store beside it."""
    write_store(folder, NOW)
    return home_in(folder)


def store_in(home: Path) -> OwnStore:
    """The store beside a home."""
    return OwnStore(home.parent / "hermes-rag", lambda: NOW)


def stored(home: Path, key: str, project: str = "tallyport") -> Node:
    """A note of the sample as it stands in the store."""
    node = store_in(home).get(collection_of(project, Layer.MEMORY), IDS[key])
    assert node is not None
    return node


@asynccontextmanager
async def knowledge_on(
    home: Path, project: str = "", *, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Console]:
    """The console in the knowledge mode, inside ``project`` if one is named."""
    async with open_console(home, size=size) as console:
        await console.press(KNOWLEDGE_MODE)
        if project:
            assert console.knowledge.rows.move_to(project)
            await console.press("enter")
        yield console


async def on(console: Console, key: str) -> KnowledgeItem:
    """Put the cursor on a note of the sample; its row."""
    rows = console.knowledge.rows
    (item,) = (item for item in rows.items if item.id == IDS[key])
    assert rows.move_to(item.key)
    await console.settle()
    assert isinstance(item, KnowledgeItem)
    return item


def shown(console: Console) -> list[str]:
    """The notes that are listed by the sample's keys, others by their text."""
    names = {name: key for key, name in IDS.items()}
    return [names.get(item.id, item.text) for item in console.knowledge.rows.items]


def title(console: Console) -> str:
    """What stands over the list, without its styles."""
    return str(console.knowledge.query_one("#shelf").border_title)


def below(console: Console) -> str:
    """What stands under the list."""
    return str(console.knowledge.query_one("#shelf").border_subtitle)
