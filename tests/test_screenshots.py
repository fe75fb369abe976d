"""The pictures in the README show what the console shows now."""

from __future__ import annotations

from pathlib import Path

import pytest

from screenshots.make import FOLDER, PICTURES, take, texts

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_is_up_to_date(name: str) -> None:
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert texts(kept) == texts(await take(PICTURES[name])), "run `make screenshots`"


def test_the_readme_links_every_picture_and_no_other() -> None:
    text = README.read_text(encoding="utf-8")
    for name in PICTURES:
        assert f"screenshots/{name}.svg" in text
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_asks_nobody_for_anything(name: str) -> None:
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert "url(http" not in kept
    assert "@font-face" not in kept
