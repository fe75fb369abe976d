"""A process that feeds an index, to be killed, starved or raced by a test.

``python -m tests.core.recall.feeder FOLDER COUNT EVERY [LARGEST]``: COUNT messages, a commit every
EVERY, no file larger than LARGEST bytes. Prints how many are in, then a line of JSON: what ``feed``
said, the state, the ids for ``deploy``.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from core.conversations import Order
from core.recall.index import Index, building, engine
from tests.core.recall.indexes import CATEGORIES, documents
from tests.core.recall.strategies import asked


def main(folder: str, count: str, every: str, largest: str = "") -> None:
    """Feed, and say what came of it."""
    messages = documents(int(count))
    building.COMMIT_MESSAGES = int(every)
    engine._PROGRESS = 100
    if largest:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest), resource.RLIM_INFINITY))
    index = Index(Path(folder))
    fed = index.feed(
        "one",
        lambda known: (message for message in messages if message.id > known),
        total=len(messages),
        # As wide as the pipe that a test reads: nothing is done far ahead of its reader.
        progress=lambda done: print(f"{done:<4000}", flush=True),
        cancelled=lambda: False,
    )
    state = index.state()
    found = index.search(asked("deploy"), CATEGORIES, len(messages), Order.OLDEST)
    answer = {
        "fed": fed,
        "status": state.status.value,
        "through": state.through_id,
        "problem": state.problem,
        "ids": [hit.id for hit in found.hits] if found else None,
    }
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
