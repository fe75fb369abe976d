"""What every test stands on: no colour or theme of the person's own terminal."""

from __future__ import annotations

import os

for _name in ("NO_COLOR", "TEXTUAL_THEME", "FORCE_COLOR", "SIGNOFF_DEBUG"):
    os.environ.pop(_name, None)
