"""What is shipped works: the wheel is built, installed in a fresh environment, and used there."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MEGABYTE = 1_000_000
LARGEST = 3 * MEGABYTE
#: Everything a build reads; the rest of the working tree stays out of it.
SOURCES = ("core", "console", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE")


def run(*words: str | Path, cwd: Path) -> str:
    """A command whose own folders are all in ``cwd``, without this environment's paths."""
    clean = {key: os.environ[key] for key in ("PATH", "TMPDIR", "LANG") if key in os.environ}
    return _run(words, cwd, clean | {"HOME": str(cwd), "SIGNOFF_STATE": str(cwd / "state")})


def _run(words: Sequence[str | Path], cwd: Path, environ: Mapping[str, str]) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=dict(environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy, with the hatchling at hand or a fetched one."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            skip = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, ignore=skip)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
    build: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        source,
        "--no-deps",
        "--wheel-dir",
        out,
    ]
    if importlib.util.find_spec("hatchling"):
        build.append("--no-build-isolation")
    # The whole environment: it says where pip finds packages.
    _run([*build, "--quiet", "--disable-pip-version-check"], out, os.environ)
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; its dependencies are lent by this one."""
    folder = tmp_path_factory.mktemp("venv") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    target = ("--target", str(site), "--no-deps", "--no-index", "--quiet", "--no-compile")
    run(sys.executable, "-m", "pip", "install", *target, wheel, cwd=folder)
    (site / "lent.pth").write_text(_lent(folder.parent) + "\n")
    return folder / "bin" / "python"


def _lent(folder: Path) -> str:
    """This environment's packages without signoff itself, as a folder of links."""
    lent = folder / "lent"
    lent.mkdir()
    for item in Path(sysconfig.get_path("purelib")).iterdir():
        if "signoff" not in item.name and item.suffix != ".pth":
            (lent / item.name).symlink_to(item)
    return str(lent)


def test_it_is_small_and_complete(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (points,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
        assert "signoff = console.cli.main:main" in packed.read(points).decode()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"core", "console"}
    for name in ("console/sample/ages.json", "console/sample/home/config.yaml", "console/app.tcss"):
        if (ROOT / name).exists():
            assert name in names
    assert "console/sample/home/skills/.usage.json" in names


def test_it_runs_anywhere(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "sample"
    signoff = (installed, "-m", "console")
    where = run(installed, "-c", "import core, console; print(core.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent.parent)
    run(*signoff, "demo", "--into", home, cwd=tmp_path)
    found = json.loads(run(*signoff, "--home", home, "pending", "--json", cwd=tmp_path))
    assert len(found["proposals"]) == 24
    done = run(*signoff, "--home", home, "approve", "3f8a1c20", "--json", cwd=tmp_path)
    assert json.loads(done)["results"][0]["ok"]
