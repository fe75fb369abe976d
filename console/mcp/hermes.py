"""The tools on a Hermes-shaped home: its past is searched, everything else is proposed."""

from __future__ import annotations

import json
from typing import Any

from console.mcp.answers import Answer, of_json, refused
from console.mcp.arguments import Memory, ProposeSkill, Remember, SessionSearch
from console.mcp.asking import Asker
from core.desk.opening import Opened
from core.desk.staging import Staged, stage_memory, stage_skill
from core.homes.hermes.recall.profiles import Profiles
from core.homes.hermes.recall.tool import recall

_WAITS = "It waits for a person to approve it; nothing is saved until then."
_LISTED = 60


def session_search(opened: Opened, call: SessionSearch, by: Asker) -> Answer:
    """What the agent's own tool answers."""
    found = opened.found
    answer = recall(
        found.home,
        call.given(),
        rules=opened.home_rules(),
        now=opened.clock(),
        profiles=Profiles(found.root, found.profile),
        zone=None,
    )
    return of_json(answer) if answer["success"] else refused(str(answer["error"]))


def memory(opened: Opened, call: Memory, by: Asker) -> Answer:
    """Stage a change of a memory file."""
    given = call.given()
    if call.operations:
        if call.action is not None:
            return refused("Give either an action or operations, not both.")
        given["operations"] = [each.given() for each in call.operations]
    elif call.action is None:
        return refused("Give an action: add, replace, remove or patch, or operations.")
    return told(stage_memory(opened, {"target": call.target, **given}, by.caller))


def remember(opened: Opened, call: Remember, by: Asker) -> Answer:
    """Stage one note as a new entry."""
    target = "user" if call.scope == "profile" else "memory"
    payload = {"action": "add", "target": target, "content": call.note}
    return told(stage_memory(opened, payload, by.caller))


def propose_skill(opened: Opened, call: ProposeSkill, by: Asker) -> Answer:
    """Stage a change of a skill."""
    given = call.given()
    description, instructions = given.pop("description", None), given.pop("instructions", None)
    if instructions is not None and call.content is None:
        if not description:
            return refused("Instructions need a description that says when to use the skill.")
        given["content"] = skill_text(call.name, description, instructions)
    elif description is not None:
        return refused("A description belongs into content, or beside instructions.")
    return told(stage_skill(opened, {**given, "action": call.action}, by.caller))


def skill_text(name: str, description: str, instructions: str) -> str:
    """A SKILL.md of its parts."""
    # A JSON text on one line is the same text in YAML, whatever it holds.
    told = json.dumps(" ".join(description.split()), ensure_ascii=False)
    return f"---\nname: {name}\ndescription: {told}\n---\n\n{instructions.strip()}\n"


def told(staged: Staged) -> Answer:
    """What became of a proposal, in words."""
    if staged.id is None:
        if staged.category == "noop":
            return of_json({"success": True, "staged": False, "message": staged.message})
        more: dict[str, Any] | None = None
        if staged.entries:
            more = {"current_entries": list(staged.entries[:_LISTED])}
        why = staged.message if staged.message.endswith((".", "!", "?")) else f"{staged.message}."
        return refused(f"{why} Nothing was staged ({staged.category}).", more)
    answer = {
        "success": True,
        "staged": True,
        "pending_id": staged.id,
        "message": f"{staged.message} {_WAITS}" if staged.already else _WAITS,
    }
    if not staged.already:
        answer["would"] = {
            "status": staged.status,
            "category": staged.category,
            "message": staged.message,
        }
    return of_json(answer, record=staged.id)
