"""Whether the agent is offered a skill at all, and what it would still miss.

hermes-agent 0.19.0, ``agent/skill_utils.py``: switched off, another platform, an environment that
is not there. Toolsets are known only to the running agent; variables and commands do not hide a
skill: these are findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from core.homes.hermes.curator.heads import Head, nested, words
from core.homes.hermes.curator.settings import Offering
from core.model import Finding, Severity

_PLATFORMS = {"macos": "darwin", "windows": "win32"}
_ENVIRONMENTS = frozenset({"kanban", "docker", "s6"})
#: The fields of a head that say where a skill is offered, and what it needs.
_GATES = frozenset({"platforms", "environments"})
_NEEDS = frozenset({"metadata", "prerequisites", "required_environment_variables"})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine as skills ask about it. ``platform`` as ``sys.platform`` says it.

    ``environments`` are those of ``kanban``, ``docker``, ``s6`` that are there.
    """

    platform: str
    environments: frozenset[str] = frozenset()
    variables: Mapping[str, str] | None = None
    has_command: Callable[[str], bool] | None = None


def not_offered(name: str, head: Head, offering: Offering, around: Surroundings) -> str:
    """Why the agent does not list the skill, ``""`` if it does."""
    if name in offering.disabled:
        return "disabled: skills.disabled in config.yaml names it"
    if _GATES.isdisjoint(head.fields):
        return ""
    platforms = words(head.fields.get("platforms"))
    if platforms and not any(
        around.platform.startswith(_PLATFORMS.get(each, each)) for each in platforms
    ):
        return f"platform: it is for {', '.join(platforms)}"
    environments = words(head.fields.get("environments"))
    if environments and all(
        each in _ENVIRONMENTS and each not in around.environments for each in environments
    ):
        return f"environment: it is for {', '.join(environments)}"
    return ""


def needs(
    folder: str, name: str, head: Head, offering: Offering, around: Surroundings
) -> Iterator[Finding]:
    """What hides the skill elsewhere, or makes it fail once it is loaded."""
    for platform, names in (offering.by_platform or {}).items():
        if name in names:
            yield _info("disabled_on_platform", f"It is switched off on {platform}.", folder)
    if _NEEDS.isdisjoint(head.fields):
        return
    hermes = nested(head.fields, "metadata", "hermes")
    if isinstance(hermes, dict):
        for key, code, said in (
            ("requires_toolsets", "needs_toolset", "It is hidden while the toolset {} is off."),
            ("requires_tools", "needs_tool", "It is hidden while the tool {} is missing."),
            ("fallback_for_toolsets", "falls_back", "It is hidden while the toolset {} is on."),
            ("fallback_for_tools", "falls_back", "It is hidden while the tool {} is there."),
        ):
            for word in words(hermes.get(key)):
                yield _info(code, said.format(word), folder)
    for variable in _variables(head):
        if around.variables is not None and not around.variables.get(variable):
            message = f"It needs the variable {variable}, which is not set here."
            yield _info("needs_variable", message, folder)
    for command in _texts(nested(head.fields, "prerequisites", "commands")):
        if around.has_command is not None and not around.has_command(command):
            message = f"It needs the command {command}, which is not found here."
            yield _info("needs_command", message, folder)


def _variables(head: Head) -> tuple[str, ...]:
    found = list(_texts(nested(head.fields, "prerequisites", "env_vars")))
    required = head.fields.get("required_environment_variables")
    for item in required if isinstance(required, list) else []:
        value = item.get("name") if isinstance(item, dict) else item
        if isinstance(value, str):
            found.append(value)
    return tuple(dict.fromkeys(found))


def _texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())


def _info(code: str, message: str, folder: str) -> Finding:
    return Finding(code, Severity.INFO, message, folder)
