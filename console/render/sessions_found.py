"""What is said of a search of the past: who answered it, what it became, what it left out."""

from __future__ import annotations

from console.keymap import key_of, keyed
from console.render.sessions import Facets
from core.conversations import Engine, Found, Order

#: What answered, in words that need no explanation.
_ENGINES = {
    Engine.INDEX: "signoff's index",
    Engine.DATABASE: "the agent's own index",
    Engine.SCAN: "no index: every message read",
}


def remarks(found: Found, order: Order) -> list[str]:
    """How it was answered: the engine, and in which order."""
    words = [] if order is Order.RANKED else [f"{order} first"]
    return [*words, _ENGINES[found.engine]]


def became(found: Found) -> list[str]:
    """What the query became, and what of it was left out: each a sentence for the list's head."""
    said = [f"“{asked}” read as “{other}”" for asked, other in found.corrected]
    if found.literally:
        said.append(f"read word by word: {found.effective}")
    return [*said, found.note] if found.note else said


def nothing_found(found: Found | None, asked: str, facets: Facets) -> str:
    """Why nothing is found, and what would let more in."""
    if found is None:
        return "Nothing is found."
    said = [f"No conversation answers “{found.effective or asked}”."]
    enter = keyed("{sessions.open}")
    said += [f"{words}: {enter}, then {key}." for words, key in left_out(found, facets)]
    said.append(keyed("{sessions.close} ends the search. {sessions.search} changes it."))
    return "\n\n".join(said)


def left_out(found: Found, facets: Facets) -> list[tuple[str, str]]:
    """Hits that are not shown, each with the key that shows them."""
    counts = (
        (found.tool_output, "in tool output", "sessions.tools", facets.tools),
        (found.hidden_sources, "in hidden sources", "sessions.let.hidden", facets.hidden),
        (found.undone, "undone", "sessions.undone", facets.undone),
    )
    return [(f"{n:,} more {words}", key_of(key)) for n, words, key, on in counts if n and not on]
