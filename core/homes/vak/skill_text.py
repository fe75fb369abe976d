"""A skill's Markdown as vak reads it: the header between fences, the body, the footer (spec 8)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.homes.vak.times import parse_time, seconds
from core.homes.vak.whitespace import trim

LONGEST_NAME, LONGEST_DESCRIPTION = 64, 1_024
_FENCE, _COMMENT = "---", "<!--"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FOOTER = re.compile(
    r"<!-- proposed-by: *(?P<session>\S*) at (?P<at>\S+?)"
    r"(?:; proposal id (?P<id>[^;\s]*))?(?:; source: (?P<source>[^;\s]*))? -->"
)


@dataclass(frozen=True, slots=True)
class Footer:
    """Who proposed it and when (seconds since 1970); ``source`` is ``reflection`` or empty."""

    session_id: str
    at: float | None
    source: str


@dataclass(frozen=True, slots=True)
class SkillText:
    """A skill as it is written. Absent header lines are ``None``."""

    name: str | None
    description: str | None
    duplicate_of: str | None
    body: str
    footer: Footer | None

    @property
    def screened(self) -> str:
        """What is compared with other skills: the name and the body without comments."""
        return f"{self.name or ''}\n{self.body.partition(_COMMENT)[0]}"


def read_skill(text: str) -> SkillText | str:
    """What ``text`` says, or why it is no skill."""
    if not text.startswith(_FENCE):
        return "it does not begin with ---"
    header, closed, body = text[len(_FENCE) :].partition(f"\n{_FENCE}")
    if not closed:
        return "its header is not closed with ---"
    values: dict[str, str] = {}
    for line in header.split("\n"):
        key, colon, value = line.partition(":")
        if colon:
            values.setdefault(trim(key), _unquoted(trim(value)))
    return SkillText(
        values.get("name"),
        values.get("description"),
        values.get("duplicate-of"),
        body.partition("\n")[2],
        _footer(text),
    )


def name_problem(name: str | None) -> str:
    """Why no skill can be called so, ``""`` if one can."""
    if not name:
        return "It has no name"
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return (
            f"No skill can be called {name!r}: lower-case letters, digits and single hyphens,"
            f" at most {LONGEST_NAME}"
        )
    return ""


def description_problem(description: str | None) -> str:
    """What is wrong with a description, ``""`` for nothing."""
    if not trim(description or ""):
        return "It has no description"
    if len(description or "") > LONGEST_DESCRIPTION:
        return f"Its description is longer than {LONGEST_DESCRIPTION:,} characters"
    return ""


def renamed(text: str, name: str) -> str:
    """``text`` with another name in its header and nothing else changed."""
    header, closed, body = text.partition(f"\n{_FENCE}")
    lines = header.split("\n")
    for place, line in enumerate(lines):
        key, colon, _ = line.partition(":")
        if colon and trim(key) == "name":
            end = "\r" if line.endswith("\r") else ""
            lines[place] = f'{key}: "{name}"{end}'
            break
    else:
        lines.insert(1, f'name: "{name}"')
    return "\n".join(lines) + closed + body


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value.strip('"')


def _footer(text: str) -> Footer | None:
    footers = list(_FOOTER.finditer(text))
    if not footers:
        return None
    found = footers[-1]
    at = parse_time(found["at"])
    return Footer(found["session"], None if at is None else seconds(at), found["source"] or "")
