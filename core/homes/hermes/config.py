"""The keys of a Hermes home's ``config.yaml`` that decide how a proposal lands."""

from __future__ import annotations

from dataclasses import dataclass

#: hermes-agent 0.19.0: budgets in code points when the config names none that ``int()`` takes.
MEMORY_LIMIT = 2200
USER_LIMIT = 1375


@dataclass(frozen=True, slots=True)
class Gate:
    """One write gate: whether it stages, which key said so, and why in plain words.

    ``source`` is where the answer came from: ``config``, ``default``, ``managed`` or ``legacy``.
    """

    on: bool
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Config:
    """What a home's config says, defaults filled in. ``version`` is ``_config_version`` (0: none).

    ``external_dirs`` and ``create_dir`` are paths as a view names them: relative inside the home,
    absolute outside.
    """

    memory_limit: int = MEMORY_LIMIT
    user_limit: int = USER_LIMIT
    memory_enabled: bool = True
    user_profile_enabled: bool = True
    memory_gate: Gate = Gate(False, "default", "memory.write_approval is not set")
    skills_gate: Gate = Gate(False, "default", "skills.write_approval is not set")
    guard_agent_created: bool = False
    external_dirs: tuple[str, ...] = ()
    create_dir: str | None = None
    provider: str = ""
    version: int = 0
