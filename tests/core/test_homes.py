"""Which home opens: kinds by their signs, the order of names, profiles of a Hermes home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.errors import NoHomeError, NotFoundError, UsageError
from core.homes.base import Discovery, Kind, detect, discover


def _make(folder: Path, *paths: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        if path.endswith("/"):
            (folder / path).mkdir(parents=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("")
    return folder


def _find(
    user: Path,
    home: Path | str | None = None,
    kind: str | None = None,
    profile: str | None = None,
    platform: str = "linux",
    **environ: str,
) -> Discovery:
    named = None if home is None else str(home)
    return discover(named, kind, profile, environ, user, platform)


@pytest.mark.parametrize(
    ("paths", "kind"),
    [
        (["config.yaml"], Kind.HERMES),
        (["memories/"], Kind.HERMES),
        (["pending/"], Kind.HERMES),
        (["skills/"], Kind.HERMES),
        (["state.db"], Kind.HERMES),
        (["sessions/67b506f04aa724b1/s.jsonl"], Kind.VAK),
        (["sessions/67b506f04aa724b1/ses_1/seg-00000001.log"], Kind.VAK),
        (["memory/67b506f04aa724b1/MEMORY.md"], Kind.VAK),
        (["skill-proposals/", "skills/"], Kind.VAK),
        (["memory/67b506f04aa724b1/MEMORY.md", "skills/", "state.db"], Kind.VAK),
        (["config.yaml", "sessions/a/b.jsonl"], Kind.HERMES),
        (["chroma.sqlite3"], Kind.RAG),
        (["signoff.sqlite3"], Kind.RAG),
        (["sessions/s.jsonl", "notes.txt"], None),
        (["config.yaml/x", "state.db/x"], None),
        ([], None),
    ],
)
def test_kinds_are_told_by_the_folder(tmp_path: Path, paths: list[str], kind: Kind | None) -> None:
    assert detect(_make(tmp_path / "home", *paths)) is kind


def test_a_folder_that_is_not_there_has_no_kind(tmp_path: Path) -> None:
    assert detect(tmp_path / "gone") is None


def test_the_flag_beats_every_variable_and_default(tmp_path: Path) -> None:
    _make(tmp_path / ".hermes", "config.yaml")
    env = _make(tmp_path / "env", "config.yaml")
    flag = _make(tmp_path / "flag", "memory/x/MEMORY.md")
    found = _find(tmp_path, flag, HERMES_HOME=str(env))
    assert found == Discovery(flag, Kind.VAK, "default", flag)


def test_variables_beat_each_other_in_order_and_the_defaults(tmp_path: Path) -> None:
    default = _make(tmp_path / ".hermes", "config.yaml")
    hermes = _make(tmp_path / "h", "config.yaml")
    vak = _make(tmp_path / "v", "skill-proposals/")
    rag = _make(tmp_path / "r", "chroma.sqlite3")
    every = {"HERMES_HOME": str(hermes), "VAK_HOME": str(vak), "HERMES_RAG_STORE": str(rag)}
    found = _find(tmp_path, **every)
    assert (found.home, found.kind) == (hermes, Kind.HERMES)
    assert [(each.path, each.kind, each.via) for each in found.others] == [
        (vak, Kind.VAK, "VAK_HOME"),
        (rag, Kind.RAG, "HERMES_RAG_STORE"),
    ]
    del every["HERMES_HOME"]
    found = _find(tmp_path, **every)
    assert (found.home, found.kind) == (vak, Kind.VAK)
    assert [each.path for each in found.others] == [rag, default]


def test_of_several_defaults_the_hermes_home_opens(tmp_path: Path) -> None:
    _make(tmp_path / "hermes-rag", "chroma.sqlite3")
    _make(tmp_path / ".local/share/vak", "skill-proposals/")
    _make(tmp_path / ".hermes", "memories/")
    found = _find(tmp_path)
    assert (found.home, found.kind, found.profile) == (tmp_path / ".hermes", Kind.HERMES, "default")
    assert [(each.kind, each.via) for each in found.others] == [
        (Kind.VAK, "default"),
        (Kind.RAG, "default"),
    ]


@pytest.mark.parametrize(
    ("platform", "environ", "where"),
    [
        ("linux", {}, ".local/share/vak"),
        ("linux", {"XDG_DATA_HOME": "{}/data"}, "data/vak"),
        ("darwin", {"XDG_DATA_HOME": "{}/data"}, "Library/Application Support/vak"),
        ("linux", {}, ".vakcoder"),
        ("linux", {"VAKCODER_HOME": "{}/old"}, "old"),
    ],
)
def test_where_vak_keeps_its_home(
    tmp_path: Path, platform: str, environ: dict[str, str], where: str
) -> None:
    """specs/vak.md, sections 0 and 1."""
    home = _make(tmp_path / where, "skill-proposals/")
    named = {name: value.format(tmp_path) for name, value in environ.items()}
    assert _find(tmp_path, platform=platform, **named).home == home


def test_no_home_at_all_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(NoHomeError) as caught:
        _find(tmp_path)
    assert "--home" in caught.value.hint
    assert "signoff demo" in caught.value.hint


def test_a_variable_that_names_no_home_is_never_passed_over(tmp_path: Path) -> None:
    """Rank 17 of the field reports: the wrong home is worse than none."""
    _make(tmp_path / ".hermes", "config.yaml")
    with pytest.raises(NoHomeError, match=r"HERMES_HOME names .*gone, which does not exist"):
        _find(tmp_path, HERMES_HOME=str(tmp_path / "gone"))
    empty = _make(tmp_path / "empty")
    with pytest.raises(NoHomeError, match="holds nothing"):
        _find(tmp_path, HERMES_HOME=str(empty))


def test_a_named_folder_without_signs_is_no_home_unless_a_kind_is_said(tmp_path: Path) -> None:
    empty = _make(tmp_path / "empty")
    with pytest.raises(NoHomeError) as caught:
        _find(tmp_path, empty)
    assert f"signoff init {empty}" in caught.value.hint
    assert _find(tmp_path, empty, kind="rag").kind is Kind.RAG
    with pytest.raises(NoHomeError, match="There is no folder"):
        _find(tmp_path, tmp_path / "gone", kind="hermes")


def test_words_that_make_no_sense(tmp_path: Path) -> None:
    vak = _make(tmp_path / "v", "skill-proposals/")
    with pytest.raises(UsageError, match="kind"):
        _find(tmp_path, vak, kind="other")
    with pytest.raises(UsageError, match="no profiles"):
        _find(tmp_path, vak, profile="coder")
    with pytest.raises(UsageError, match="no folder"):
        _find(tmp_path, " ")


def test_a_kind_asks_only_its_own_places(tmp_path: Path) -> None:
    hermes = _make(tmp_path / "h", "config.yaml")
    vak = _make(tmp_path / "v", "skill-proposals/")
    found = _find(tmp_path, kind="vak", HERMES_HOME=str(hermes), VAK_HOME=str(vak))
    assert (found.home, found.others) == (vak, ())


def test_the_home_is_its_real_path(tmp_path: Path) -> None:
    real = _make(tmp_path / "real", "config.yaml")
    (tmp_path / "link").symlink_to(real)
    assert _find(tmp_path, tmp_path / "link").home == real
    assert _find(tmp_path, "~/link").home == real


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Hermes home with the profiles coder and night-shift, and one folder that is none."""
    return _make(
        tmp_path / ".hermes",
        "config.yaml",
        "profiles/coder/config.yaml",
        "profiles/night-shift/memories/",
        "profiles/Not A Name/",
        "profiles/test/",
    )


def test_the_profile_flag(tmp_path: Path, root: Path) -> None:
    found = _find(tmp_path, profile="coder")
    assert (found.home, found.profile, found.root) == (root / "profiles/coder", "coder", root)
    assert _find(tmp_path, profile=" Default ").home == root


@pytest.mark.parametrize("word", ["gone", "../..", "test", "", "a" * 65, "Not A Name", "/"])
def test_an_unknown_profile_names_those_that_exist(tmp_path: Path, root: Path, word: str) -> None:
    """Spec 1.2: names are ids; ``test`` is reserved; a name never becomes a path unchecked."""
    with pytest.raises(NotFoundError) as caught:
        _find(tmp_path, profile=word)
    assert caught.value.hint == "Its profiles are: default, coder, night-shift"


@pytest.mark.parametrize("by_flag", [True, False])
def test_the_sticky_profile_is_honoured_however_the_home_was_named(
    tmp_path: Path, root: Path, by_flag: bool
) -> None:
    """Spec 1.1; a bare agent process ignores the file, which is its known trap."""
    (root / "active_profile").write_text("coder\n")
    found = _find(tmp_path, root if by_flag else None)
    assert (found.home, found.profile) == (root / "profiles/coder", "coder")
    assert _find(tmp_path, profile="default").profile == "default"
    assert _find(tmp_path, profile="night-shift").profile == "night-shift"


@pytest.mark.parametrize("text", [b"", b"\n", b"default\n", b"\xff\xfe"])
def test_a_sticky_file_that_names_nothing(tmp_path: Path, root: Path, text: bytes) -> None:
    (root / "active_profile").write_bytes(text)
    assert (_find(tmp_path).home, _find(tmp_path).profile) == (root, "default")


def test_a_sticky_file_that_is_a_pipe_is_not_opened(tmp_path: Path, root: Path) -> None:
    os.mkfifo(root / "active_profile")
    assert _find(tmp_path).profile == "default"


def test_a_sticky_profile_that_is_gone_is_said(tmp_path: Path, root: Path) -> None:
    (root / "active_profile").write_text("gone")
    with pytest.raises(NotFoundError, match="active_profile names the profile 'gone'"):
        _find(tmp_path)


@pytest.mark.parametrize("by_flag", [True, False])
def test_a_home_under_profiles_is_kept(tmp_path: Path, root: Path, by_flag: bool) -> None:
    (root / "active_profile").write_text("night-shift")
    coder = root / "profiles" / "coder"
    found = _find(tmp_path, coder) if by_flag else _find(tmp_path, HERMES_HOME=f"{coder}/")
    assert (found.home, found.profile, found.root) == (coder, "coder", root)
    assert _find(tmp_path, coder, profile="night-shift").profile == "night-shift"


def test_profiles_of_a_home_elsewhere(tmp_path: Path) -> None:
    """Spec 1.1: outside the default home the grandparent of a profile is the root."""
    opt = _make(tmp_path / "opt", "config.yaml", "profiles/a/config.yaml", "profiles/b/config.yaml")
    assert _find(tmp_path / "user", opt / "profiles/a").root == opt
    assert _find(tmp_path / "user", opt / "profiles/a", profile="b").home == opt / "profiles/b"


def test_a_folder_inside_the_default_home_that_is_no_profile(tmp_path: Path, root: Path) -> None:
    inner = _make(root / "copy", "config.yaml")
    found = _find(tmp_path, inner)
    assert (found.home, found.profile, found.root) == (inner, "custom", root)
