"""The queue of a vak home: skills its agent proposes, one Markdown file each (vak spec 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from core.homes.hermes.pending import Proposal, Queue, Unreadable
from core.homes.vak.home import AGENTS, PROPOSALS
from core.homes.vak.skill_text import SkillText, read_skill
from core.homes.vak.waiting import comes_back
from core.homes.vak.waiting import read as read_waiting
from core.model import NodeKind
from core.view import Source, View, join, name, parent, sha256

SUFFIX = ".md"
SKILLS = "skills"
PROMOTE = "promote"
#: The origin of what a session proposed.
SESSION = "session"
#: The first half of a day that no id of the queue begins with: ids are made since 2020.
_SINCE = 1_577_836_800.0
_NOT_A_FILE = {
    NodeKind.DIR: "a folder",
    NodeKind.LINK: "a link, which is not followed",
    NodeKind.OTHER: "a pipe, socket or device",
}


def read_queue(
    reads: View | Source,
    subsystem: str | None = None,
    *,
    ids: frozenset[str] | None = None,
    known: Mapping[str, Proposal] | None = None,
    waiting: str = "",
) -> Queue:
    """Everything that waits in every workspace, the oldest first; arguments as for a Hermes home.

    ``waiting`` is a folder outside the home with notes that wait (:mod:`core.homes.vak.waiting`).
    Where two workspaces hold the same id, it is called by its folder as well. What is no skill at
    all is unreadable; one that could not be installed as it is, is a proposal.
    """
    source = reads.source if isinstance(reads, View) else reads
    files, broken = _files(source) if subsystem in (None, SKILLS) else ([], [])
    times = Counter(name(file) for file in files)
    proposals: list[Proposal] = []
    unreadable: list[Unreadable] = []
    for file in files:
        stem = name(file).removesuffix(SUFFIX)
        key = stem if times[name(file)] == 1 else f"{name(parent(file))}/{stem}"
        if ids is not None and not key.startswith(tuple(ids)):
            continue
        entry = _read(source, file, key, known.get(file) if known else None)
        if isinstance(entry, Proposal):
            proposals.append(entry)
        elif entry is not None:
            unreadable.append(entry)
    for note in read_waiting(source, waiting, ids) if waiting and subsystem != SKILLS else ():
        if isinstance(note, Proposal):
            proposals.append(note)
        else:
            unreadable.append(note)
    proposals.sort(key=lambda p: (p.created_at is None, p.created_at or 0.0, p.id))
    unreadable.sort(key=lambda each: each.id)
    return Queue(tuple(proposals), tuple(unreadable), tuple(broken))


def project_of(proposal: Proposal | Unreadable) -> str:
    """The hash of the workspace a proposal was made in."""
    return name(parent(proposal.file))


def text_of(proposal: Proposal) -> str:
    """The whole file of a proposal."""
    return str(proposal.payload.get("content", ""))


def skill_of(proposal: Proposal) -> SkillText:
    """What its file says."""
    found = read_skill(text_of(proposal))
    return SkillText(None, None, None, "", None) if isinstance(found, str) else found


def _files(source: Source) -> tuple[list[str], list[tuple[str, str]]]:
    files: list[str] = []
    broken: list[tuple[str, str]] = []

    def listed(folder: str) -> list[str]:
        try:
            return sorted(source.names(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError) as problem:
            broken.append((folder, _reason(problem)))
            return []

    roots = ["", *(join(AGENTS, agent) for agent in listed(AGENTS))]
    for root in roots:
        queue = join(root, PROPOSALS)
        for project in listed(queue):
            folder = join(queue, project)
            files += [join(folder, each) for each in listed(folder) if _is_draft(each)]
    return files, broken


def _is_draft(called: str) -> bool:
    # A name that is nothing but the suffix has none, for the agent too.
    return called.endswith(SUFFIX) and called != SUFFIX


def _read(
    source: Source, file: str, key: str, known: Proposal | None
) -> Proposal | Unreadable | None:
    try:
        node = source.node(file, data=True)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        return Unreadable(key, file, SKILLS, _reason(problem), by_hand=True)
    if node is None:
        return None
    if node.kind is not NodeKind.FILE:
        by_hand = not comes_back(source, file, node.kind)
        return Unreadable(key, file, SKILLS, _NOT_A_FILE[node.kind], by_hand)
    digest = sha256(node.data)
    if known is not None and (known.sha256, known.mode, known.id) == (digest, node.mode, key):
        return known
    try:
        text = node.data.decode("utf-8")
    except UnicodeDecodeError:
        return Unreadable(key, file, SKILLS, "unreadable draft: it is no UTF-8 text")
    skill = read_skill(text)
    if isinstance(skill, str):
        return Unreadable(key, file, SKILLS, f"unreadable draft: {skill}")
    return Proposal(
        id=key,
        file=file,
        subsystem=SKILLS,
        action=PROMOTE,
        target=skill.name or "",
        summary=skill.description or "no description",
        origin=(skill.footer.source or SESSION) if skill.footer else "",
        created_at=_made(name(file), skill),
        payload={"name": skill.name or "", "content": text},
        raw={},
        sha256=digest,
        mode=node.mode,
        name_ok=True,
    )


def _made(file: str, skill: SkillText) -> float | None:
    """When it was proposed: by its id, which begins with milliseconds, else by its footer."""
    try:
        by_id = int(file[:12], 16) / 1_000
    except ValueError:
        by_id = 0.0
    if by_id >= _SINCE:
        return by_id
    return skill.footer.at if skill.footer else None


def _reason(problem: OSError | ValueError) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    return "a name the system does not allow"
