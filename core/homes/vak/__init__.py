"""A vak home: ledgers of conversations, notes, skill proposals (vak 2.0 and its later layouts)."""
