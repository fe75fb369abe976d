"""The agent's own tool ``session_search``, answer for answer, under both rules.

Sources: hermes-agent 0.19.0, executed; the newer agent (0.21, schema 30), from its description
(specs, hermes-sessions 2, 3, 7 and 8). Where this differs on purpose: :mod:`.deviations`.
"""
