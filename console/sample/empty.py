"""The empty home of ``signoff init``: Hermes-shaped, under the newest rules."""

from __future__ import annotations

from pathlib import Path

from console.sample.folder import fill

#: Config version 44 is where the agent's curator thresholds became 14 and 30 days.
CONFIG = b"""\
# A home made by signoff. The keys are those of Hermes Agent, which can use this folder as it is.
_config_version: 44

memory:
  memory_enabled: true
  user_profile_enabled: true
  # Every change to MEMORY.md and USER.md waits for a person.
  write_approval: true
  # Budgets in characters, delimiters between entries included.
  memory_char_limit: 2200
  user_char_limit: 1375

skills:
  # Every change to a skill waits for a person.
  write_approval: true

curator:
  # Days without use before a skill is stale, and before it is archived.
  stale_after_days: 14
  archive_after_days: 30
"""

FOLDERS = ("memories", "pending/memory", "pending/skills", "skills")


def write_empty(into: Path) -> Path:
    """Make an empty home in a new or empty folder: config, and the folders of every store.

    Both gates are on, limits are 2,200 and 1,375 characters. Returns ``into``; raises what
    :func:`console.sample.folder.fill` raises.
    """
    return fill(into, {"config.yaml": CONFIG}, FOLDERS)
