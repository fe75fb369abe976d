"""The reader of ``state.db``, where hermes-agent keeps its conversations. Nothing is written."""
