"""What newer agents advise on a skill, and what is left over around the skills."""

from __future__ import annotations

from core.homes.hermes.curator.heads import read_head
from core.homes.hermes.curator.health import of_home
from core.homes.hermes.curator.inventory import read_inventory
from core.homes.hermes.curator.lint import lint
from core.homes.hermes.curator.origins import suppressed
from core.homes.hermes.curator.packages import read_packages
from core.homes.hermes.curator.state import read_state
from tests.core.hermes.curator.homes import Files, sample, small, terms, view
from tests.core.hermes.skill_homes import skill


def test_the_advisory_lint_only_advises() -> None:
    """Spec 2.8."""
    text = skill("Probe Two", "Fixed #1, #2, #3 and #4.\n").replace(
        b"Use when testing.",
        b"A description that goes on and on far past sixty characters, really.",
    )
    seen = view(small(**{"skills/ops/probe/SKILL.md": text}))
    judged = terms(seen)
    (each,) = read_inventory(seen, judged.config, judged.rules).skills
    found = [finding.code for finding in lint(each, read_head(seen, each.folder), {"SKILL.md"})]
    assert found == ["name_format", "description_length", "missing_section", "incident_log_shape"]


def found(files: Files, inside: set[str]) -> dict[str, str]:
    seen = view(files)
    judged = terms(seen)
    (each,) = read_inventory(seen, judged.config, judged.rules).skills
    said = lint(each, read_head(seen, each.folder), inside)
    return {finding.code: finding.message for finding in said}


def test_files_that_the_text_names_must_be_there() -> None:
    """Spec 2.8, ``dangling-reference``: below a support folder, and of this package."""
    body = (
        "# When to use\n\nSee [it](references/a.md), `scripts/run.sh`, references/gone.md and"
        " other/references/b.md, https://x.example/assets/c.png, templates/<name>.md.\n"
    )
    files = small(**{"skills/ops/probe/SKILL.md": skill("probe", body)})
    said = found(files, {"SKILL.md", "references/a.md", "scripts/run.sh"})
    message = "Line 8 names references/gone.md, which its package does not have."
    assert said == {"dangling_reference": message}


def test_platforms_that_the_agent_does_not_know_and_references_without_end() -> None:
    text = skill("probe", "# When to use\n").replace(
        b"description:", b"platforms: [linux, beos]\ndescription:"
    )
    files = small(**{"skills/ops/probe/SKILL.md": text})
    many = {f"references/{number}.md" for number in range(61)}
    said = found(files, many)
    assert set(said) == {"platforms_value", "references_sprawl"}
    assert said["platforms_value"].startswith("platforms names beos;")
    assert "references_sprawl" not in found(files, set(list(many)[:60]))


def test_a_suppressed_name_without_a_copy_is_left_over() -> None:
    """Spec 7.10; ``stock-ticker`` of the sample has its copy."""
    files = sample(**{"skills/.curator_suppressed": b"# why\nstock-ticker\nlost-one\n"})
    seen = view(files)
    judged = terms(seen)
    inventory = read_inventory(seen, judged.config, judged.rules)
    home = of_home(inventory, read_packages(seen), (), read_state(seen), suppressed(seen))
    assert [each.message for each in home if each.code == "suppressed_without_copy"] == [
        "An update does not bring lost-one again, and the archive holds no copy of it."
    ]
