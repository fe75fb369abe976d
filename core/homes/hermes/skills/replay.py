"""What the agent's own approval of a skill proposal would do to this home.

Rules 0.19 model hermes-agent 0.19.0 as executed (``apply_skill_pending``); rules newest model later
2026 from its documents: batches, a patch that is a rewrite, shorter descriptions, kept modes.
Replay runs as a foreground user: that a review made the proposal changes nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from core.homes.hermes.config import Config
from core.homes.hermes.rules import Rules
from core.homes.hermes.scanners.skills import scan_skill
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.actions import ACTIONS, Effect, Ground
from core.homes.hermes.skills.rules import RefusedError, check_file_path, wrong_type
from core.homes.hermes.skills.tree import candidates, find_skill
from core.model import (
    AnyChange,
    Change,
    Finding,
    Match,
    Node,
    NodeKind,
    Outcome,
    Severity,
)
from core.overlay import Overlay
from core.view import Fact, View, join, name, sha256

CACHE = ".skills_prompt_snapshot.json"
LOCKS = "skills/.locks"
#: Newest rules: operations one batch may hold, and the actions it may mix.
MAX_OPERATIONS = 20
BATCHED = frozenset({"create", "patch", "write_file", "remove_file"})
#: Strategies of the matcher that can replace lines the proposal never named.
APPROXIMATE = frozenset({"block_anchor", "context_aware"})


@dataclass(frozen=True, slots=True)
class _Landing:
    """The effects of a proposal in order, and its changes with one for each path.

    ``match`` of a batch is the first one that was only guessed, if any.
    """

    effects: tuple[Effect, ...]
    changes: tuple[Change, ...]
    message: str
    match: Match | None = None


def replay(view: View, payload: object, config: Config, rules: Rules, now: datetime) -> Outcome:
    """What approving ``payload`` would do. ``now`` is the time the usage row would get.

    A field of a type on which the agent fails is ``invalid``; nothing raises. Files are written
    with LF line ends and, under 0.19, mode 0600, as the agent leaves them.
    """
    if not isinstance(payload, Mapping):
        return Outcome("invalid", "payload is no object.")
    ground = Ground(view, payload, config, rules)
    findings = _duplicates(ground)
    try:
        landing = _land(ground)
        findings += _scanned(ground, landing)
    except RefusedError as problem:
        return Outcome(
            problem.category,
            problem.message,
            findings=tuple(findings),
            claims=_claims(ground),
        )
    rows = usage.load(view)
    edits = _row_edits(rows, landing.effects, now)
    if rows.problem and any(effect.counts or effect.gone for effect in landing.effects):
        findings.append(_unreadable_usage(rows, landing.effects))
    changes: list[AnyChange] = [*landing.changes, *_cache(view), *edits]
    return Outcome(
        "ok",
        landing.message,
        tuple(changes),
        tuple(findings),
        match=landing.match,
        claims=frozenset().union(*(effect.claims for effect in landing.effects)),
        locks=_locks(view, landing.effects, bool(edits)),
    )


def after_changes(view: View, folder: str, changes: Iterable[Change]) -> dict[str, Change]:
    """Every path below ``folder`` as it would be: path inside the folder to its last change.

    Paths that stay as they are stand there unchanged; what is removed is left out.
    """
    found = {path: Change(path, node, node) for path, node in view.tree(folder)}
    for change in changes:
        found[change.path] = change
    start = folder + "/"
    return {
        path[len(start) :]: change
        for path, change in found.items()
        if path.startswith(start) and change.after is not None
    }


def _land(ground: Ground) -> _Landing:
    action = ground.payload.get("action", "")
    if action == "batch" and ground.rules is Rules.NEWEST:
        return _batch(ground)
    if isinstance(action, list | dict):
        raise wrong_type("action", action)
    act = ACTIONS.get(action) if isinstance(action, str) else None
    if act is None:
        raise RefusedError("unknown_action", f"The agent knows no action {_shown(action)}.")
    effect = act(ground)
    return _Landing((effect,), effect.changes, effect.message, effect.match)


def _batch(ground: Ground) -> _Landing:
    """Newest rules: up to 20 operations, all or none, later ones on the result of earlier ones."""
    operations = ground.get("operations")
    if not operations:
        raise RefusedError("missing_argument", "The batch has no operations.")
    if not isinstance(operations, list):
        raise RefusedError("invalid", "operations is no list.")
    if len(operations) > MAX_OPERATIONS:
        raise RefusedError(
            "invalid", f"The batch has {len(operations)} operations; the limit is {MAX_OPERATIONS}."
        )
    effects: list[Effect] = []
    changes: dict[str, Change] = {}
    for number, operation in enumerate(operations, start=1):
        try:
            effect = _operation(ground, operation, changes, alone=len(operations) == 1)
        except RefusedError as problem:
            label = f"Operation {number} of {len(operations)}: "
            raise RefusedError(problem.category, label + problem.message) from None
        effects.append(effect)
        for change in effect.changes:
            first = changes.pop(change.path, change)
            changes[change.path] = Change(change.path, first.before, change.after)
    kept = tuple(change for change in changes.values() if change.before != change.after)
    if len(effects) == 1:
        return _Landing(tuple(effects), kept, effects[0].message, effects[0].match)
    matches = [effect.match for effect in effects if effect.match]
    guessed = next((match for match in matches if match.strategy in APPROXIMATE), None)
    return _Landing(tuple(effects), kept, f"Makes {len(effects)} operations, all or none.", guessed)


def _operation(
    ground: Ground, operation: object, changes: Mapping[str, Change], *, alone: bool
) -> Effect:
    if not isinstance(operation, Mapping):
        raise RefusedError("invalid", "it is no object.")
    action = operation.get("action")
    if action == "delete" and not alone:
        raise RefusedError("invalid", "a delete must be the only operation.")
    if not isinstance(action, str) or (action not in BATCHED and action != "delete"):
        raise RefusedError("unknown_action", f"a batch knows no action {_shown(action)}.")
    view = View(Overlay(ground.view.source, changes.values()))
    effect = ACTIONS[action](Ground(view, operation, ground.config, ground.rules))
    _record(ground.view, view.facts)
    whole = action in ("write_file", "remove_file") or not operation.get("old_string")
    for change in effect.changes:
        if whole and change.path in changes and change.before is not None:
            raise RefusedError("invalid", f"it would undo an earlier one at {change.path}.")
    return effect


def _record(view: View, facts: Iterable[Fact]) -> None:
    """Note on the home itself what was read through an overlay: the overlay is no fact."""
    quiet = view.quiet()
    for fact in facts:
        view.record(Fact(fact.kind, fact.key, fact.resolve(quiet, fact.key), fact.resolve))


def _scanned(ground: Ground, landing: _Landing) -> list[Finding]:
    """The agent's skill scanner over each folder as it would be. Raises when it would block."""
    if not ground.config.guard_agent_created:
        return []
    findings: list[Finding] = []
    for folder in dict.fromkeys(effect.folder for effect in landing.effects if effect.scanned):
        result = scan_skill(_as_scanned(ground.view, folder, landing.changes), folder)
        if result.blocked:
            first = next((f for f in result.findings if f.severity is Severity.DANGER), None)
            why = first.message if first else "The agent's skill scanner refuses the skill."
            raise RefusedError("security_scan_blocked", why + _left_behind(landing))
        if result.not_modelled:
            findings.append(
                Finding(
                    "scan_not_modelled",
                    Severity.WARNING,
                    "The agent's skill scanner may find more in this skill than signoff models.",
                    folder,
                )
            )
    return findings


def _as_scanned(view: View, folder: str, changes: Iterable[Change]) -> dict[str, Node]:
    """The folder as the scanner meets it: a write through a link leaves the link there."""
    after = after_changes(view, folder, changes)
    nodes = {path: change.after for path, change in after.items() if change.after is not None}
    quiet = view.quiet()
    for path, node in list(nodes.items()):
        at = join(folder, path)
        link = quiet.node(at)
        if node.kind is NodeKind.FILE and link is not None and link.kind is NodeKind.LINK:
            target = quiet.resolve(at) or ""
            if target.startswith(folder + "/"):
                nodes[target[len(folder) + 1 :]] = node
            nodes[path] = link
    return nodes


def _left_behind(landing: _Landing) -> str:
    """The folders the agent would leave after taking a blocked write back, as a sentence."""
    created = {effect.folder for effect in landing.effects if not effect.counts}
    left = [
        change.path
        for change in landing.changes
        if change.after is not None
        and change.after.kind is NodeKind.DIR
        and change.path not in created
    ]
    return f" The agent would leave {', '.join(left)} behind, empty." if left else ""


def _row_edits(rows: usage.Rows, effects: Iterable[Effect], now: datetime) -> tuple[AnyChange, ...]:
    counts: dict[str, int] = {}
    edits: list[AnyChange] = []
    for effect in effects:
        key = name(effect.folder)
        if effect.gone:
            edits += usage.drop(rows, key)
        elif effect.counts:
            counts[key] = counts.get(key, 0) + 1
    for key, times in counts.items():
        edits += usage.bump(rows, key, now, times)
    return tuple(edits)


def _unreadable_usage(rows: usage.Rows, effects: Iterable[Effect]) -> Finding:
    gone = any(effect.gone for effect in effects)
    what = "whether it is pinned is not known" if gone else "this patch is not counted"
    alone = "" if gone else "; the agent alone would replace the file and lose its rows"
    return Finding(
        "usage_unreadable",
        Severity.WARNING,
        f"{usage.PATH} cannot be read ({rows.problem}): {what}{alone}.",
        usage.PATH,
    )


def _duplicates(ground: Ground) -> list[Finding]:
    found = []
    for named in _names(ground.payload):
        folders = candidates(ground.view, named, ground.config, ground.rules)
        if len(folders) > 1:
            others = ", ".join(folders[1:])
            found.append(
                Finding(
                    "duplicate_name",
                    Severity.WARNING,
                    f"Several folders have this name: the agent takes {folders[0]}, not {others}.",
                    folders[0],
                )
            )
    return found


def _claims(ground: Ground) -> frozenset[str]:
    """What a refused proposal is about: its skill, or the file it names in it."""
    action = ground.payload.get("action")
    claims = set()
    for named in _names(ground.payload):
        if action in ("patch", "write_file", "remove_file"):
            folder = find_skill(ground.view, named, ground.config, ground.rules)
            path = ground.payload.get("file_path") or "SKILL.md"
            try:
                claims.add("file:" + join(folder or named, check_file_path(path)))
            except RefusedError:
                claims.add(f"file:{folder or named}")
        else:
            claims.add(f"skill:{named.rpartition('/')[2]}")
    return frozenset(claims)


def _names(payload: Mapping[str, object]) -> tuple[str, ...]:
    """Every skill the payload names, batch operations included, as far as they are text."""
    operations = payload.get("operations")
    parts = [payload, *(operations if isinstance(operations, list) else ())]
    names = [part.get("name") for part in parts if isinstance(part, Mapping)]
    return tuple(dict.fromkeys(n for n in names if isinstance(n, str) and n))


def _cache(view: View) -> list[Change]:
    """The agent's prompt cache goes after every skill write; it is rebuilt at will."""
    node = view.quiet().node(CACHE)
    if node is None or node.kind not in (NodeKind.FILE, NodeKind.LINK):
        return []
    return [Change(CACHE, node, None, cache=True)]


def _locks(view: View, effects: Iterable[Effect], rows: bool) -> tuple[str, ...]:
    """The usage lock for rows, and newer agents' lock of each skill where they keep locks."""
    locks = [usage.LOCK] if rows else []
    if view.kind(LOCKS) is NodeKind.DIR:
        for named in dict.fromkeys(name(effect.folder) for effect in effects):
            digest = sha256(named.encode("utf-8", "surrogateescape"))
            locks.append(join(LOCKS, f"{digest}.lock"))
    return tuple(locks)


def _shown(action: object) -> str:
    return repr(action) if isinstance(action, str) else str(action)
