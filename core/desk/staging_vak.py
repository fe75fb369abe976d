"""What an agent proposes on a vak home: a skill in its queue, a note beside the home."""

from __future__ import annotations

import os
from pathlib import Path

from core.desk.opening import Opened
from core.desk.staging import Slip, Staged, StagingError, new_id, put
from core.homes.hermes import staging
from core.homes.hermes.pending import Proposal
from core.homes.hermes.staging import Caller
from core.homes.vak import proposing, waiting
from core.homes.vak.fnv import workspace_hash
from core.homes.vak.home import PROPOSALS, project_of, workspaces
from core.homes.vak.queue import SKILLS, skill_of, text_of
from core.homes.vak.skill_text import SkillText, read_skill
from core.homes.vak.waiting import PROFILE
from core.view import join


def stage_note(
    opened: Opened,
    note: str,
    caller: Caller,
    *,
    kind: str,
    tag: str,
    scope: str,
    workspace: str | None,
) -> Staged:
    """Let a note wait in signoff's own folder; approved, it is the workspace's or the profile's.

    Raises as :func:`core.desk.staging.put`, also where it is not clear which workspace is meant.
    """
    project = "" if scope == PROFILE else workspace_of(opened, workspace)
    session_id = proposing.session_of(caller)
    prepared = waiting.prepared(
        note, kind=kind, tag=tag, scope=scope, project=project, session_id=session_id
    )
    at = opened.clock().timestamp()
    slip = Slip(
        waiting.SUBSYSTEM,
        Path(opened.waiting_folder()) / waiting.SUBSYSTEM,
        waiting.SUFFIX,
        new_id,
        lambda token: staging.record(prepared, token, at, caller),
        lambda other: other.payload == prepared.payload,
        prepared.summary,
    )
    return put(opened, slip)


def stage_skill(
    opened: Opened,
    name: str,
    description: str,
    instructions: str,
    caller: Caller,
    *,
    workspace: str | None,
) -> Staged:
    """Put a skill into the home's own queue. Raises as :func:`stage_note`."""
    project = workspace_of(opened, workspace)
    now = opened.clock()

    def text(token: str) -> str:
        return proposing.skill_file(name, description, instructions, token, now, caller)

    mine = _said(read_skill(text("")))
    slip = Slip(
        SKILLS,
        opened.found.home / join(PROPOSALS, project),
        ".md",
        lambda: proposing.new_id(now),
        lambda token: text(token).encode(),
        lambda other: _says(other, mine),
        f"propose the skill {name}",
    )
    return put(opened, slip)


def workspace_of(opened: Opened, named: str | None) -> str:
    """The hash of the workspace meant: ``named``, else the one the server was started in.

    Raises :class:`StagingError` for one that the home does not know.
    """
    known = [each.project for each in workspaces(opened.found.home)]
    if named:
        project = project_of(opened.found.home, named)
        if project in known:
            return project
        raise StagingError(f"The home knows no workspace {named}", "Name one of its workspaces")
    here = opened.environ.get("PWD") or os.getcwd()
    if workspace_hash(here) in known:
        return workspace_hash(here)
    if len(known) == 1:
        return known[0]
    raise StagingError("It is not clear which workspace is meant", "Name its path in workspace")


def _says(other: Proposal, mine: str) -> bool:
    return bool(mine) and bool(text_of(other)) and _said(skill_of(other)) == mine


def _said(skill: SkillText | str) -> str:
    """Name and instructions of a skill, ``""`` for what is none."""
    return "" if isinstance(skill, str) else skill.screened.strip()
