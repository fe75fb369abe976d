"""A terminal for tests: programs run in a pty, and what they write is timed, kept and drawn.

It draws what Textual writes and nothing else: an unknown sequence is kept in ``kinds`` and ignored.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len

import console

SIZE = (100, 30)
#: Seconds after which a wait is a failure, on a machine that has much else to do.
PATIENCE = 90.0
ROOT = Path(console.__file__).parents[1]
#: What the installed command runs.
SIGNOFF = "from console.cli.main import main; main()"
#: What a terminal answers to "do you draw frames whole?": their ends can be seen then.
ASKED, ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
FRAME_END = "\x1b[?2026l"
#: The shell opens the terminal, which makes it the controlling one of the new session.
OPEN = 'exec "$@" <"$0" >"$0" 2>"$0"'

#: One piece of output: a sequence, one control character, or text without any. What matches only
#: ``rest`` is the beginning of a sequence that a read cut.
TOKEN = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*(?![\[\]PX^_])[0-~]"
    r"|(?P<rest>\x1b.*)"
    r"|[\x00-\x1f\x7f-\x9f]"
    r"|[^\x00-\x1f\x7f-\x9f]+",
    re.DOTALL,
)
_CSI = re.compile(r"\x1b\[([<-?]*)([0-9;:]*)([ -/]*)([@-~])")
_STRINGS = ("\x1b]", "\x1bP", "\x1bX", "\x1b^", "\x1b_")


def kind_of(token: str) -> str:
    """What kind of sequence it is: its introducer, marks and final, numbers left out.

    A mode keeps its numbers, and an OSC its first: each of them is another power. Text is ``""``.
    """
    if found := _CSI.fullmatch(token):
        mark, numbers, between, final = found.groups()
        return f"CSI {mark}{numbers if final in 'hlp' else ''}{between}{final}"
    if token.startswith(_STRINGS):
        return f"{token[:2]!a} {token[2:].partition(';')[0]}"
    return ascii(token) if re.match(r"[\x00-\x1f\x7f-\x9f]", token) else ""


class Grid:
    """The screen as the program drew it, in cells."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.columns, self.rows = size
        self._lines = [[" "] * self.columns for _ in range(self.rows)]
        self._written = [False] * self.rows
        self._x = self._y = 0
        self._rest = ""
        self.kinds: set[str] = set()
        self.frames = 0

    @property
    def whole(self) -> bool:
        """Whether every row was drawn."""
        return all(self._written)

    @property
    def lines(self) -> list[str]:
        return ["".join(line).rstrip() for line in self._lines]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, data: str) -> None:
        """Draw what was written."""
        data, self._rest = self._rest + data, ""
        for found in TOKEN.finditer(data):
            if found.group("rest") is not None:
                self._rest = found.group()
            else:
                self._one(found.group())

    def _one(self, token: str) -> None:
        kind = kind_of(token)
        if not kind:
            self._write(token)
            return
        self.kinds.add(kind)
        if token == FRAME_END:
            self.frames += 1
        elif token == "\n":
            self._y = min(self.rows - 1, self._y + 1)
        elif token == "\r":
            self._x = 0
        elif kind == "CSI H":
            numbers = [int(n) if n else 1 for n in token[2:-1].split(";")]
            self._y, self._x = numbers[0] - 1, (numbers[1] if len(numbers) > 1 else 1) - 1

    def _write(self, text: str) -> None:
        if not 0 <= self._y < self.rows:
            return
        line = self._lines[self._y]
        self._written[self._y] = True
        if text.isascii():
            room = max(0, self.columns - self._x)
            line[self._x : self._x + len(text)] = text[:room]
            self._x += len(text)
            return
        for character in text:
            width = cell_len(character)
            if width == 0 and self._x:
                line[min(self._x, self.columns) - 1] += character
                continue
            if self._x < self.columns:
                line[self._x] = character
                if width == 2 and self._x + 1 < self.columns:
                    line[self._x + 1] = ""
            self._x += width


class Terminal:
    """A program in a pty. ``output`` is every byte it wrote; ``seen_at`` when the last came."""

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], size: tuple[int, int] = SIZE
    ) -> None:
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.output = b""
        self.grid = Grid(size)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        name = os.ttyname(slave)
        self.started = self.seen_at = time.perf_counter()
        self.process = subprocess.Popen(
            ["sh", "-c", OPEN, name, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=dict(env),
        )
        self.slave = slave
        self._open = [self.master, slave]

    # -- output ----------------------------------------------------------------------------

    def read(self, seconds: float) -> bool:
        """Take what comes within ``seconds``; whether anything came."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.seen_at = time.perf_counter()
        self.output += data
        if ASKED in data:
            os.write(self.master, ANSWER)
        self._draw(data)
        return True

    def _draw(self, data: bytes) -> None:
        self.grid.feed(self._decoder.decode(data))

    def wait(self, until: Callable[[Terminal], bool], seconds: float = PATIENCE) -> float:
        """Read until ``until`` holds; the time its last bytes came. Raises :class:`TimeoutError`."""
        end = time.perf_counter() + seconds
        while not until(self):
            left = end - time.perf_counter()
            ended = self.process.poll() is not None
            if not self.read(min(max(left, 0), 0.25)) and (ended or left <= 0):
                why = f"it ended ({self.process.poll()})" if ended else f"not within {seconds} s"
                raise TimeoutError(f"{why}; the screen:\n{self.grid.text}")
        return self.seen_at

    def see(self, words: str, seconds: float = PATIENCE) -> float:
        """Wait until ``words`` are on the screen."""
        return self.wait(lambda terminal: words in terminal.grid.text, seconds)

    def gone(self, words: str) -> float:
        """Wait until ``words`` are not on the screen. After an escape: with a key that follows at
        once it would be another key.
        """
        return self.wait(lambda terminal: words not in terminal.grid.text)

    def quiet(self, seconds: float = 0.3, most: float = 10.0) -> None:
        """Read until nothing came for ``seconds``."""
        end = time.perf_counter() + most
        while self.read(seconds) and time.perf_counter() < end:
            pass

    # -- input -----------------------------------------------------------------------------

    def press(self, keys: str) -> float:
        """Type ``keys``; the time they were typed."""
        at = time.perf_counter()
        os.write(self.master, keys.encode())
        return at

    # -- the end ---------------------------------------------------------------------------

    def leave(self) -> int:
        """Wait for the program's end, reading; its exit code."""
        end = time.perf_counter() + PATIENCE
        while self.process.poll() is None:
            if time.perf_counter() > end:
                raise TimeoutError(f"still running after {PATIENCE} s:\n{self.grid.text}")
            self.read(0.05)
        while self.read(0.05):
            pass
        return self.process.returncode

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        for number in self._open:
            os.close(number)
        self._open = []

    def close(self) -> None:
        """End the program, whatever it does, and close the terminal."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.hang_up()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a program sees: a terminal with colours, and ``folder`` for all that signoff keeps."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "SIGNOFF_STATE": str(folder / "state"),
        "SIGNOFF_SETTINGS": str(folder / "settings.toml"),
        "HERMES_MANAGED_DIR": str(folder / "managed"),
        **more,
    }


def signoff(folder: Path, home: Path, *words: str, **env: str) -> Terminal:
    """``signoff`` in a terminal, on ``home``."""
    command = [sys.executable, "-c", SIGNOFF, "--home", str(home), *words]
    return Terminal(command, environment(folder, **env))


def plain(folder: Path, home: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A plain command on ``home``, without a terminal."""
    command = [sys.executable, "-c", SIGNOFF, "--home", str(home), *words]
    return subprocess.run(
        command,
        env=environment(folder, **env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
