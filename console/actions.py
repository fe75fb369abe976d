"""Every key of the console, once: bindings, footer, help, palette and the README read this table.

An action is a method ``action_<name>`` of the screen or the app it belongs to. Why it cannot run
right now is the business of that screen's ``why_not(name)``: the footer greys it, a press says it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Action:
    """One action. ``keys`` are separated by commas, the first is shown; ``where`` is its screen.

    ``footer`` puts it in the footer. ``id`` (``where.name``) is what a keymap names.
    """

    where: str
    name: str
    keys: str
    label: str
    help: str
    footer: bool = False

    @property
    def shown_key(self) -> str:
        """The first key as people write it."""
        return shown_key(self.keys.partition(",")[0])

    @property
    def id(self) -> str:
        return f"{self.where}.{self.name.replace('(', '.').replace(')', '').replace(chr(39), '')}"


def shown_key(key: str) -> str:
    """A key as people write it."""
    return _KEY_NAMES.get(key.strip(), key.strip())


_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
}

#: Screens in the order of their keys. Each title names a mode.
MODES = {
    "review": "Review",
    "sessions": "Sessions",
    "skills": "Skills",
    "memory": "Memory",
    "journal": "Journal",
    "knowledge": "Knowledge",
}

_EVERYWHERE = (
    *(
        Action("app", f"mode('{mode}')", str(number), title, f"Go to {title}.")
        for number, (mode, title) in enumerate(MODES.items(), 1)
    ),
    Action(
        "app",
        "undo",
        "u",
        "undo",
        "Take back the newest decision or bulk step.",
        footer=True,
    ),
    Action("app", "receipt", "i", "receipt", "What the last decision did, and what is next."),
    Action("app", "help", "question_mark,f1", "help", "The keys of this screen.", footer=True),
    Action("app", "command_palette", "ctrl+p", "palette", "Every action by name."),
    Action(
        "app",
        "homes",
        "ctrl+o",
        "homes",
        "Open another home or profile; what waits there.",
    ),
    Action("app", "reload", "f5", "reload", "Read the home again; gone rows leave."),
    Action("app", "gate", "ctrl+g", "gates on", "Make the agent ask before it writes."),
    Action("app", "theme", "ctrl+t", "theme", "The next theme: dark, light, high contrast."),
    # ctrl+q is Textual's own and leaves from everywhere, dialogs included.
    Action("app", "quit", "q", "quit", "Leave; nothing is unsaved. So does ctrl+q.", footer=True),
)

_REVIEW = (
    Action("review", "approve", "a", "approve", "Apply it, or all that are marked.", footer=True),
    Action("review", "reject", "r", "refuse", "Refuse it, or all that are marked.", footer=True),
    Action(
        "review",
        "note('approve')",
        "A",
        "approve with note",
        "Approve, and say why.",
    ),
    Action("review", "note('reject')", "R", "refuse with note", "Refuse, and say why."),
    Action("review", "next_open", "n", "next", "Go to the next that would land.", footer=True),
    Action("review", "step(1)", "right_square_bracket", "below", "The proposal below, as shown."),
    Action("review", "step(-1)", "left_square_bracket", "above", "The proposal above, as shown."),
    Action("review", "filter", "slash", "filter", "Show only some: status:stale age:14d words."),
    Action("review", "refuse_dead", "D", "refuse the dead", "Refuse all that can no longer apply."),
    Action("review", "refuse_rivals", "X", "refuse rivals", "Refuse rivals of what was approved."),
    Action("review", "snooze", "Z", "snooze", "Put it off until later, or all marked."),
    Action("review", "edit", "e", "edit", "Edit its text before deciding."),
    Action("review", "convert", "E", "convert", "Change its form: splice, clean, drop a part."),
    Action("review", "promote_as", "P", "promote as", "Promote a vak skill under another name."),
    Action("review", "conversation", "o", "origin", "Read the conversation it came from."),
    Action("review", "open", "enter,ctrl+j", "look", "Go into the preview.", footer=True),
    Action("review", "close", "escape", "back", "Back to the queue; there marks and filter off."),
    Action("review", "fold", "z", "unfold", "Show folded lines, or fold them again."),
    Action("review", "split", "s", "split", "Old and new side by side, or in one column."),
    Action("review", "copy", "y", "copy", "Copy the proposed text as it is stored."),
)

_SESSIONS = (
    Action("sessions", "search", "slash", "search", "Look for what was said.", footer=True),
    Action("sessions", "open", "enter,ctrl+j", "read", "Go into the conversation.", footer=True),
    Action("sessions", "close", "escape", "back", "Back to the list; there the search ends."),
    Action("sessions", "hit(1)", "n", "next hit", "The next hit, on into the next session."),
    Action("sessions", "hit(-1)", "N", "last hit", "The hit before, back into other sessions."),
    Action("sessions", "session(1)", "right_square_bracket", "next", "The next session."),
    Action("sessions", "session(-1)", "left_square_bracket", "previous", "The session before."),
    Action("sessions", "go", "g", "go to", "Go to a date, a message or a pasted session."),
    Action("sessions", "family", "f", "family", "What it began from, goes on in, handed on."),
    Action("sessions", "roles", "p", "people", "Show all roles, leave out tools, one only."),
    Action("sessions", "tools", "t", "tool output", "Hits in tool output, or not."),
    Action("sessions", "undone", "X", "undone", "Undone messages and copies, or not."),
    Action("sessions", "let('cron')", "c", "cron runs", "List cron runs, or not."),
    Action("sessions", "let('hidden')", "H", "hidden", "Hidden sources, or not."),
    Action("sessions", "let('archived')", "a", "archived", "List archived ones, or not."),
    Action("sessions", "sources", "F", "one source", "Only what came from one source."),
    Action("sessions", "order", "r", "order", "Best hits first, the newest or the oldest."),
    Action("sessions", "copy", "y", "copy", "Copy the message as it is stored.", footer=True),
    Action("sessions", "copy_menu", "Y", "copy link", "Copy the link or the resume command."),
    Action("sessions", "export", "x", "export", "Export it into a file.", footer=True),
    Action("sessions", "bookmark", "b", "bookmark", "Bookmark the message, or change its note."),
    Action("sessions", "bookmarks", "B", "bookmarks", "Go to a bookmark."),
    Action("sessions", "save_view", "s", "save search", "Save this search under a name."),
    Action("sessions", "views", "S", "searches", "The saved searches."),
    Action("sessions", "debug", "d", "stored", "All that is stored with the message."),
    Action("sessions", "proposal", "o", "proposal", "To what it proposed; a vak note in Memory."),
)

_SKILLS = (
    Action("skills", "pin", "p", "pin", "Pin it so that it never ages, or unpin it.", footer=True),
    Action("skills", "archive", "d", "archive", "Archive it, or all marked.", footer=True),
    Action("skills", "restore", "b", "restore", "Bring it back from the archive.", footer=True),
    Action("skills", "curate", "c", "curate", "Foresee a curator's run; make it.", footer=True),
    Action("skills", "edit", "e", "edit", "Change its SKILL.md in your editor."),
    Action("skills", "adopt", "A", "adopt", "Let the curator manage it, or all marked."),
    Action("skills", "adopt_all", "M", "adopt all", "Let the curator manage all it does not yet."),
    Action("skills", "other_side", "t", "archive list", "Show the archive, or the skills again."),
    Action("skills", "sort", "s", "sort", "Sort by the next column."),
    Action("skills", "backwards", "S", "backwards", "Turn the order round."),
    Action("skills", "filter", "slash", "filter", "Show some: state:stale origin:agent is:pinned."),
    Action("skills", "next_due", "n", "next", "Go to the next that the next run changes."),
    Action("skills", "raw", "m", "raw", "Its SKILL.md as it is stored, or made readable."),
    Action("skills", "review", "w", "proposals", "Go to the proposals that would change it."),
    Action("skills", "history", "H", "curator", "The curator: settings, sources, past runs."),
    Action("skills", "pause", "P", "pause", "Pause the agent's own runs, or let them go on."),
    Action("skills", "rollback", "R", "roll back", "Put one skill back as of a snapshot, or all."),
    Action("skills", "open", "enter,o", "look", "Go into the package."),
    Action("skills", "close", "escape", "back", "Back to the list; there marks and filter off."),
    Action("skills", "copy", "y", "copy", "Copy its SKILL.md."),
)

_JOURNAL = (
    Action(
        "journal",
        "undo_this",
        "U",
        "undo this",
        "Take the chosen entry back, a bulk step as one.",
        footer=True,
    ),
    Action("journal", "search", "slash", "search", "Look for words, notes or paths.", footer=True),
    Action("journal", "notes", "w", "of notes", "What was decided on the note store, or back."),
    Action("journal", "rates", "t", "rates", "How often whose proposals are approved."),
    Action(
        "journal",
        "put_away",
        "p",
        "put away",
        "Put a torn entry away: you looked at it.",
        footer=True,
    ),
    Action("journal", "open", "enter,o", "look", "Go into what it changed.", footer=True),
    Action("journal", "close", "escape", "back", "Back to the list; there the search ends."),
    Action("journal", "fold", "z", "unfold", "Show folded lines, or fold them again."),
    Action("journal", "split", "s", "split", "Old and new side by side, or in one column."),
)

_MEMORY = (
    Action(
        "memory", "forget", "d", "forget", "Forget the entry; undo brings it back.", footer=True
    ),
    Action("memory", "edit", "e", "edit", "Change the entry in your editor.", footer=True),
    Action("memory", "add", "a", "add", "Add an entry to this file, in your editor.", footer=True),
    Action("memory", "up", "K", "move up", "Move the entry up in its file."),
    Action("memory", "down", "J", "move down", "Move the entry down in its file."),
    Action("memory", "normalise", "N", "normalise", "Mend what makes the agent refuse this file."),
    Action("memory", "compare", "c", "copies", "The agent's copies of its files, or back."),
    Action("memory", "conversation", "o", "origin", "Read the conversation it came from."),
    Action("memory", "open", "enter,ctrl+j", "look", "Go into the entry.", footer=True),
    Action("memory", "close", "escape", "back", "Back to the list."),
    Action("memory", "fold", "z", "unfold", "Show folded lines of a copy, or fold them again."),
    Action("memory", "split", "s", "split", "File and copy side by side, or in one column."),
    Action("memory", "copy", "y", "copy", "Copy the entry as it is stored."),
)

#: What a key of the app does in one mode only: the notes are decided on apart from the home.
_OTHERWISE = {("knowledge", "app.undo"): "Take back the newest decision on these notes."}

_KNOWLEDGE = (
    Action("knowledge", "search", "s", "ask", "Ask all of a project.", footer=True),
    Action("knowledge", "retire", "d", "retire", "Take the note out, and say why.", footer=True),
    Action(
        "knowledge", "supersede", "r", "replace", "Name or write what takes its place.", footer=True
    ),
    Action("knowledge", "reactivate", "b", "activate", "Make the note active again.", footer=True),
    Action("knowledge", "archive", "A", "archive", "Put it away: kept, but found no more."),
    Action("knowledge", "learn", "a", "add", "Keep a new note.", footer=True),
    Action(
        "knowledge",
        "merge",
        "m",
        "merge",
        "See staged notes in wiki pages; merge them.",
        footer=True,
    ),
    Action("knowledge", "layer", "t", "layer", "Notes, wiki or code of the project."),
    Action("knowledge", "filter", "slash", "filter", "Show some: status:live kind:gotcha words."),
    Action("knowledge", "step(1)", "right_square_bracket", "after", "Go to what took its place."),
    Action("knowledge", "step(-1)", "left_square_bracket", "before", "Go to what it replaced."),
    Action("knowledge", "about", "o", "about", "The project: its layers, what is due, the store."),
    Action("knowledge", "history", "H", "decided", "What was decided on these notes, to undo it."),
    Action("knowledge", "open", "enter,ctrl+j", "look", "Into the project or note.", footer=True),
    Action("knowledge", "close", "escape", "back", "Out again; there the filter ends."),
    Action("knowledge", "copy", "y", "copy", "Copy the text as it is stored."),
)

ACTIONS = (*_EVERYWHERE, *_REVIEW, *_SESSIONS, *_SKILLS, *_JOURNAL, *_MEMORY, *_KNOWLEDGE)


def actions_of(where: str) -> Iterator[Action]:
    """The actions of one screen, or of the app."""
    return (action for action in ACTIONS if action.where == where)


#: By kind of home, the ids of actions that it has no notion of: a press says why, help lists them
#: not. A home of vak moves no notes, refuses none of them, and never ages a skill.
_NOT_OF = {
    "hermes": frozenset({"review.promote_as"}),
    "vak": frozenset(
        {
            *("app.gate", "review.convert", "sessions.let.archived", "sessions.let.cron"),
            *(f"memory.{name}" for name in ("up", "down", "normalise", "compare", "fold", "split")),
            *(a.id for a in _SKILLS if a.name not in ("open", "close", "copy", "raw")),
        }
    ),
}


def offered(where: str, kind: str) -> Iterator[Action]:
    """The actions of one screen, or of the app, that can ever do something on a home of ``kind``.

    Where the kind is not known yet (``""``) these are all.
    """
    never = _NOT_OF.get(kind, frozenset())
    return (action for action in actions_of(where) if action.id not in never)


def help_in(mode: str, action: Action) -> str:
    """What an action does in a mode, as a sentence."""
    return _OTHERWISE.get((mode, action.id), action.help)


def readme_table() -> str:
    """The keys as the README shows them: key, what it does, and the name a setting knows."""
    lines = ["| key | what it does | name |", "| --- | --- | --- |"]
    for where in ("app", *MODES):
        for action in actions_of(where):
            shown = " ".join(f"`{shown_key(key)}`" for key in action.keys.split(","))
            lines.append(f"| {shown} | {action.help.removesuffix('.')} | `{action.id}` |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(readme_table())
