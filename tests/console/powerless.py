"""The plain command line in a process that file permissions bind, also when the tests run as root."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console.plain import NOW, Answer

_POWERS = "--bounding-set=-dac_override,-dac_read_search,-fowner"


@functools.cache
def _bound() -> tuple[str, ...] | None:
    """The words before a command that take the superuser's powers away; ``None``: there are none.

    Nobody but the superuser needs any.
    """
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return None
    words = (setpriv, _POWERS)
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    return words if tried.returncode == 0 else None


def run(*words: str, home: Path | None = None, **env: str) -> Answer:
    """Run one command; the test is skipped where permissions cannot be made to bind."""
    bound = _bound()
    if bound is None:
        pytest.skip("the superuser's powers cannot be taken away here")
    named = ["--home", str(home)] if home else []
    done = subprocess.run(
        [*bound, sys.executable, "-m", "console", *named, "--now", NOW.isoformat(), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env},
        cwd=Path(__file__).parents[2],
    )
    return Answer(done.returncode, done.stdout, done.stderr)
