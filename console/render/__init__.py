"""Records to styled lines: pure functions, no app, no disk."""
