"""Skills that are not the home's own: of plugins, and of projects a person trusts. Read-only.

hermes-agent 0.19.0 loads a plugin's skills only by their full name; newer agents also take
``<repo>/.hermes/skills`` and ``<repo>/.agents/skills`` of the folders in
``skills.trusted_project_dirs``. The curator never touches either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.homes.hermes.config import Config, read_section
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.tree import list_skills
from core.model import NodeKind
from core.view import View, join

PLUGINS = "plugins"
_IN_PROJECT = (".hermes/skills", ".agents/skills")


@dataclass(frozen=True, slots=True)
class Borrowed:
    """One such skill. ``origin`` is ``plugin`` or ``project``; ``folder`` as a view names it."""

    name: str
    folder: str
    origin: str


def read_borrowed(
    view: View, rules: Rules, environ: Mapping[str, str], managed: Path | None = None
) -> tuple[Borrowed, ...]:
    """Every skill below the home's plugins and the trusted projects; not recorded."""
    quiet = view.quiet()
    roots = {PLUGINS: "plugin"} if quiet.kind(PLUGINS) is NodeKind.DIR else {}
    section = read_section(quiet, "skills", environ, managed).values
    trusted = section.get("trusted_project_dirs")
    if rules is Rules.NEWEST and section.get("project_discovery", True):
        for entry in trusted if isinstance(trusted, list) else []:
            for inside in _IN_PROJECT:
                path = quiet.source.relative(join(_absolute(str(entry), environ), inside))
                if path.startswith("/") and quiet.kind(path) is NodeKind.DIR:
                    roots[path] = "project"
    if not roots:
        return ()
    found = list_skills(quiet, Config(external_dirs=tuple(roots)), rules)
    return tuple(
        Borrowed(each.declared, each.folder, roots[each.root])
        for each in found
        if each.root in roots
    )


def _absolute(path: str, environ: Mapping[str, str]) -> str:
    """``path`` with ``~`` followed; a relative one is none of ours and leads to nothing."""
    home = environ.get("HOME", "").rstrip("/")
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return path if path.startswith("/") else "/"
