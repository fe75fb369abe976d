"""The ``[memory]`` settings of a vak home: what its agent may do by itself (vak spec 10)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from core.view import View

#: Where they may stand; the first that is there counts.
FILES = ("config.toml", ".vak/config.toml")
#: The switches with their defaults.
SWITCHES = {
    "search_enabled": True,
    "write_enabled": True,
    "skill_proposals": True,
    "reflection": False,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the agent may do: search its past, write notes, propose skills, reflect.

    ``file`` is where they stand, ``""`` for nowhere; ``warnings`` are sentences.
    """

    search_enabled: bool = True
    write_enabled: bool = True
    skill_proposals: bool = True
    reflection: bool = False
    file: str = ""
    warnings: tuple[str, ...] = ()


def read_settings(view: View) -> Settings:
    """The settings in force; what is odd about them is in ``warnings``, never an exception."""
    for file in FILES:
        reading = view.read(file)
        if reading.absent:
            continue
        if reading.data is None:
            return Settings(file=file, warnings=(f"{file} cannot be read: {reading.reason}",))
        try:
            found = tomllib.loads(reading.data.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
            said = str(problem).splitlines()[0] if str(problem) else "it is no TOML"
            return Settings(file=file, warnings=(f"{file} cannot be used: {said}",))
        return _read(found.get("memory", {}), file)
    return Settings()


def _read(section: object, file: str) -> Settings:
    if not isinstance(section, dict):
        return Settings(file=file, warnings=(f"{file}: [memory] is no table",))
    values, warnings = dict(SWITCHES), []
    for key, value in section.items():
        if key not in SWITCHES:
            warnings.append(f"{file}: [memory] has no key {key}")
        elif not isinstance(value, bool):
            warnings.append(f"{file}: {key} is neither true nor false")
        else:
            values[key] = value
    return Settings(
        values["search_enabled"],
        values["write_enabled"],
        values["skill_proposals"],
        values["reflection"],
        file,
        tuple(warnings),
    )
