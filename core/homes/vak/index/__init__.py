"""An index of all ledgers in signoff's own state: numbers and words, no text, never the truth.

A ledger counts as indexed while it is the very file that was read: same place, size, times. All
others are read anew, so that an answer is the scan's answer whatever the index knows.
"""

#: The folder of people's index within this one.
PEOPLE = "people"
