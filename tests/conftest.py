"""What every test stands on: nothing of the person's own terminal or umask, the same examples every
time, and no commit that speaks of what it did as of something still to come."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from core import commit
from core.tense import in_past

for _name in ("NO_COLOR", "TEXTUAL_THEME", "FORCE_COLOR", "SIGNOFF_DEBUG"):
    os.environ.pop(_name, None)
# Modes of files are compared.
os.umask(0o022)

# No example fails for being slow; ``--hypothesis-profile=default`` looks for new ones.
settings.register_profile(
    "suite",
    settings.get_profile("ci"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("suite")

#: States that a plan leads to, deeds told in the past from the first, and words of the tests.
_AS_PLANNED = re.compile(
    r".* is (?:unpinned:|pinned:|replaced by|active again) |.* already holds this text\.|The curator "
    r"|A run of the curator: |retired |\d+ notes? merged |Removed: |Dropped |Edited: |Cleaned: "
    r"|Moved: |Only the fragment |Now an edit |There already$|[a-z]+$"
)


@pytest.fixture(scope="session", autouse=True)
def _every_deed_is_known() -> Iterator[None]:
    """Fails a commit whose sentence has no verb that :mod:`core.tense` lists."""

    def told(message: str) -> str:
        said = in_past(message)
        assert said != message or _AS_PLANNED.match(message), f"core.tense: {message}"
        return said

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commit, "in_past", told)
        yield
