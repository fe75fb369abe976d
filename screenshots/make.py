"""The pictures of the README, taken from the sample home without a terminal.

``python -m screenshots.make`` writes ``screenshots/*.svg``, and ``*.png`` where resvg-py is
installed. The clock, the home and the person are fixed, so the same code makes the same pictures.
"""

from __future__ import annotations

import asyncio
import html
import importlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from console.sample.knowledge import write_store
from tests.console.pilots import NOW, open_console, sample

FOLDER = Path(__file__).parent
ACTOR = {"user": "sam", "terminal": "pts/1", "parent": "42 zsh"}
#: A font of the machine that draws frames, arrows and check marks, for the PNGs.
FONT = "DejaVu Sans Mono"


@dataclass(frozen=True)
class Picture:
    """One picture: the terminal's size in cells, and what is pressed; ``@id`` goes to a record."""

    size: tuple[int, int]
    steps: tuple[str, ...]


PICTURES: Mapping[str, Picture] = {
    "review": Picture((120, 32), ("@c31e9f60",)),
    "review-wide": Picture((180, 40), ("@0fd28b6e", "s")),
    "sessions": Picture((140, 36), ("2", "j", "j")),
    "skills": Picture((140, 36), ("3", "j", "j")),
    "memory": Picture((120, 32), ("4", "j", "j", "j")),
    "journal": Picture((120, 32), ("@c31e9f60", "a", "a", "@b71d90e4", "a", "u", "5", "j", "j")),
    "knowledge": Picture((120, 28), ("6", "j", "enter")),
    "help": Picture((120, 36), ("question_mark",)),
}


async def take(picture: Picture) -> str:
    """The SVG of one picture."""
    with _somewhere() as home:
        async with open_console(home, size=picture.size) as console:
            for step in picture.steps:
                if step.startswith("@"):
                    await console.at(step[1:])
                else:
                    await console.press(step)
            svg = console.app.export_screenshot(title="signoff")
    # The picture asks nobody on the network for a font.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S).replace("\r\n", "\n")


@contextmanager
def _somewhere() -> Iterator[Path]:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, {"HOME": folder}),
        patch("core.journal.actor", lambda: ACTOR),
    ):
        os.environ.pop("NO_COLOR", None)
        write_store(Path(folder), NOW)
        yield sample(Path(folder))


def texts(svg: str) -> list[str]:
    """What stands in a picture, without places, colours and ids."""
    found = re.findall(r"<text[^>]*>(.*?)</text>", svg, re.S)
    return [html.unescape(text).replace("\xa0", " ").strip() for text in found]


def main() -> int:
    """Write every picture; the exit code."""
    try:
        resvg = importlib.import_module("resvg_py")
    except ImportError:
        resvg = None
    for name, picture in PICTURES.items():
        svg = asyncio.run(take(picture))
        path = FOLDER / f"{name}.svg"
        path.write_text(svg, encoding="utf-8", newline="\n")
        if resvg is not None:
            drawn = resvg.svg_to_bytes(svg_string=svg.replace("Fira Code", FONT))
            path.with_suffix(".png").write_bytes(bytes(drawn))
        print(path.relative_to(FOLDER.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
