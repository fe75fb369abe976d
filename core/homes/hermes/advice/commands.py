"""Shell commands in a text that a careful person reads twice before an agent may repeat them.

A filter of words: it also finds a command that a skill warns of, or that is ordinary there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.homes.hermes.advice.places import Place, has_any, quoted
from core.model import Severity

_HINTS = (
    *(
        "|",
        "curl",
        "wget",
        "rm ",
        "rm\t",
        "chmod",
        "eval",
        "sudo",
        "ssh",
        ".bash",
        ".zsh",
        ".zlogin",
    ),
    *(".zprofile", ".profile", "config.fish", "iex", "invoke-expression", "downloadstring"),
)
#: How far back the beginning of a pipe, or the verb of a change, is looked for.
_BACK = 400
_VERB_BACK = 80
_SHELL = r"(?:(?:ba|z|da|k|fi|c)?sh|python[\d.]{0,5}|perl|node|ruby|php)\b(?![\w.-])"
_PIPED = re.compile(
    rf"\|\s{{0,20}}(?:sudo\s{{1,20}}(?:-\S{{1,20}}\s{{1,20}})?)?(?:/[\w./-]{{0,60}}/)?{_SHELL}"
)
_FETCHES = re.compile(r"\b(?:curl|wget|fetch|iwr)\s+[^\s|]")
_DECODES = re.compile(r"\b(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r|openssl\s[^|]{0,80}\s-d)\b")
_EMBEDDED = re.compile(
    r"(?:\b(?:ba|z|da)?sh\s{1,9}(?:-c\s{1,9})?|\beval\s{1,9}|\bsource\s{1,9}|(?<![\w.])\.\s)"
    r"[\"']?(?:\$\(|<\(|`)\s{0,9}(?:curl|wget)\b"
)
_EVAL = re.compile(r"(?<![\w.-])eval(?:\s{1,9}[\"'`$]|\()")
_REMOVE = re.compile(r"\brm(?P<flags>(?:\s{1,9}-{1,2}[A-Za-z-]{1,20}){1,6})(?:\s{1,9}\S{1,60})?")
_OPEN = re.compile(
    r"\bchmod\s{1,9}(?:-\S{1,12}\s{1,9})?"
    r"(?:0?[2467]?777|0?[2467][0-7]{3}|[ugoa]{0,4}\+[rwx]{0,3}s|[ugo]{0,3}[ao][ugo]{0,3}\+r?wx?)"
    r"(?![\w])(?:\s{1,9}\S{1,60})?"
)
_SUDO = re.compile(r"(?<![\w/.-])sudo\s{1,9}(?P<what>[\w./~$-]{1,60})")
#: "sudo rights" is talk, not a command.
# fmt: off
_TALK = frozenset({
    "access", "and", "are", "as", "at", "but", "by", "can", "command", "do", "for", "from", "group",
    "has", "if", "in", "is", "it", "may", "mode", "must", "needs", "not", "on", "or", "password",
    "passwords", "permission", "permissions", "privilege", "privileges", "right", "rights",
    "should", "so", "that", "the", "to", "user", "users", "was", "when", "where", "will", "with",
    "without", "works",
})
# fmt: on
_KEYS = re.compile(
    r"\bauthorized_keys\b|\bssh-(?:keygen|copy-id|add)\b|\.ssh/(?:id_\w{1,20}|config|rc)\b"
)
_STARTUP = re.compile(
    r"\.(?:bashrc|bash_profile|bash_login|bash_aliases|zshrc|zshenv|zprofile|zlogin|profile)\b"
    r"|\bconfig\.fish\b"
)
_CHANGES = re.compile(
    r">|\btee\b|\bsed\b|\b(?:add|append|write|put|insert|edit|change|modify|update|echo)", re.I
)
_WINDOWS = re.compile(r"\biex[\s(]|\bInvoke-Expression\b|\bDownloadString\(", re.I)


def commands(text: str) -> Iterator[Place]:
    """Commands in ``text`` that run what they load, delete, open, gain rights or stay behind."""
    if not has_any(text.lower(), _HINTS):
        return
    for found in _PIPED.finditer(text):
        start = _line_start(text, found.start())
        before = text[start : found.start()]
        for form, does in ((_FETCHES, "runs what it loads"), (_DECODES, "runs what it decodes")):
            if first := form.search(before):
                yield _place(text, start + first.start(), found.end(), does)
                break
    for form, does in (
        (_EMBEDDED, "runs what it loads"),
        (_EVAL, "runs a text as a program"),
        (_OPEN, "opens permissions"),
        (_KEYS, "deals with SSH keys"),
        (_WINDOWS, "runs a text as a program"),
    ):
        for found in form.finditer(text):
            yield _place(text, *found.span(), does)
    for found in _REMOVE.finditer(text):
        short = "".join(flag for flag in found["flags"].split() if not flag.startswith("--"))
        if ("r" in short.lower() or "--recursive" in found["flags"]) and (
            "f" in short or "--force" in found["flags"]
        ):
            yield _place(text, *found.span(), "deletes whole folders")
    for found in _SUDO.finditer(text):
        if found["what"].lower().rstrip(".") not in _TALK:
            yield _place(text, *found.span(), "runs with all rights")
    for found in _STARTUP.finditer(text):
        start = max(_line_start(text, found.start()), found.start() - _VERB_BACK)
        if verb := _CHANGES.search(text, start, found.start()):
            yield _place(text, verb.start(), found.end(), "changes what a shell starts with")


def _line_start(text: str, at: int) -> int:
    """Where the command line around ``at`` starts, at most 400 characters back.

    A line ended by a backslash goes on below.
    """
    limit = max(0, at - _BACK)
    start = text.rfind("\n", limit, at)
    while start > limit and text[start - 1] == "\\":
        start = text.rfind("\n", limit, start)
    return limit if start < 0 else start + 1


def _place(text: str, start: int, end: int, does: str) -> Place:
    word = text[start:end]
    return Place(start, end, word, f"{quoted(word)} {does}", Severity.WARNING)
