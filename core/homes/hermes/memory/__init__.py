"""MEMORY.md and USER.md: the format, the agent's replay, signoff's guards."""
