"""One skill put back as a snapshot holds it; all else stays as it is.

The agent can only put all skills back at once, with every counter and pin. Here the row keeps what
was counted since, and the package goes where it lay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.errors import UnreadableError
from core.homes.hermes.config import Config
from core.homes.hermes.curator.acting import blocked, listed, locks, put
from core.homes.hermes.curator.archive import cache
from core.homes.hermes.curator.inventory import Inventory, Terms, ask_skill, read_inventory
from core.homes.hermes.curator.origins import suppress
from core.homes.hermes.curator.packages import Package
from core.homes.hermes.curator.restore import missing_folders, refused
from core.homes.hermes.curator.rollback import changes_between, rows_in, unsafe
from core.homes.hermes.curator.snapshots import find_snapshot, read_snapshot
from core.homes.hermes.curator.transitions import ACTIVE, ARCHIVED
from core.homes.hermes.skills.actions import FOLDER
from core.homes.hermes.skills.archiving import within
from core.homes.hermes.skills.tree import SKILLS, SkillFolder, list_skills
from core.model import AnyChange, Change, Finding, Node, NodeKind, Outcome, Severity
from core.overlay import Overlay
from core.view import Tree, View, join, name


def plan_single(view: View, terms: Terms, snapshot: str | None, token: str) -> Outcome:
    """Put the skill ``token`` back as ``snapshot`` (``None``: the newest) holds it.

    ``token`` is a path, the name its head says there, or its folder's own name. A live one gets the
    content it had, one that is gone comes back to its place; counters and pins stay as they are.
    Refused where a restore to that place would be. Raises :class:`NotFoundError` for a snapshot
    that is not there.
    """
    chosen = find_snapshot(view, snapshot)
    try:
        held = read_snapshot(view, chosen)
    except UnreadableError as problem:
        return Outcome("unreadable_target", f"{problem.message}.")
    skills = _skills(held, terms)
    found = _meant(skills, token)
    if not found:
        return Outcome("skill_not_found", f"The snapshot {chosen} holds no skill {token}.")
    if len(found) > 1:
        folders = listed(each.folder for each in found)
        return Outcome("ambiguous", f"{token} means several skills, name a folder: {folders}.")
    skill, inventory = found[0], read_inventory(view, terms.config, terms.rules)
    refusal = blocked(inventory) or _refused(view, skill, skills, inventory, terms)
    if refusal:
        return refusal
    folder = skill.folder
    then = {path: node for path, node in _at_home(held).items() if within(path, folder)}
    now = dict(view.tree(folder))
    if why := unsafe(_below(now), _below(then)):
        return Outcome("unsafe_target", why)
    changes = list(changes_between(_below(now), _below(then)))
    claims = frozenset({f"skill:{name(folder)}"})
    if not changes:
        return Outcome("noop", f"{folder} is as the snapshot {chosen} holds it.", claims=claims)
    made = [Change(above, None, FOLDER) for above in missing_folders(view, folder)]
    rows = rows_in(held) if not now else {}
    edits = _row(skill.declared, rows, inventory, terms) if not now else ()
    lifted = suppress(view, lifted=(skill.declared, name(folder)))
    steps: list[AnyChange] = [*made, *changes, *lifted, *cache(view), *edits]
    return Outcome(
        "restored",
        f"Puts {folder} back as the snapshot {chosen} holds it.",
        tuple(steps),
        tuple(_findings(changes, folder, bool(now))),
        claims=claims,
        locks=locks(view, [folder]),
    )


def _skills(held: Mapping[str, Node], terms: Terms) -> tuple[SkillFolder, ...]:
    """The skills of a snapshot that were live, by the rules of the live ones."""
    nodes = [Change(path, None, node) for path, node in _at_home(held).items()]
    return list_skills(View(Overlay(Tree({}), nodes)), Config(), terms.rules)


def _at_home(held: Mapping[str, Node]) -> dict[str, Node]:
    root = {SKILLS: Node(NodeKind.DIR, mode=0o755)}
    return root | {join(SKILLS, path): node for path, node in held.items()}


def _below(nodes: Mapping[str, Node]) -> dict[str, Node]:
    return {path[len(SKILLS) + 1 :]: node for path, node in nodes.items()}


def _meant(skills: tuple[SkillFolder, ...], token: str) -> list[SkillFolder]:
    path = token.strip("/")
    for match in (
        [each for each in skills if each.folder == path],
        [each for each in skills if each.folder == join(SKILLS, path)],
        [each for each in skills if each.declared == token],
        [each for each in skills if each.named == token],
    ):
        if match:
            return match
    return []


def _refused(
    view: View,
    skill: SkillFolder,
    skills: tuple[SkillFolder, ...],
    inventory: Inventory,
    terms: Terms,
) -> Outcome | None:
    folder = skill.folder
    live = [each for each in inventory.skills if each.folder == folder]
    folders = [each.folder for each in skills] + [each.folder for each in inventory.skills]
    inside = [each for each in folders if within(each, folder)]
    if folder == SKILLS or any(each != folder for each in inside):
        return Outcome("unsafe_target", f"{folder} holds another skill; roll all of it back.")
    if not live:
        package = Package(folder[len(SKILLS) + 1 :], skill.declared, name(folder), None)
        return refused(view, package, folder, inventory, terms)
    ask_skill(view, live[0], terms.config, terms.rules)
    if live[0].provenance == "external":
        return Outcome("external_read_only", f"{folder} lies in an external folder.")
    if live[0].provenance == "hub":
        return Outcome("hub_installed", f"{live[0].name} was installed by the hub.")
    others = [each.folder for each in inventory.skills if each.name == skill.declared]
    if live[0].name != skill.declared and others:
        message = f"It was called {skill.declared} then, and {listed(others)} is now."
        return Outcome("destination_exists", message)
    return None


def _row(
    declared: str, rows: Mapping[str, Any], inventory: Inventory, terms: Terms
) -> tuple[AnyChange, ...]:
    """The row of a skill that comes back: the one it has, live again; else the one it had."""
    row = inventory.rows.row(declared)
    if row is not None:
        archived = row.get("state") == ARCHIVED
        values: dict[str, Any] = {"state": ACTIVE, "archived_at": None} if archived else {}
    elif declared in inventory.rows.rows:
        return ()
    else:
        then = rows.get(declared)
        values = dict(then) if isinstance(then, dict) else {}
        if values.get("state") == ARCHIVED:
            values |= {"state": ACTIVE, "archived_at": None}
    return put(inventory, declared, values, terms.now) if values else ()


def _findings(changes: list[Change], folder: str, live: bool) -> Iterator[Finding]:
    start = len(folder) + 1
    files = [each for each in changes if _kind(each) is not NodeKind.DIR]
    if live:
        gone = [each.path[start:] for each in files if each.after is None]
        others = [each.path[start:] for each in files if each.after is not None]
        if others:
            message = f"Files get what they held: {listed(others)}."
            yield Finding("files", Severity.INFO, message, folder)
        if gone:
            message = f"Files the snapshot does not hold go: {listed(gone)}."
            yield Finding("files_go", Severity.WARNING, message, folder)
    links = [each.path[start:] for each in files if _kind(each) is NodeKind.LINK and each.after]
    if links:
        message = f"Links come back: {listed(links)}. Look where they lead."
        yield Finding("links", Severity.WARNING, message, folder)


def _kind(change: Change) -> NodeKind | None:
    node = change.after or change.before
    return node.kind if node is not None else None
