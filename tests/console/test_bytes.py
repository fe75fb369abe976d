"""What the console writes to the terminal: its own kinds of sequences, whatever a home holds.

The hostile home (case numbers in ``tests/data/hostile/README.md``) and the sample are walked
through in a terminal, row by row and screen by screen; every byte is parsed.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from console.sample import write_sample
from tests.console.terminal import TOKEN, Terminal, kind_of, plain, signoff

DATA = Path(__file__).parents[1] / "data"
#: C1, bidi, zero-width and filler, line and paragraph separators, tags, and halves of surrogates.
FORBIDDEN = re.compile(
    "[\x80-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
#: Joiners are real writing between emoji, and in and after Persian (D-05, D-M0); nowhere else.
LONE_JOINER = re.compile(
    "[\u200c\u200d](?<![\u0600-\u06ff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff].)"
)
#: Titles, links, the clipboard: powers over the terminal that no drawing needs.
POWERS = re.compile(r"'\\x1b\]' (0|1|2|8|52)$")
PAGE, ESC = "\x1b[6~", "\x1b"
#: How what hides is drawn instead: an escape, a NUL, a right-to-left override.
SYMBOLS = ("␛", "␀", "⟨U+202E⟩")
NOTE = "[@click=app.quit]note[/] \x1b]0;title\x07 [red]x \u202eabc"


def hostile(folder: Path) -> Path:
    return Path(shutil.copytree(DATA / "hostile", folder / "home", symlinks=True))


def harmless(folder: Path) -> Path:
    """The sample with some of its records: as many as it takes to see every kind of row."""
    home = write_sample(folder / "home", datetime.now(UTC))
    for number, path in enumerate(sorted(home.glob("pending/*/*.json"))):
        if number % 3:
            path.unlink()
    return home


def press(terminal: Terminal, keys: str) -> None:
    terminal.press(keys)
    # After a lone escape the program waits whether a sequence follows.
    terminal.quiet(0.25 if keys.endswith(ESC) else 0.08, 2.0)


def rows_of(terminal: Terminal) -> int:
    found = re.search(r"Queue \((\d+)\)", terminal.grid.text)
    assert found, terminal.grid.text
    return int(found[1])


def walk(terminal: Terminal) -> None:
    """Every row with its preview to its end, every screen, help, palette and note."""
    terminal.see("Queue (")
    terminal.wait(lambda there: "judging" not in there.grid.text)
    for _ in range(rows_of(terminal)):
        terminal.quiet(0.1, 2.0)
        terminal.press("\tz" + PAGE)
        terminal.quiet(0.04, 1.0)
        press(terminal, "G")
        terminal.press("\tj")
    press(terminal, "g")
    press(terminal, "s")
    for mode in "34":
        press(terminal, mode)
        press(terminal, "jjj")
        press(terminal, "jjjj")
        press(terminal, "oG")
        press(terminal, ESC)
    press(terminal, "1")
    press(terminal, "?")
    terminal.see("Everywhere")
    press(terminal, ESC)
    terminal.gone("Everywhere")
    press(terminal, "\x10")
    press(terminal, "undo")
    press(terminal, ESC)
    press(terminal, "\x14")
    press(terminal, "*")
    press(terminal, ESC)
    press(terminal, "R")
    # Pasted, as a terminal hands over what was copied elsewhere.
    press(terminal, f"\x1b[200~{NOTE}\x1b[201~")
    press(terminal, ESC)


def decide(folder: Path, home: Path) -> None:
    """Some decisions with a note, for the journal."""
    names = sorted(path.stem for path in home.glob("pending/*/*.json"))
    plain(folder, home, "reject", "--note", NOTE, "--", *names[:2], *names[-2:])
    plain(folder, home, "approve", "--all")


def captured(folder: Path, home: Path) -> Terminal:
    """A console that was walked through and left."""
    decide(folder, home)
    with signoff(folder, home) as terminal:
        walk(terminal)
        # Together with the escape before it this key would be another.
        terminal.quiet(1.0)
        terminal.press("q")
        assert terminal.leave() == 0
    assert b"Something went wrong" not in terminal.output, terminal.grid.text
    return terminal


def test_a_hostile_home_adds_nothing_to_what_is_written(tmp_path: Path) -> None:
    for name in ("usual", "hostile"):
        (tmp_path / name).mkdir()
    usual = captured(tmp_path / "usual", harmless(tmp_path / "usual")).grid.kinds
    terminal = captured(tmp_path / "hostile", hostile(tmp_path / "hostile"))
    assert {"CSI H", "CSI m", "CSI ?1049h", "CSI ?1049l"} <= usual
    assert [kind for kind in usual if POWERS.search(kind)] == []
    assert terminal.grid.kinds - usual == set()
    shown = shown_by(terminal)
    assert len(shown) > 200_000
    assert len(set(re.findall(r"[de]00000[0-9a-f]{2}", shown))) > 25
    assert sorted(set(FORBIDDEN.findall(shown))) == []
    assert LONE_JOINER.search(shown) is None
    for symbol in SYMBOLS:
        assert symbol in shown, symbol


def shown_by(terminal: Terminal) -> str:
    """All text that was drawn, without the sequences between."""
    tokens = (found.group() for found in TOKEN.finditer(terminal.output.decode("utf-8")))
    return "".join(token for token in tokens if not kind_of(token))


# -- copying ---------------------------------------------------------------------------------


def copies(terminal: Terminal) -> list[str]:
    """The texts sent to the clipboard."""
    return [
        base64.b64decode(found).decode("utf-8", "surrogatepass")
        for found in re.findall(rb"\x1b\]52;c;([^\x07\x1b]*)\x07", terminal.output)
    ]


def texts(home: Path) -> Iterator[str]:
    """Every text a record of ``home`` wants to store, and its summary where it has none."""
    for path in home.glob("pending/*/*.json"):
        try:
            record = json.loads(path.read_bytes())
            payload = record["payload"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        yield str(record.get("summary"))
        if isinstance(payload, dict):
            yield from (value for value in payload.values() if isinstance(value, str))


def test_only_y_sends_to_the_clipboard_and_it_sends_what_is_stored(tmp_path: Path) -> None:
    home = hostile(tmp_path)
    stored = set(texts(home))
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (")
        terminal.wait(lambda there: "judging" not in there.grid.text)
        for _ in range(10):
            terminal.quiet(0.2, 3.0)
            assert copies(terminal) == []
            terminal.press("j")
        for asked in range(1, 9):
            terminal.quiet(0.2, 3.0)
            terminal.press("y")
            terminal.quiet(0.1)
            assert len(copies(terminal)) <= asked
            terminal.press("j")
        terminal.wait(lambda there: len(copies(there)) >= 5)
        assert [text for text in copies(terminal) if text not in stored] == []
        assert any("\x1b" in text or "\u202e" in text or "\u200b" in text for text in stored)
