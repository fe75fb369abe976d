"""``python -m console`` is ``signoff``."""

from console.cli.main import main

main()
