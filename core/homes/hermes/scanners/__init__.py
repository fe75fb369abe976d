"""What the agent's own scanners refuse, and where in a text."""
