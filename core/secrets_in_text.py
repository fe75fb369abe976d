"""Forms of passwords and keys in any text: what issuers mark by a prefix, what is assigned to a
word for a secret.

The advice on proposals warns of what :func:`issued` and :func:`assigned` find; an export with
redaction hides more than that.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret's place: code points ``start`` to ``end`` of the text, and what kind it is.

    ``kind`` is the issuer's word for it, or in small letters the word it was assigned to.
    """

    start: int
    end: int
    kind: str


#: Kind and form of what issuers mark by a prefix.
ISSUED = (
    ("AWS key id", r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"),
    ("GitLab token", r"glpat-[\w-]{20,}"),
    ("Slack token", r"xox[abeprs]-[\w-]{10,}|xapp-[\w-]{10,}"),
    ("Google API key", r"AIza[\w-]{35}"),
    ("Stripe key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("Anthropic key", r"sk-ant-[\w-]{20,}"),
    ("OpenAI key", r"sk-(?:proj-|svcacct-)?(?=[\w-]*\d)[A-Za-z0-9_-]{20,}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{30,}"),
    ("npm token", r"npm_[A-Za-z0-9]{30,}"),
    ("PyPI token", r"pypi-[\w-]{50,}"),
    ("SendGrid key", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{40,}"),
    ("Groq key", r"gsk_[A-Za-z0-9]{30,}"),
    ("xAI key", r"xai-[A-Za-z0-9]{30,}"),
    ("Telegram bot token", r"\d{8,10}:AA[\w-]{33}(?![\w-])"),
    ("JSON web token", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    ("age key", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    ("private key", r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
)
#: Without one of these there is none of the kinds, or no assignment (in small letters).
_MARKS = (
    *("AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"),
    *("xapp-", "AIza", "sk_", "rk_", "sk-", "hf_", "npm_", "pypi-", "SG.", "_v1_", "gsk_", "xai-"),
    *(":AA", "eyJ", "AGE-SECRET", "PRIVATE KEY"),
)
_NAMES = ("passw", "passphrase", "pwd", "secret", "token", "key", "credential")
_KNOWN = re.compile(
    r"(?<![\w-])(?:" + "|".join(f"(?P<k{n}>{form})" for n, (_, form) in enumerate(ISSUED)) + ")"
)
_ASSIGNED = re.compile(
    r"(?P<name>passw(?:or)?d|passphrase|pwd|secret|token|(?:api|access|auth|private)[ _-]?key"
    r"|credential)s?[\"'`]?[ \t]{0,4}(?P<sign>:=|=>|[:=]|\bis\b)[ \t]{0,4}"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`<>,;]{6,256})",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[${%*<(\[]|\.\.\.|…|\b(?:env|os|process)\.|example|your|changeme|placeholder|redacted|dummy"
    r"|x{4}|://|^[/~.]",
    re.IGNORECASE,
)
_PASSWORDS = ("passw", "passphrase", "pwd", "secret")
_SYMBOL = re.compile(r"[\d!@#^&+?~]")
_LETTER = re.compile(r"[^\W\d_]")


def issued(text: str) -> Iterator[Secret]:
    """Every key, token or beginning of a private key that its form gives away, in order."""
    for found in _KNOWN.finditer(text) if _has_any(text, _MARKS) else ():
        if "EXAMPLE" not in found[0] and "xxxx" not in found[0].lower():
            yield Secret(*found.span(), ISSUED[int((found.lastgroup or "k0")[1:])][0])


def assigned(text: str) -> Iterator[Secret]:
    """Every value that is assigned to a word for a secret and looks like one, in order."""
    for found in _ASSIGNED.finditer(text) if _has_any(text.lower(), _NAMES) else ():
        name, start = found["name"].lower(), found.start("value")
        value = found["value"].rstrip(".)]}?:")
        if _plausible(name, value, bool(found["quote"])):
            yield Secret(start, start + len(value), name)


def _plausible(name: str, value: str, is_quoted: bool) -> bool:
    if _PLACEHOLDER.search(value) or not _LETTER.search(value) or len(set(value)) < 5:
        return False
    if name.startswith(_PASSWORDS):
        return bool(_SYMBOL.search(value)) or (is_quoted and len(value) >= 8)
    return len(value) >= 16 and bool(re.search(r"\d", value)) and _bits(value) >= 3.0


def _bits(value: str) -> float:
    """Shannon entropy in bits a character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def _has_any(text: str, parts: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, parts))
