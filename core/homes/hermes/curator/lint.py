"""The advisory rules of newer agents on a skill's text and files; none ever blocks.

Read in the newest agent's source (specs, hermes-skills-curator 2.8). Rules that need its own lists
of words, or its tools, are not here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from core.homes.hermes.curator.heads import Head, line_at, words
from core.homes.hermes.curator.inventory import Skill
from core.homes.hermes.skills.rules import MAX_NEW_DESCRIPTION, SKILL_FILE, SUPPORT_FOLDERS
from core.model import Finding, Severity
from core.view import join

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_ISSUE = re.compile(r"#\d+")
#: So many issue numbers, so many to a thousand characters, are a diary.
_DIARY, _DENSE = 4, 0.5
_PLATFORMS = frozenset({"macos", "linux", "windows"})
#: A file of the package that the text names: below a support folder, with an ending.
_REFERENCE = re.compile(rf"(?<![\w/.-])(?:{'|'.join(sorted(SUPPORT_FOLDERS))})/[\w./-]*\.\w+")
#: Files below ``references`` that are too many to be looked through.
_SPRAWL = 60


def lint(skill: Skill, head: Head, files: Collection[str]) -> Iterator[Finding]:
    """Findings on one skill; ``files`` are the paths in its package."""
    at = join(skill.folder, SKILL_FILE)
    if not _NAME.fullmatch(skill.name):
        message = "The name may hold a-z, 0-9, dot, dash and underscore, a letter or digit first."
        yield _info("name_format", message, at)
    description = head.fields.get("description")
    if isinstance(description, str) and len(description) > MAX_NEW_DESCRIPTION:
        message = f"The description has {len(description)} characters; 60 are shown in prompts."
        yield _info("description_length", message, at)
    if not description:
        yield _info("no_description", "It has no description.", at)
    odd = [word for word in words(head.fields.get("platforms")) if word not in _PLATFORMS]
    if odd:
        message = f"platforms names {', '.join(odd)}; the agent knows macos, linux and windows."
        yield _info("platforms_value", message, at)
    if "when to use" not in head.text.lower():
        yield _info("missing_section", "It has no section that says when to use it.", at)
    issues = len(_ISSUE.findall(head.text))
    if issues >= _DIARY and issues / max(len(head.text), 1) * 1000 >= _DENSE:
        message = f"It names {issues} issues: more a diary than instructions."
        yield _info("incident_log_shape", message, at)
    missing: dict[str, int] = {}
    for found in _REFERENCE.finditer(head.text):
        if found[0] not in files:
            missing.setdefault(found[0], line_at(head.text, found.start()))
    for named, line in missing.items():
        message = f"Line {line} names {named}, which its package does not have."
        yield _info("dangling_reference", message, at)
    many = sum(path.startswith("references/") for path in files)
    if many > _SPRAWL:
        message = f"references holds {many} things: too many to be looked through."
        yield _info("references_sprawl", message, skill.folder)


def _info(code: str, message: str, at: str) -> Finding:
    return Finding(code, Severity.INFO, message, at)
