"""The six things a skill proposal can ask for, each as the agent does it, without a disk.

hermes-agent 0.19.0, ``skill_manage``: the order of checks decides the category, so the checks
stand here in that order. Raises :class:`RefusedError`; what lands is an :class:`Effect`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from core.homes.hermes.config import Config
from core.homes.hermes.patching.splicing import splice
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.rules import (
    MAX_FILE_NAME,
    SKILL_FILE,
    TEMPORARY,
    RefusedError,
    check_category,
    check_file_path,
    check_name,
    check_size,
    check_skill_text,
    check_support_text,
    encode,
    wrong_type,
)
from core.homes.hermes.skills.tree import SKILLS, exists, find_skill, roots, unlisted
from core.model import Change, Match, Node, NodeKind
from core.view import View, join, name, parent

#: 0.19.0 writes through a private temporary file; newest rules give new files this mode.
MODE = 0o600
NEWEST_MODE = 0o644
FOLDER = Node(NodeKind.DIR, mode=0o755)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a replay stands on. ``payload`` holds the fields as the record stores them."""

    view: View
    payload: Mapping[str, object]
    config: Config
    rules: Rules

    def get(self, field: str) -> object:
        """A payload field; ``None`` where it is absent, as for the agent."""
        return self.payload.get(field)


@dataclass(frozen=True, slots=True)
class Effect:
    """What an action would do: the changes of the skill's own files, in order.

    ``folder`` is the skill's; its own name is the key of the usage row. ``counts``: the agent
    counts it as a patch; ``scanned``: its skill scanner may run; ``gone``: its row is dropped.
    """

    folder: str
    message: str
    changes: tuple[Change, ...]
    claims: frozenset[str]
    match: Match | None = None
    counts: bool = True
    scanned: bool = True
    gone: bool = False


def create(ground: Ground) -> Effect:
    """A new skill. Order: content, name, category, frontmatter, size, collision, folders."""
    content = ground.get("content")
    if not content:
        raise RefusedError("missing_argument", "There is no content for the new skill.")
    named = check_name(ground.payload.get("name", ""))
    category = check_category(ground.get("category"))
    check_skill_text(content, new=True, rules=ground.rules)
    assert isinstance(content, str)
    check_size(content, SKILL_FILE)
    taken = find_skill(ground.view, named, ground.config, ground.rules)
    if taken is not None:
        raise RefusedError("skill_exists", f"A skill of this name exists already: {taken}.")
    if shut := _shut(ground):
        raise RefusedError("unreadable_target", f"{shut}, so whether {named} exists is not known.")
    root = SKILLS
    if ground.rules is Rules.NEWEST and ground.config.create_dir:
        root = ground.config.create_dir
    folder = join(root, category, named)
    path = join(folder, SKILL_FILE)
    changes = [*_folders(ground.view, path), _write(ground, path, content, "content")]
    where = f" in {category.strip()}" if category.strip() else ""
    return Effect(
        folder,
        f"Creates the skill {named}{where}.",
        tuple(changes),
        frozenset({f"skill:{named}"}),
        counts=False,
    )


def edit(ground: Ground) -> Effect:
    """SKILL.md rewritten. Order: content, frontmatter, size, look-up, the old text read."""
    content = ground.get("content")
    if not content:
        raise RefusedError("missing_argument", "There is no content to write.")
    check_skill_text(content)
    assert isinstance(content, str)
    check_size(content, SKILL_FILE)
    folder = _skill(ground)
    path = join(folder, SKILL_FILE)
    _read(ground.view, path)
    return Effect(
        folder,
        f"Rewrites {SKILL_FILE} of {name(folder)}.",
        (_write(ground, path, content, "content"),),
        frozenset({f"skill:{name(folder)}", f"file:{path}"}),
    )


def patch(ground: Ground) -> Effect:
    """One text replaced by another, by the agent's matcher; SKILL.md unless ``file_path``."""
    old, new = ground.get("old_string"), ground.get("new_string")
    if not old and ground.rules is Rules.NEWEST and ground.get("content"):
        return edit(ground)
    if not old:
        raise RefusedError("missing_argument", "There is no old_string to look for.")
    if new is None:
        raise RefusedError("missing_argument", "There is no new_string to put in its place.")
    folder = _skill(ground)
    given = ground.get("file_path")
    inside = check_file_path(given) if given else SKILL_FILE
    path = _target(ground.view, folder, inside) if given else join(folder, SKILL_FILE)
    if not _there(ground.view, path):
        raise RefusedError("file_not_found", f"The skill has no file {inside}.")
    text, match = _spliced(_read(ground.view, path), old, new, bool(ground.get("replace_all")))
    check_size(text, inside)
    if not given:
        try:
            check_skill_text(text)
        except RefusedError as problem:
            raise RefusedError(
                "patch_breaks_frontmatter", f"The patch would break {SKILL_FILE}: {problem.message}"
            ) from None
    count = len(match.spans) if match else 0
    places = "1 place" if count == 1 else f"{count} places"
    return Effect(
        folder,
        f"Replaces text at {places} in {inside} of {name(folder)}.",
        (_write(ground, path, text, "new_string"),),
        frozenset({f"file:{path}"}),
        match,
    )


def write_file(ground: Ground) -> Effect:
    """A file of a skill written whole. Order: path, content, sizes, look-up, containment."""
    given = ground.get("file_path")
    if not given:
        raise RefusedError("missing_argument", "There is no file_path.")
    content = ground.get("file_content")
    if content is None:
        other = " (the text stands under content)" if ground.get("content") else ""
        raise RefusedError("missing_argument", f"There is no file_content{other}.")
    inside = check_file_path(given)
    content = check_support_text(content, inside)
    folder = _skill(ground)
    path = _target(ground.view, folder, inside)
    known = _there(ground.view, path)
    # The agent makes folders along the path as it is given: a link to nothing on it fails.
    _folders(ground.view, join(folder, inside))
    made = _folders(ground.view, path)
    if known:
        _read(ground.view, path)
    verb = "Overwrites" if known else "Adds"
    return Effect(
        folder,
        f"{verb} {inside} in {name(folder)}.",
        (*made, _write(ground, path, content, "file_content")),
        frozenset({f"file:{path}"}),
    )


def remove_file(ground: Ground) -> Effect:
    """A file of a skill removed, and its folder if that leaves it empty."""
    given = ground.get("file_path")
    if not given:
        raise RefusedError("missing_argument", "There is no file_path.")
    inside = check_file_path(given)
    folder = _skill(ground)
    path = _target(ground.view, folder, inside)
    if not _there(ground.view, path):
        raise RefusedError("file_not_found", f"The skill has no file {inside}.")
    node = ground.view.node(path)
    if node is not None and node.kind is NodeKind.DIR:
        raise RefusedError("invalid", f"file_path names a folder: {inside}.")
    changes = [Change(path, node, None)]
    above = parent(path)
    if above != folder and ground.view.names(above) == (name(path),):
        changes.append(Change(above, ground.view.node(above), None))
    return Effect(
        folder,
        f"Removes {inside} from {name(folder)}.",
        tuple(changes),
        frozenset({f"file:{path}"}),
        scanned=False,
    )


def delete(ground: Ground) -> Effect:
    """A whole skill removed. Order: look-up, pin, successor, safe target."""
    folder = _skill(ground)
    named = name(folder)
    successor = ground.get("absorbed_into")
    successor = successor.strip() if isinstance(successor, str) else ""
    missing = bool(successor) and not find_skill(
        ground.view, successor, ground.config, ground.rules
    )
    pinned = usage.ask(ground.view, named, "pinned")
    if pinned:
        how = "" if pinned is True else f" (its row says {json.dumps(pinned)}, which counts)"
        also = f"; its successor {successor} does not exist either" if missing else ""
        raise RefusedError("pinned", f"The skill {named} is pinned{how}{also}.")
    if successor == named:
        raise RefusedError("absorbed_into_self", "The skill is named as its own successor.")
    if missing and (shut := _shut(ground)):
        raise RefusedError("unreadable_target", f"{shut}, and its successor may lie there.")
    if missing:
        raise RefusedError("absorbed_target_missing", f"The successor {successor} does not exist.")
    root = _safe_root(ground, folder)
    tree = list(ground.view.tree(folder))
    for path, node in tree:
        if node.kind is NodeKind.OTHER:
            raise RefusedError(
                "unreadable_target", f"{path} is nothing that could be put back; not deleted."
            )
    changes = [Change(path, node, None) for path, node in reversed(tree)]
    above = parent(folder)
    if above != root and ground.view.names(above) == (name(folder),):
        changes.append(Change(above, ground.view.node(above), None))
    into = f"; its content is said to be in {successor}" if successor else ""
    return Effect(
        folder,
        f"Deletes the skill {named} for good{into}.",
        tuple(changes),
        frozenset({f"skill:{name(folder)}", *(f"file:{path}" for path, _ in tree)}),
        counts=False,
        scanned=False,
        gone=True,
    )


ACTIONS = {
    "create": create,
    "edit": edit,
    "patch": patch,
    "write_file": write_file,
    "remove_file": remove_file,
    "delete": delete,
}


def as_text(data: bytes) -> str:
    """A file's text as the agent reads it: strict UTF-8, every line end an LF.

    Raises ``UnicodeDecodeError``.
    """
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _skill(ground: Ground) -> str:
    named = ground.payload.get("name", "")
    if not isinstance(named, str):
        named = ""
    folder = find_skill(ground.view, named, ground.config, ground.rules)
    if folder is None and named and (shut := _shut(ground)):
        raise RefusedError("unreadable_target", f"{shut}, and the skill {named} may lie there.")
    if folder is None:
        what = f"There is no skill {named}" if named else "No skill is named"
        raise RefusedError("skill_not_found", f"{what}.")
    return folder


def _shut(ground: Ground) -> str:
    """Why a skill that was not found may be there all the same, ``""`` if it may not.

    The agent passes over a folder it cannot list. What cannot be read blocks every write here.
    """
    return unlisted(ground.view, ground.config, ground.rules)


def _spliced(text: str, old: object, new: object, every: bool) -> tuple[str, Match | None]:
    if not isinstance(old, str):
        if old == new:
            raise RefusedError("patch_identical", "The old and the new text are the same.")
        raise wrong_type("old_string", old)
    # The agent only fails on a new_string that is no text once the old one has been found.
    done = splice(text, old, new if isinstance(new, str) else "", replace_all=every)
    if done.category != "ok":
        raise RefusedError(done.category, done.message)
    if not isinstance(new, str):
        raise wrong_type("new_string", new)
    return done.text, done.match


def _target(view: View, folder: str, inside: str) -> str:
    """Where ``inside`` lies once the links to its folder are followed, below ``folder``."""
    where = view.ask("inside", json.dumps([folder, inside]), _inside, f"{folder}/{inside}")
    if not where:
        raise RefusedError("path_escape", f"{inside} leads out of the skill's folder.")
    return where


def _inside(view: View, key: str) -> str:
    """The path below the folder, ``""`` when it leads out of it or cannot be followed."""
    folder, inside = json.loads(key)
    try:
        inside.encode("utf-8")
    except UnicodeEncodeError:
        return ""
    if inside.startswith("/") or "\0" in inside:
        return ""
    base = view.resolve(folder)
    target = view.resolve(join(folder, inside))
    above = view.resolve(join(folder, parent(inside)))
    if base is None or target is None or above is None:
        return ""
    if not all(path == base or path.startswith(base + "/") for path in (target, above)):
        return ""
    return join(folder, above[len(base) + 1 :], name(inside))


def _there(view: View, path: str) -> bool:
    """Whether something is there; a name too long for the system fails where its folder is."""
    parts = path.split("/")
    for at, part in enumerate(parts):
        if _too_long(part, MAX_FILE_NAME) and exists(view, "/".join(parts[:at])):
            raise RefusedError("io_error", "A part of the path is longer than a file name can be.")
    return exists(view, path)


def _read(view: View, path: str) -> str:
    reading = view.read(path)
    if reading.data is None:
        kind = view.kind(reading.link or path)
        if kind is NodeKind.DIR:
            raise RefusedError("invalid", f"{path} is a folder, not a file.")
        raise RefusedError("unreadable_target", f"{path} cannot be read: {reading.reason}.")
    try:
        return as_text(reading.data)
    except UnicodeDecodeError:
        raise RefusedError("undecodable_file", f"{path} is not UTF-8 text.") from None


def _write(ground: Ground, path: str, text: str, field: str) -> Change:
    data = encode(text, field)
    if _too_long(name(path), MAX_FILE_NAME - TEMPORARY):
        raise RefusedError("io_error", "The file name is too long to write beside.")
    reading = ground.view.read(path)
    if reading.reason:
        raise RefusedError("unreadable_target", f"{path} cannot be written: {reading.reason}.")
    before = None
    if reading.data is not None:
        before = Node(NodeKind.FILE, reading.data, reading.mode)
    mode = MODE
    if ground.rules is Rules.NEWEST:
        mode = before.mode if before else NEWEST_MODE
    return Change(path, before, Node(NodeKind.FILE, data, mode))


def _folders(view: View, path: str) -> list[Change]:
    """The folders above ``path`` that are missing, outermost first."""
    missing: list[Change] = []
    above = parent(path)
    if _too_long(above, MAX_FILE_NAME):
        raise RefusedError("io_error", "A folder's name is longer than a file name can be.")
    while above not in ("", "/"):
        kind = view.kind(above)
        if kind is NodeKind.LINK:
            # A link to nothing stands in the way: the agent's mkdir fails on it.
            kind = view.kind(view.resolve(above) or above) or NodeKind.LINK
        if kind is NodeKind.DIR:
            break
        if kind is not None:
            raise RefusedError("io_error", f"{above} is no folder.")
        missing.append(Change(above, None, FOLDER))
        above = parent(above)
    return missing[::-1]


def _safe_root(ground: Ground, folder: str) -> str:
    """The searched root strictly above ``folder``. Raises ``unsafe_target``."""
    here = ground.view.resolve(folder)
    if here is not None and ground.view.kind(folder) is NodeKind.DIR:
        for root in roots(ground.config, ground.rules):
            real = ground.view.resolve(root)
            if here == real:
                break
            if real is not None and here.startswith(real.rstrip("/") + "/"):
                return root
    raise RefusedError(
        "unsafe_target", f"{folder} is a root of skills, a link, or outside every root."
    )


def _too_long(path: str, limit: int) -> bool:
    return any(len(part.encode("utf-8", "surrogatepass")) > limit for part in path.split("/"))
