"""What a plan says it does, said of one that was carried out.

Planners speak in the present tense: their sentence is shown as a forecast. Once the plan is
written the same sentence stands in the receipt and the journal, where the present tense would
read like a question or like something that is still to come. What they say of their deeds is
listed here, all of it; the tests fail for a plan that is written and says none of these.
"""

from __future__ import annotations

import re

#: How a sentence begins, up to its verb; the first that fits holds.
_DEEDS = {
    "Adds ": "Added ",
    "Archives ": "Archived ",
    "Changes ": "Changed ",
    "Creates ": "Created ",
    "Deletes ": "Deleted ",
    "Makes ": "Made ",
    "Overwrites ": "Overwrote ",
    "Puts ": "Put ",
    "Removes ": "Removed ",
    "Replaces ": "Replaced ",
    "Restores ": "Restored ",
    "Rewrites ": "Rewrote ",
    r"(.*?) is (?=(?:added|amended|archived|changed|forgotten)\b)": r"\1 was ",
    r"(.*?) is (?=(?:installed|mended|refused|taken back|turned)\b)": r"\1 was ",
    r"(.*?) becomes (?=number)": r"\1 became ",
    r"(.*?) gets (?=entry)": r"\1 got ",
    r"(.*, so entry \d+) goes": r"\1 went",
    r"(.*) would stay as it is": r"\1 stayed as it was",
}
#: What goes on behind the first verb.
_FURTHER = {
    r", (add|remov|replac)e?s(?= \d+ entr)": r", \1ed",
    r" and restores(?= \S+ in its place)": " and restored",
}
_HELD = re.compile(r"\b([Ii]t then) holds (?=[\d,]+ of [\d,]+ characters\.$)")


def in_past(message: str) -> str:
    """``message``, one or two plain sentences of a planner, in the past tense.

    What says no deed (a state, a sentence that is in the past already) stays as it is.
    """
    # The deed ends where a quotation or a second clause begins.
    deed = re.split("[“:;]", message)[0]
    said = deed
    for now, past in _DEEDS.items():
        said, found = re.subn(f"^{now}", past, deed)
        if found:
            break
    for now, past in _FURTHER.items():
        said = re.sub(now, past, said)
    return _HELD.sub(r"\1 held ", said + message[len(deed) :])
