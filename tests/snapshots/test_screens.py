"""Every screen and state as it looks. Each docstring says what has to be seen in the picture.

Update with ``pytest tests/snapshots --snapshot-update`` after looking at ``snapshot_report.html``.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from console.app import SignoffApp
from core.journal import Journal, State
from tests.console.pilots import JOURNAL_MODE, MEMORY_MODE, Console
from tests.console.plain import DATA
from tests.snapshots.conftest import LARGE, MIDDLE, SMALL, Shoot

READY = "b71d90e4"
ATTENTION = "c31e9f60"
STALE = "81e5a2cc"
INJECTION = "e6f3075b"
HIDDEN = "947acd31"

every_size = pytest.mark.parametrize(
    "size", [SMALL, MIDDLE, LARGE], ids=["small", "middle", "large"]
)
two_sizes = pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["small", "middle"])
Size = tuple[int, int]


def nothing_waits(home: Path) -> None:
    for path in home.glob("pending/*/*.json"):
        path.unlink()


# -- review --------------------------------------------------------------------------------


@every_size
def test_review_ready(shoot: Shoot, size: Size) -> None:
    """The queue; where there is room beside it an added entry in green, the budget, ``ready``."""
    assert shoot(f"@{READY}", size=size)


@pytest.mark.parametrize("size", [MIDDLE, LARGE], ids=["middle", "large"])
def test_review_attention(shoot: Shoot, size: Size) -> None:
    """A patch that only guessed its place says so; changed words underlined; large: two sides."""
    assert shoot(f"@{ATTENTION}", size=size)


def test_review_inside_when_narrow(shoot: Shoot) -> None:
    """Only the preview, its frame in the accent colour."""
    assert shoot(f"@{ATTENTION}", "enter", size=SMALL)


def test_review_unfolded(shoot: Shoot) -> None:
    """The whole file, no line left out."""
    assert shoot(f"@{ATTENTION}", "z")


def test_review_stale(shoot: Shoot) -> None:
    """What it looks for and what it proposes; ``approve`` greyed."""
    assert shoot(f"@{STALE}", "a")


def test_review_refused_for_an_injection(shoot: Shoot) -> None:
    """Why it is refused, and the whole proposed text."""
    assert shoot(f"@{INJECTION}")


def test_review_refused_for_hidden_characters(shoot: Shoot) -> None:
    """The hidden characters are named where they stand."""
    assert shoot(f"@{HIDDEN}")


def test_review_marked(shoot: Shoot) -> None:
    """Two rows with a dot and a tinted ground; ``2 marked`` below the list."""
    assert shoot("@f4830ba6", "space", "j", "space")


def test_review_decided(shoot: Shoot) -> None:
    """The row is gone, the next is shown, the last line says what was done and what takes it back."""
    assert shoot(f"@{READY}", "a")


def test_review_failed(shoot: Shoot, home: Path) -> None:
    """The row is back with ``failed`` and its reason, in red below as well."""

    def meanwhile(_console: Console) -> None:
        user = home / "memories/USER.md"
        user.write_text(user.read_text() + "\n§\nA fact of the agent's own.")

    assert shoot(f"@{READY}", meanwhile, "a")


def test_review_gone(shoot: Shoot, home: Path) -> None:
    """The row says it was decided elsewhere and how it leaves; both keys greyed."""

    def elsewhere(_console: Console) -> None:
        (home / f"pending/memory/{READY}.json").unlink()

    assert shoot(f"@{READY}", elsewhere, Console.reload)


def test_review_new_rows(shoot: Shoot, home: Path) -> None:
    """``3 new`` below the list, nothing moved."""

    def arrive(_console: Console) -> None:
        old = json.loads((home / f"pending/memory/{READY}.json").read_text())
        for number in range(3):
            new = old | {"id": f"ffff000{number}", "created_at": old["created_at"] + 3000 + number}
            (home / f"pending/memory/ffff000{number}.json").write_text(json.dumps(new))

    assert shoot("j", arrive, Console.reload)


def test_review_unreadable_record(shoot: Shoot) -> None:
    """What is wrong with the record, and that it can only be refused."""
    assert shoot("G")


@two_sizes
def test_review_empty(shoot: Shoot, home: Path, size: Size) -> None:
    """One sentence on what will appear here."""
    nothing_waits(home)
    assert shoot(size=size)


@two_sizes
def test_review_gate_off(shoot: Shoot, home: Path, size: Size) -> None:
    """A line under the header: the agent writes without asking, and the command that mends it."""
    config = home / "config.yaml"
    config.write_text(config.read_text().replace("write_approval: true", "write_approval: false"))
    assert shoot(size=size)


def test_review_unreadable_folder(shoot: Shoot, home: Path) -> None:
    """A line under the header: what waits in that folder is unknown."""
    shutil.rmtree(home / "pending/memory")
    (home / "pending/memory").write_text("")
    assert shoot()


def test_review_loading(shoot: Shoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty list beside ``Reading the home…``; nothing jumps when it comes."""
    monkeypatch.setattr(SignoffApp, "start_job", lambda *_args: None)
    assert shoot()


def test_too_small(shoot: Shoot) -> None:
    """The size that is needed, and nothing else."""
    assert shoot(size=(38, 9))


# -- sheets and dialogs --------------------------------------------------------------------


@two_sizes
def test_help(shoot: Shoot, size: Size) -> None:
    """Keys in one column, or in two where there is room."""
    assert shoot("question_mark", size=size)


@two_sizes
def test_palette(shoot: Shoot, size: Size) -> None:
    """Actions with their keys, what they do below each."""
    assert shoot("ctrl+p", size=size)


def test_note(shoot: Shoot) -> None:
    """What is refused, a line to write in, what enter and escape do."""
    assert shoot(f"@{READY}", "R", *"wrong host")


def test_problem(shoot: Shoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in words, where the log is, how to go on."""

    def fail(console: Console) -> None:
        monkeypatch.setattr("console.problems.log.error", lambda *_args, **_more: None)
        console.app.show_problem(KeyError("place"))

    assert shoot(fail)


# -- memory --------------------------------------------------------------------------------


@every_size
def test_memory(shoot: Shoot, size: Size) -> None:
    """Entries of both files; where there is room one whole, with the budget of its file."""
    assert shoot(MEMORY_MODE, "j", "j", "j", size=size)


def test_memory_drift(shoot: Shoot, home: Path) -> None:
    """That the agent refuses to edit the file, and why."""
    memory = home / "memories/MEMORY.md"
    memory.write_text(memory.read_text() + "\n§\n" + "A long story. " * 180)
    assert shoot(MEMORY_MODE)


def test_memory_unreadable(shoot: Shoot, home: Path) -> None:
    """Why the file cannot be read; it is not shown as empty."""
    (home / "memories/USER.md").write_bytes(b"caf\xe9")
    assert shoot(MEMORY_MODE, "G")


# -- journal -------------------------------------------------------------------------------


@every_size
def test_journal(shoot: Shoot, size: Size) -> None:
    """Newest first: an undo, what it took back, an approval; one of them whole."""
    assert shoot(
        f"@{ATTENTION}", "a", "a", f"@{READY}", "a", "u", JOURNAL_MODE, "j", "j", size=size
    )


def test_journal_empty(shoot: Shoot) -> None:
    """One sentence on what will appear here."""
    assert shoot(JOURNAL_MODE, size=SMALL)


def test_journal_torn(shoot: Shoot) -> None:
    """The torn entry first; a line under the header says what tells more."""

    def tear(console: Console) -> None:
        message = "interrupted, and changed since by someone else: memories/USER.md"
        Journal(console.state).close(1, State.TORN, "torn", message)

    assert shoot(f"@{READY}", "a", "@1a6fd3b8", "a", tear, "f5", JOURNAL_MODE, "g")


# -- themes --------------------------------------------------------------------------------


def test_light_review(shoot: Shoot) -> None:
    """Dark text on a pale ground, additions and removals tinted."""
    assert shoot(f"@{ATTENTION}", theme="light")


def test_light_memory(shoot: Shoot) -> None:
    """The row at the cursor stands out without hiding its text."""
    assert shoot(MEMORY_MODE, theme="light")


def test_contrast_review(shoot: Shoot) -> None:
    """White on black, frames in yellow."""
    assert shoot(f"@{ATTENTION}", theme="contrast")


def test_contrast_journal(shoot: Shoot) -> None:
    """Signs and words beside every colour."""
    assert shoot(f"@{READY}", "a", JOURNAL_MODE, theme="contrast")


def test_no_color(shoot: Shoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only greys; signs say what is added and removed."""
    monkeypatch.setenv("NO_COLOR", "1")
    assert shoot(f"@{ATTENTION}", size=LARGE)


# -- hostile -------------------------------------------------------------------------------


@pytest.fixture
def hostile(home: Path) -> Path:
    """tests/data/hostile, with the modes the agent gives its files."""
    shutil.rmtree(home)
    shutil.copytree(DATA / "hostile", home, symlinks=True)
    for path in [home, *home.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)
    return home


@two_sizes
def test_hostile_review(shoot: Shoot, hostile: Path, size: Size) -> None:
    """Escapes and hidden characters as visible signs, markup as plain text, the danger named."""
    assert shoot(size=size, home=hostile)


def test_hostile_memory(shoot: Shoot, hostile: Path) -> None:
    """The entry the agent hides from itself is marked; nothing is obeyed."""
    assert shoot(MEMORY_MODE, *"jjjjj", home=hostile)
