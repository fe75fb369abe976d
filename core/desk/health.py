"""Whether everything signoff depends on works; nothing in the home is changed."""

from __future__ import annotations

from core import locks
from core.desk import knowledge_health, past_health
from core.desk.check import Check
from core.desk.history import unsettled
from core.desk.memories import stores
from core.desk.opening import Opened
from core.desk.overview import trouble
from core.desk.probe import live_events
from core.errors import SignoffError
from core.homes.base import Kind
from core.homes.hermes.memory.entries import lock_of
from core.homes.hermes.pending import read_queue
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.tree import list_skills, unlisted
from core.journal import State
from core.view import Snapshot, View, join


def checkup(opened: Opened) -> tuple[Check, ...]:
    """Everything that can stand in the way; takes up to two seconds for the live events."""
    found = opened.found
    return (
        Check("home", True, f"{found.home} ({found.kind}, profile {found.profile})"),
        *(Check("also here", None, f"{other.path} ({other.kind})") for other in found.others),
        *_of_kind(opened),
        *knowledge_health.checks(opened),
        *_journal_checks(opened),
        Check("live events", *live_events(opened.state, found.home)),
    )


def _of_kind(opened: Opened) -> list[Check]:
    if opened.found.kind is Kind.VAK:
        from core.desk import vak_health

        return vak_health.checks(opened)
    if opened.found.kind is Kind.RAG:
        return []
    return [
        *_config_checks(opened),
        *_queue_checks(opened),
        *_store_checks(opened),
        *_skill_checks(opened),
        *_lock_checks(opened),
        *past_health.checks(opened),
    ]


def _config_checks(opened: Opened) -> list[Check]:
    config = opened.config()
    checks = [Check("rules", None, f"judged as hermes-agent {opened.home_rules()}")]
    if config.problem:
        message = f"cannot be used, so the agent takes its defaults: {config.problem}"
        checks.append(Check("config.yaml", False, message))
    for name, gate in (("memory", config.memory_gate), ("skills", config.skills_gate)):
        without = "" if gate.on else ": the agent writes without asking"
        checks.append(Check(f"{name} gate", gate.on, f"{gate.reason}{without}"))
    return checks


def _queue_checks(opened: Opened) -> list[Check]:
    queue = read_queue(opened.source)
    count = len(queue.proposals)
    return [
        Check("queue", None, f"{count:,} proposal{'' if count == 1 else 's'} can be read"),
        *(Check("queue", False, reason) for reason in trouble(queue)),
        *(Check("record", False, f"{item.file}: {item.reason}") for item in queue.unreadable),
    ]


def _store_checks(opened: Opened) -> list[Check]:
    checks = []
    for store in stores(opened):
        if store.state == "unreadable":
            checks.append(Check(store.path, False, f"cannot be read: {store.reason}"))
        elif store.state == "absent":
            checks.append(Check(store.path, None, "not there yet"))
        elif store.drift:
            message = f"the agent refuses to edit it: {store.drift.message}"
            checks.append(Check(store.path, False, message))
        else:
            checks.append(Check(store.path, True, f"{store.used:,} of {store.limit:,} characters"))
    return checks


def _skill_checks(opened: Opened) -> list[Check]:
    view = View(Snapshot(opened.source))
    config, rules = opened.config(), opened.home_rules()
    skills = list_skills(view, config, rules)
    checks = [Check("skills", True, f"{len(skills):,} found")]
    if shut := unlisted(view, config, rules):
        checks.append(Check("skills", False, f"{shut}; there may be more"))
    for skill in skills:
        file = join(skill.folder, "SKILL.md")
        if reason := view.read(file).reason:
            checks.append(Check("skill", False, f"{file}: {reason}"))
    rows = usage.load(view)
    if rows.problem:
        return [*checks, Check(usage.PATH, False, rows.problem)]
    odd = sum(rows.row(key) is None for key in rows.rows)
    message = f"{len(rows.rows):,} rows" + (f", {odd} of them no objects" if odd else "")
    return [*checks, Check(usage.PATH, not odd, message)]


def _lock_checks(opened: Opened) -> list[Check]:
    paths = (lock_of("memory"), lock_of("user"), usage.LOCK)
    held = [path for path in paths if locks.is_held(opened.found.home / path)]
    if not held:
        return [Check("locks", True, "nobody holds one")]
    return [Check("locks", None, f"{path} is held right now") for path in held]


def _journal_checks(opened: Opened) -> list[Check]:
    if problem := opened.state_trouble():
        return [Check("journal", False, f"{problem}; nothing can be decided until it can")]
    try:
        waiting = unsettled(opened)
    except SignoffError as failure:
        return [Check("journal", False, failure.message)]
    checks = [Check("journal", True, str(opened.journal.path))]
    for entry in reversed(waiting):
        what = f"entry {entry.id} ({entry.verb} {entry.subject})"
        if entry.state is State.OPEN:
            message = f"{what} did not end; the next changing command settles it"
        else:
            message = f"{what} is torn: {entry.message}"
        checks.append(Check("journal", False, message))
    return checks
