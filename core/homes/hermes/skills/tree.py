"""Skills on disk: where the agent looks, what it skips, which folder a name means.

hermes-agent 0.19.0, ``_find_skill`` and ``agent/skill_utils.py``. A skill is a folder that holds
``SKILL.md``; the tools name it by its folder, usage rows and pins by the ``name:`` of its head.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.disk import Disk, Listing
from core.homes.hermes.config import Config
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.rules import SKILL_FILE, SUPPORT_FOLDERS
from core.model import NodeKind
from core.view import Snapshot, Source, View, join, name, parent

SKILLS = "skills"
ARCHIVE = "skills/.archive"
#: Folders that hold no skill of their own, wherever they stand below a root.
EXCLUDED = frozenset(
    {
        ".git",
        ".github",
        ".hub",
        ".archive",
        ".venv",
        "venv",
        "node_modules",
        "site-packages",
        "__pycache__",
        ".tox",
        ".nox",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
    }
)
#: Folders of a skill that are not looked into.
_IN_SKILLS = EXCLUDED | SUPPORT_FOLDERS
#: The agent reads a head's name from this many characters, line by line, not as YAML.
_HEAD = 4000


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """One skill: its folder (as a view names it), the root it lies in, the name its head says."""

    folder: str
    root: str
    declared: str

    @property
    def named(self) -> str:
        """The folder's own name, by which the tools look it up."""
        return name(self.folder)

    @property
    def category(self) -> str:
        """The first folder below the root, ``""`` for a skill directly in it."""
        parts = self.folder[len(self.root) + 1 :].split("/")
        return parts[0] if len(parts) > 1 else ""


def roots(config: Config, rules: Rules) -> tuple[str, ...]:
    """Folders searched for skills, in order: the home's own, then the configured ones.

    Newest rules search ``skills.create_dir`` too.
    """
    found = [SKILLS]
    if rules is Rules.NEWEST and config.create_dir:
        found.append(config.create_dir)
    found += config.external_dirs
    return tuple(dict.fromkeys(found))


def find_skill(view: View, wanted: str, config: Config, rules: Rules) -> str | None:
    """The folder ``wanted`` means, ``None`` if there is none; only the answer is recorded.

    The first hit wins. 0.19.0 walks in the file system's own order, newest in sorted order and
    also takes ``category/name``.
    """
    key = json.dumps([wanted, rules is Rules.NEWEST, *roots(config, rules)])
    return view.ask("skill", key, _resolve, f"where {wanted} lies") or None


def unlisted(view: View, config: Config, rules: Rules) -> str:
    """The folders below the roots that could not be listed, as one sentence; ``""`` for none.

    A skill that was not found may lie in one of them. Only the sentence is recorded.
    """
    key = json.dumps([rules is Rules.NEWEST, *roots(config, rules)])
    return view.ask("unlisted", key, _unlisted, "what can be listed of the skills")


def candidates(view: View, wanted: str, config: Config, rules: Rules) -> tuple[str, ...]:
    """Every folder ``wanted`` could mean, the one that wins first. Not recorded."""
    return _candidates(view, wanted, rules is Rules.NEWEST, roots(config, rules))


def list_skills(view: View, config: Config, rules: Rules) -> tuple[SkillFolder, ...]:
    """Every skill, in the order the agent meets them; ``SKILL.md`` heads are read, not recorded."""
    quiet = view.quiet()
    searched = roots(config, rules)
    return tuple(
        SkillFolder(folder, root_of(folder, searched), read_declared(quiet, folder))
        for folders in _index(view, rules is Rules.NEWEST, searched).folders.values()
        for folder in folders
    )


def root_of(folder: str, searched: tuple[str, ...]) -> str:
    """The searched root that holds ``folder``: the first one that does, else the home's own."""
    for root in searched:
        if folder == root or folder.startswith(root.rstrip("/") + "/"):
            return root
    return SKILLS


def declared_name(view: View, folder: str) -> str:
    """The name a skill's head gives it, the folder's own if none; only the name is recorded."""
    return view.ask("declared-name", folder, read_declared)


def read_declared(view: View, folder: str) -> str:
    """The ``name:`` line between the first two ``---`` lines of a SKILL.md, quotes stripped."""
    text = read_text(view, folder)
    inside = False
    for line in text[:_HEAD].split("\n"):
        line = line.strip()
        if line == "---":
            if inside:
                break
            inside = True
        elif inside and line.startswith("name:"):
            value = line.split(":", 1)[1].strip().strip("\"'")
            if value:
                return value
    return name(folder)


def read_text(view: View, folder: str) -> str:
    """A skill's SKILL.md with plain line ends, ``""`` if it cannot be read; not recorded.

    Bytes that are no text are replaced.
    """
    return view.shared(f"skill-text\0{folder}", lambda quiet: _text(quiet, folder))


def _text(view: View, folder: str) -> str:
    data = view.read(join(folder, SKILL_FILE)).data or b""
    text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def in_support_folder(view: View, path: str, root: str) -> bool:
    """Whether ``path`` lies in a support folder of a skill below ``root``: data, not a skill."""
    above = parent(path)
    while above.startswith(root.rstrip("/") + "/"):
        if name(above) in SUPPORT_FOLDERS and has_skill_file(view, parent(above)):
            return True
        above = parent(above)
    return False


def has_skill_file(view: View, folder: str) -> bool:
    """Whether ``folder`` holds something named SKILL.md that is there (a folder counts)."""
    return exists(view, join(folder, SKILL_FILE))


def exists(view: View, path: str) -> bool:
    """Whether something is at ``path``, links followed: a link to nothing is nothing."""
    kind = view.kind(path)
    if kind is not NodeKind.LINK:
        return kind is not None
    target = view.resolve(path)
    return target is not None and view.kind(target) is not None


def _resolve(view: View, key: str) -> str:
    wanted, newest, *searched = json.loads(key)
    found = _candidates(view, wanted, newest, tuple(searched))
    return found[0] if found else ""


def _unlisted(view: View, key: str) -> str:
    newest, *searched = json.loads(key)
    shut = _index(view, newest, tuple(searched)).shut
    if not shut:
        return ""
    more = f" and {len(shut) - 1} more" if len(shut) > 1 else ""
    folder, reason = next(iter(shut.items()))
    return f"{folder}{more} cannot be listed: {reason}"


def _candidates(
    view: View, wanted: str, newest: bool, searched: tuple[str, ...]
) -> tuple[str, ...]:
    folders = _index(view, newest, searched).folders
    if newest and "/" in wanted:
        ends = {join(root, wanted) for root in searched}
        return tuple(folder for folder in folders.get(name(wanted), ()) if folder in ends)
    return folders.get(wanted, ())


@dataclass(frozen=True, slots=True)
class _Index:
    """Skill folders by their own name, and why some folders (by path) could not be listed."""

    folders: Mapping[str, tuple[str, ...]]
    shut: Mapping[str, str]


def _index(view: View, newest: bool, searched: tuple[str, ...]) -> _Index:
    key = f"skill-index\0{newest}\0" + "\0".join(searched)
    return view.shared(key, lambda quiet: _build(quiet, newest, searched))


def _build(view: View, newest: bool, searched: tuple[str, ...]) -> _Index:
    found: dict[str, list[str]] = {}
    shut: dict[str, str] = {}
    for root in searched:
        for folder in _walk(view, root, newest, shut):
            folders = found.setdefault(name(folder), [])
            if folder not in folders:
                folders.append(folder)
    return _Index({named: tuple(folders) for named, folders in found.items()}, shut)


def _walk(view: View, root: str, newest: bool, shut: dict[str, str]) -> list[str]:
    """Folders below ``root`` with a SKILL.md, each before those inside it.

    Folders that could not be listed, or whose entries could not be looked at, go to ``shut``.
    """
    found = []
    todo = [root]
    while todo:
        folder = todo.pop()
        names = _names(view, folder, shut)
        told = _listing(view.source, folder)
        is_skill = SKILL_FILE in names and (
            (told is not None and SKILL_FILE in told.files) or has_skill_file(view, folder)
        )
        if is_skill:
            found.append(folder)
        skipped = _IN_SKILLS if is_skill else EXCLUDED
        if told is not None and skipped.issuperset(told.folders):
            continue
        entered = [child for child in (sorted(names) if newest else names) if child not in skipped]
        inside = _folders(view, folder, entered, shut, told)
        todo += [join(folder, child) for child in reversed(inside)]
    return found


def _listing(source: Source, folder: str) -> Listing | None:
    """What listing ``folder`` tells of what is in it; ``None``: look at each."""
    if isinstance(source, Snapshot):
        return source.listing(folder)
    try:
        return source.listing(folder) if isinstance(source, Disk) else None
    except (OSError, ValueError):
        return None


def _folders(
    view: View, folder: str, names: Sequence[str], shut: dict[str, str], told: Listing | None
) -> list[str]:
    """Those of ``names`` that are folders."""
    # A folder that may be listed and not entered shows at any thing in it.
    probe = SKILL_FILE if SKILL_FILE in names else next(iter(names), "")
    if told is None or (probe and not _can_look(view, join(folder, probe))):
        return [child for child in names if _is_folder(view, folder, child, shut)]
    return [child for child in names if child in told.folders]


def _can_look(view: View, path: str) -> bool:
    try:
        view.source.node(path, data=False)
    except (OSError, ValueError):
        return False
    return True


def _names(view: View, folder: str, shut: dict[str, str]) -> tuple[str, ...]:
    try:
        return view.source.names(folder)
    except FileNotFoundError:
        if view.kind(folder) is NodeKind.LINK:
            shut[folder] = "a link to nothing"
    except OSError as problem:
        shut[folder] = _reason(problem)
    except ValueError:
        pass
    return ()


def _is_folder(view: View, folder: str, child: str, shut: dict[str, str]) -> bool:
    try:
        node = view.source.node(join(folder, child), data=False)
    except OSError as problem:
        shut[folder] = _reason(problem)
        return False
    except ValueError:
        return False
    return node is not None and node.kind is NodeKind.DIR


def _reason(problem: OSError) -> str:
    return problem.strerror.lower() if problem.strerror else str(problem)
