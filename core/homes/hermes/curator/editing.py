"""A person's own hand on a skill's files: judged as the agent would judge the text, then written.

hermes-agent 0.19.0 lets its own edits slip past the frontmatter check when they name ``SKILL.md``
as a file, and drops a script's executable bit; neither happens here.
"""

from __future__ import annotations

from core.homes.hermes.curator.acting import locks, meant
from core.homes.hermes.curator.archive import cache
from core.homes.hermes.curator.inventory import Terms, read_inventory
from core.homes.hermes.skills.rules import (
    SKILL_FILE,
    RefusedError,
    check_file_path,
    check_size,
    check_skill_text,
    encode,
)
from core.model import Change, Finding, Node, NodeKind, Outcome, Severity
from core.text import findings as hidden
from core.view import View, join


def plan_edit(view: View, terms: Terms, token: str, text: str, path: str = SKILL_FILE) -> Outcome:
    """Put ``text`` into a file of the skill that ``token`` names; its mode stays.

    Only files that are there are edited. Categories: ``ok``, ``noop``, ``skill_not_found``,
    ``file_not_found``, ``external_read_only``, and the agent's own refusals of a text.
    """
    inventory = read_inventory(view, terms.config, terms.rules)
    skill = meant(view, terms, inventory, token)
    if isinstance(skill, Outcome):
        return skill
    if skill.provenance == "external":
        return Outcome("external_read_only", f"{skill.folder} lies in an external folder.")
    try:
        inside = check_file_path(path)
        if inside == SKILL_FILE:
            check_skill_text(text, rules=terms.rules)
        check_size(text, inside)
        data = encode(text, inside)
    except RefusedError as problem:
        return Outcome(problem.category, problem.message)
    full = join(skill.folder, inside)
    reading = view.read(full)
    if reading.data is None:
        category = "file_not_found" if reading.absent else "unreadable_target"
        return Outcome(category, f"{full} cannot be read: {reading.reason or 'it is not there'}.")
    before = Node(NodeKind.FILE, reading.data, reading.mode)
    claims = frozenset({f"file:{full}"})
    if data == reading.data:
        return Outcome("noop", f"{full} says so already.", claims=claims)
    change = Change(full, before, Node(NodeKind.FILE, data, reading.mode))
    found = list(hidden(text, full))
    if skill.provenance in ("hub", "bundled"):
        whence = "from the hub" if skill.provenance == "hub" else "bundled with the agent"
        message = f"It is {whence}: an update leaves a changed skill alone."
        found.append(Finding("not_own", Severity.WARNING, message, skill.folder))
    return Outcome(
        "ok",
        f"Changes {full}.",
        (change, *cache(view)),
        tuple(found),
        claims=claims,
        locks=locks(view, [skill.folder]),
    )
