"""Who else refers to a skill: scheduled jobs, and the bundles that load several at once.

hermes-agent 0.19.0, ``cron/jobs.py`` and ``agent/skill_bundles.py``. The agent protects the exact
names that jobs list, and nothing when it cannot read its jobs. Here a job also protects what it
names by folder, by ``category/name``, by ``category:name`` or through a bundle, and jobs that
cannot be read protect everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.homes.hermes.yaml_text import parse
from core.view import View, join, name

JOBS = "cron/jobs.json"
BUNDLES = "skill-bundles"


@dataclass(frozen=True, slots=True)
class Job:
    """One scheduled job and the skills it names, as it names them; paused ones count.

    ``reach`` are all words it calls skills by, bundles unfolded.
    """

    id: str
    name: str
    enabled: bool
    skills: tuple[str, ...]
    reach: frozenset[str] = frozenset()

    @property
    def shown(self) -> str:
        """How people know it."""
        return self.name or self.id


@dataclass(frozen=True, slots=True)
class Bundle:
    """One bundle, the skills it loads, and the words that call it."""

    name: str
    path: str
    calls: frozenset[str]
    skills: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class References:
    """Every job and bundle; ``problem`` says why the jobs are not known."""

    jobs: tuple[Job, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    problem: str = ""

    @property
    def exact(self) -> frozenset[str]:
        """The names that the agent itself protects."""
        return frozenset(word for job in self.jobs for word in job.skills)

    def jobs_of(self, words: frozenset[str]) -> tuple[Job, ...]:
        """The jobs that use the skill which goes by any of ``words``, bundles unfolded."""
        return tuple([job for job in self.jobs if not words.isdisjoint(job.reach)])

    def bundles_of(self, words: frozenset[str]) -> tuple[Bundle, ...]:
        """The bundles that load the skill which goes by any of ``words``."""
        return tuple([found for found in self.bundles if _plain(found.skills) & words])


def read_references(view: View) -> References:
    """Jobs and bundles as they stand; the jobs' file is recorded as read."""
    jobs, problem = _jobs(view)
    bundles = _bundles(view)
    reaching = tuple(replace(job, reach=_reach(job.skills, bundles)) for job in jobs)
    return References(reaching, bundles, problem)


def words_for(declared: str, folder: str, root: str) -> frozenset[str]:
    """Everything a job may call a skill by: its name, its folder's, its path below the root."""
    below = folder[len(root) + 1 :]
    return frozenset({declared, name(folder), below, below.replace("/", ":"), folder})


def load_jobs(data: bytes) -> Any:
    """The jobs' file as the agent loads it. Raises ``ValueError`` and ``RecursionError``."""
    text = data.decode("utf-8-sig")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(text, strict=False)


def jobs_in(document: Any) -> list[Any] | None:
    """The list of jobs in a loaded file (an object with ``jobs``, or the bare list)."""
    jobs = document.get("jobs", []) if isinstance(document, dict) else document
    return jobs if isinstance(jobs, list) else None


def _jobs(view: View) -> tuple[tuple[Job, ...], str]:
    reading = view.read(JOBS)
    if reading.absent:
        return (), ""
    if reading.data is None:
        return (), f"{JOBS} cannot be read: {reading.reason}"
    try:
        jobs = jobs_in(load_jobs(reading.data))
    except (ValueError, RecursionError):
        return (), f"{JOBS} is not JSON"
    if jobs is None:
        return (), f"{JOBS} holds no list of jobs"
    found = []
    for job in jobs:
        if isinstance(job, dict):
            called = _called(job)
            if called is None:
                return (), f"{JOBS} names the skills of a job in a way that cannot be read"
            enabled = bool(job.get("enabled", True))
            found.append(Job(_text(job.get("id")), _text(job.get("name")), enabled, called))
    return tuple(found), ""


def _called(job: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The skills of a job: ``skills`` unless it is null, else ``skill``; slashes in front go."""
    skills, skill = job.get("skills"), job.get("skill")
    if skills is None:
        items: Iterable[Any] = [skill] if skill else []
    elif isinstance(skills, str):
        items = [skills]
    elif isinstance(skills, list | dict):
        items = skills
    else:
        return None
    words = (str(item or "").strip().lstrip("/") for item in items)
    return tuple(dict.fromkeys(word for word in words if word))


def _bundles(view: View) -> tuple[Bundle, ...]:
    quiet = view.quiet()
    found = []
    for file in sorted(quiet.names(BUNDLES)):
        path = join(BUNDLES, file)
        if not file.endswith((".yaml", ".yml")):
            continue
        value = parse(quiet.read(path).data or b"").value
        skills = value.get("skills") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(skills, list):
            continue
        called = str(value.get("name") or file.rpartition(".")[0]).strip()
        words = tuple(text for item in skills if (text := str(item).strip()))
        found.append(Bundle(called, path, frozenset({called, _slug(called)}), words))
    return tuple(found)


def _reach(called: Iterable[str], bundles: Iterable[Bundle]) -> frozenset[str]:
    words = _plain(called)
    return words.union(*(_plain(found.skills) for found in bundles if found.calls & words))


def _plain(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.strip().lstrip("/") for word in words)


def _slug(called: str) -> str:
    """The slash command of a bundle: lower case, blanks as hyphens, other signs gone."""
    hyphened = re.sub(r"[ _]+", "-", called.lower())
    return re.sub(r"-+", "-", re.sub(r"[^a-z0-9-]", "", hyphened)).strip("-")


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()
