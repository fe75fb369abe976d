"""The skills tree: look-up, rules, the agent's replay, usage rows, signoff's guards."""
