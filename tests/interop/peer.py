"""The near end of the pipe to the real agent: one long-lived process, JSON lines both ways."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.model import Node, NodeKind

#: Names the python of an environment that holds hermes-agent 0.19.0.
VARIABLE = "SIGNOFF_PEER"
DRIVER = Path(__file__).with_name("peer_driver.py")


class PeerError(Exception):
    """The driver itself failed (not the agent): its traceback."""


class Peer:
    """The real agent in its own python. ``folder`` holds its home, its log and the cases' homes.

    ``call(function, **arguments)`` runs one function of ``driver`` and gives its JSON back;
    text may hold lone surrogates. Raises :class:`PeerError` when the driver raises or dies.
    """

    def __init__(self, python: str, folder: Path, driver: Path = DRIVER) -> None:
        for name in ("user", "home", "cases"):
            (folder / name).mkdir(parents=True)
        self._log = (folder / "peer.log").open("wb")
        keep = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "LC_ALL", "TMPDIR"}}
        self._process = subprocess.Popen(
            [python, "-I", str(driver), str(folder / "cases")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=folder,
            env=keep
            | {
                "HOME": str(folder / "user"),
                "HERMES_HOME": str(folder / "home"),
                "HERMES_MANAGED_DIR": str(folder / "managed"),
                "PYTHONHASHSEED": "0",
            },
        )

    def call(self, function: str, **arguments: Any) -> Any:
        """Run ``function`` of the driver with ``arguments``; what it returns, as JSON reads it."""
        send, receive = self._process.stdin, self._process.stdout
        assert send is not None
        assert receive is not None
        send.write(json.dumps({"function": function, "arguments": arguments}).encode() + b"\n")
        send.flush()
        try:
            line = receive.readline()
        except BaseException:
            # A test whose time is over must not leave its answer to the next.
            self._process.kill()
            raise
        if not line:
            raise PeerError(f"the peer died; see {self._log.name}")
        answer = json.loads(line)
        if "failed" in answer:
            raise PeerError(answer["failed"])
        return answer["value"]

    def close(self) -> None:
        """End the process and wait for it."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._process.wait(timeout=20)
        self._log.close()


def pack(tree: Mapping[str, Node]) -> list[list[Any]]:
    """A tree as the driver takes it: rows of path, kind, mode, base64 of the bytes."""
    return [
        [path, str(node.kind), node.mode, base64.b64encode(node.data).decode()]
        for path, node in tree.items()
    ]


def unpack(rows: list[list[Any]]) -> dict[str, Node]:
    """The driver's rows as nodes, in the order the agent's file system lists them."""
    return {
        path: Node(NodeKind(kind), base64.b64decode(data), mode) for path, kind, mode, data in rows
    }
