"""The forms of secrets that a redaction hides, beside those the advice warns of.

The list of prefixes holds at least what hermes-agent 0.19.0 hides in its own exports, where the
rest of the word looks like a key and not like a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.recall.redact_readings import in_every_reading
from core.secrets_in_text import Secret, assigned, issued

PASSWORD, SECRET, TOKEN, KEY = "password", "secret", "token", "API key"
AUTHORIZATION = "authorization"

#: Keys so plain that nothing before them makes them part of another word.
_UNMISTAKABLE = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[\w-]{20,}"
    r"|xox[abeprs]-\d[\w-]{10,}|sk-ant-[\w-]{20,}|(?:hf|npm|gsk)_[A-Za-z0-9]{30,}"
    r"|sk_live_[A-Za-z0-9]{16,}|AIza[\w-]{35}|(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{40,}"
)

#: Prefixes of keys that issuers give; a digit must follow somewhere in the word.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(?:sk-|gh[pousr]_|github_pat_|hf_|npm_|gsk_|pplx-|tvly-|ntn_|xox[a-z]-|SG\.|pypi-|do[opr]_v1_"
    r"|gl[a-z]{2,5}-|dckr_pat_|lin_api_|sbp_|figd_|sntrys_|ATATT3|bb_live_|retaindb_|GOCSPX-|ya29\."
    r"|hvs\.)"
    r"(?=[A-Za-z_.-]{0,64}\d)[A-Za-z0-9_.-]{10,}"
    r"|(?:fc-|fal_|r8_|am_|exa_|syt_|mem0_|brv_|fw[-_]|fpk_|sk_|rk_|hsk-|xai-|shp[a-z]{2}_)"
    r"(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{16,}"
    r"|sk_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|dapi[a-f0-9]{32}(?![A-Za-z0-9])"
    r")"
)
_PREFIXES = (
    *("sk-", "gh", "hf_", "npm_", "gsk_", "pplx-", "tvly-", "ntn_", "xox", "SG.", "pypi-", "_v1_"),
    *("gl", "dckr_", "lin_", "sbp_", "figd_", "sntrys_", "ATATT3", "bb_live_", "retaindb_"),
    *("GOCSPX-", "ya29.", "hvs.", "fc-", "fal_", "r8_", "am_", "exa_", "syt_", "mem0_", "brv_"),
    *("fw-", "fw_", "fpk_", "sk_", "rk_", "hsk-", "xai-", "shp", "dapi"),
)
#: Other forms: kind, what must stand in the text (small letters), the secret as group ``v``.
_FORMS = tuple(
    (kind, marks, re.compile(form, re.IGNORECASE))
    for kind, marks, form in (
        (
            "JSON web token",
            ("eyj",),
            r"(?-i:(?<![\w-])(?P<v>eyJ[\w-]{8,}\.(?:eyJ[\w-]{8,}|[\w-]*(?:\.[\w-]*){3})))",
        ),
        ("encrypted token", ("gaaaa",), r"(?-i:(?<![\w-])(?P<v>gAAAA[\w=-]{40,}))"),
        ("bot token", (":aa",), r"(?-i:(?<!\d)(?P<v>\d{8,10}:AA[\w-]{30,}))"),
        (
            "webhook",
            ("hooks.slack.com/", "/api/webhooks/"),
            r"(?:hooks\.slack\.com/(?:services|workflows)/|/api/webhooks/\d{5,25}/)"
            r"(?P<v>[\w/-]{16,})",
        ),
        (
            "authorization",
            ("authorization",),
            r"authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
            r"(?:(?:bearer|basic|token|digest|apikey|negotiate|bot)[ \t]+(?P<v>[^\s\"'`,;]{4,})"
            r"|(?P<w>(?!\\)(?=[^\s\"'`,;]{0,200}(?:\d|(?-i:[a-z][A-Z])|[+/=])|[a-z]{16})"
            r"[^\s\"'`,;]{8,}))",
        ),
        (
            "authorization",
            ("bearer ",),
            r"\bbearer[ \t]+(?P<v>(?=[\w.~+/-]{0,200}\d)[\w.~+/=-]{12,})",
        ),
        (
            "cookie",
            ("cookie",),
            r"cookie[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?(?P<v>[\w.-]{1,64}=[^\r\n\"']{6,4096})",
        ),
        (
            PASSWORD,
            ("://",),
            r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s/?#@:\"'`<>]{0,256}:"
            r"(?P<v>[^\s/@\"'`<>]{1,512})@(?=[\w\[])",
        ),
        (
            TOKEN,
            ("://",),
            r"(?<![a-z0-9+.-])(?:https?|wss?|git|ssh|ftps?|sftp)://"
            r"(?P<v>(?=[^\s/?#@:]{0,200}\d)[^\s/?#@:\"'`<>]{12,512})@(?=[\w\[])",
        ),
        (
            TOKEN,
            ("=",),
            r"[?&#;](?:(?:access|refresh|id|auth|security|session)[_-]?token|token|api[_-]?key|key"
            r"|client[_-]?secret|secret|passw(?:or)?d|pwd|sig|signature|x-(?:amz|goog)-signature"
            r"|x-amz-security-token|jwt|auth)=(?P<v>[^&#\s\"'`<>]{6,4096})",
        ),
        (
            PASSWORD,
            ("-u", "--user"),
            r"(?<![\w-])(?:-u|--user)(?:[ \t]+|=)[\"']?(?=[^\s:\"']{0,64}[^\d:\s])[^\s:\"']{1,64}:"
            r"(?P<v>[^\s\"'`/]{3,256})(?![^\s\"'`])",
        ),
        (
            PASSWORD,
            ("mysql", "mariadb"),
            r"\b(?:mysql|mariadb)[\w-]{0,20}[^\r\n|;&]{0,200}?[ \t](?-i:-p)[\"']?"
            r"(?P<v>[^\s\"'`;|&-][^\s\"'`;|&]{0,255})",
        ),
        (PASSWORD, ("sshpass",), r"\bsshpass[ \t]+-p[ \t]*(?P<v>[^\s\"'`]{1,256})"),
        (
            SECRET,
            ("--",),
            r"(?<![\w-])--?(?:[a-z]+-)?(?:passw(?:or)?d|passphrase|token|secret|api-?key)"
            r"(?:=|[ \t]+)[\"']?"
            r"(?P<v>(?=[^\s\"'`]{0,200}[\d!@#^&+?~=])[^\s\"'`,;|&()-][^\s\"'`,;|&()]{4,511})",
        ),
    )
)
#: ``NAME = value`` of settings, environments and code, the name's last words telling its kind.
_ASSIGNED = re.compile(
    r"(?P<name>(?:[A-Za-z0-9]{1,40}[._-]){0,8}[A-Za-z0-9]{1,40})(?P<closed>\\{0,7}[\"']?)[ \t]{0,4}"
    r"(?P<sign>:=|=>|!?={1,3}|:(?!//))[ \t]{0,4}(?P<quote>(?:\\{0,7}[\"'`])?)"
    r"(?P<value>[^\s\"'`<>,;\\]{1,512})"
)
#: A name and its value as an element of XML, and as neighbours in a table.
_ELEMENT = re.compile(r"<(?P<name>[\w.:-]{1,60})(?:[ \t][^<>]{0,200})?>(?P<value>[^<>]{1,512})</")
_CELLS = re.compile(
    r"(?:^[ \t>]{0,8}\||\|[ \t])[ \t]{0,20}[`*]{0,2}(?P<name>[\w. -]{1,60}?)[`*]{0,2}[ \t]{0,20}"
    r"\|[ \t]{0,20}[`*]{0,2}(?P<value>[^\s|`*]{1,512})[`*]{0,2}[ \t]{0,20}(?=\|(?:[ \t]|$))",
    re.MULTILINE,
)
_WORDS = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
_PASSWORDS = ("password", "passwd", "passphrase", "passcode", "pwd", "pass")
_PASSES = frozenset(f"{of}pass" for of in ("", "ssh", "db", "my", "pg", "user", "root", "admin"))
_KEYS = (
    *("api", "access", "private", "secret", "auth", "account", "storage", "signing", "encryption"),
    *("master", "service", "shared", "subscription", "license", "client", "webhook"),
)
_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_PLACEHOLDER = re.compile(
    r"^(?:[$%{(\[*<~./]|\.\.\.|…|x{4}|\*{3})|\*{3}|…|\.\.\.$|\$\{|\{\{|\(|\)|://"
    r"|\b(?:env|os|process|config|settings|self|cfg|args|opts|secrets|vault)[.\[]"
    r"|example|changeme|placeholder|redacted|dummy",
    re.IGNORECASE,
)
_PLAIN_WORDS = frozenset(
    (
        *("none", "null", "nil", "true", "false", "yes", "no", "on", "off", "str", "string", "int"),
        *("bool", "bytes", "optional", "required", "input", "self", "undefined", "empty", "unset"),
        *(
            "varchar",
            "char",
            "hash",
            "field",
            "password",
            "missing",
            "invalid",
            "wrong",
            "incorrect",
            "hidden",
            "any",
            "text",
            "is",
        ),
    )
)
#: No spaces, a letter and a digit.
_MIXED = re.compile(r"(?=\S*[A-Za-z])(?=\S*\d)\S+\Z")
#: A variable's name, unless it goes on as only a password does.
_VARIABLE = re.compile(
    r"\$(?:(?-i:[A-Z_][A-Z0-9_]*)|[A-Za-z_]+|\d|\w*(?:pass|pwd|secret|token|key|cred|auth)\w*)(?:[^\w!@#^&]|\Z)",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|apikey|negotiate|bot)[ \t]+\S{4,}", re.I)
_ODD = re.compile(r"[\d!@#^&+?~$%*=]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_]*(?:[.\-][A-Za-z_]+)*")
_NAMED_AGAIN = re.compile(r"pass|pwd|secret|token|key|cred|auth", re.IGNORECASE)
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
#: A private key without its end: the rest of what may belong to it.
_KEY_LINES = re.compile(
    r"(?:(?:\s|\\[nr]){0,8}(?:[A-Za-z0-9+/=]{16,}|[A-Z][\w-]{2,20}: [^\r\n\\]{1,200}))*"
    r"(?:(?:\s|\\[nr]){1,4}[A-Za-z0-9+/]{1,16}={1,2})?"
)
#: Characters of the longest quoted passphrase after its first word.
_LONGEST_PHRASE = 256
#: Characters of the longest block; an end that stands farther off belongs to another.
_LONGEST_BLOCK = 20_000


def secrets(text: str) -> Iterator[Secret]:
    """Every secret in ``text``, in order and apart from each other; the longest kind's name."""
    yield from _apart(in_every_reading(text, _found))


def keys(text: str) -> Iterator[Secret]:
    """Only what its own form gives away, of letters that no format escapes; as :func:`secrets`."""
    yield from _apart(in_every_reading(text, _keys))


def _apart(secrets: Iterable[Secret]) -> Iterator[Secret]:
    end = 0
    for found in sorted(secrets, key=lambda each: (each.start, -each.end)):
        if found.end <= end:
            continue
        yield Secret(max(found.start, end), found.end, found.kind)
        end = found.end


def kind_of_name(name: str) -> str:
    """What a value under ``name`` (of a setting, a field, a variable) is; ``""`` for no secret."""
    words = [word for word in _SPLIT.split(name) for word in [word.lower()] if word]
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(_PASSWORDS[:5]) or last in _PASSES or last == "passwords":
        return PASSWORD
    if last in ("secret", "credential", "credentials") or last.endswith("secret"):
        return SECRET
    if last == "authorization":
        return AUTHORIZATION
    if last in ("token", "jwt", "bearer") or last.endswith("token"):
        return TOKEN
    if last.endswith("key") and (before in _KEYS or last[:-3] in _KEYS):
        return KEY
    return ""


def is_secret_value(kind: str, value: str) -> bool:
    """Whether a value given to a name of ``kind`` is a secret and not its placeholder."""
    if not value or value.lower() in _PLAIN_WORDS:
        return False
    if kind in (PASSWORD, SECRET) and value[0] == "$" and value[1:2].isalpha():
        return not _VARIABLE.match(value) and not _PLACEHOLDER.search(value[1:])
    if _PLACEHOLDER.search(value):
        return False
    if kind in (PASSWORD, SECRET):
        return True
    if kind == AUTHORIZATION and _SCHEME.match(value):
        return True
    if value.isdecimal():
        return len(value) >= 12
    return bool(len(value) >= 8 and _MIXED.match(value))


def is_odd_secret(kind: str, value: str) -> bool:
    """The same of a value that only stands near the name: one word, with a digit or a sign."""
    return len(value.split()) == 1 and bool(_ODD.search(value)) and is_secret_value(kind, value)


def _keys(text: str) -> Iterator[Secret]:
    yield from issued(text)
    for match in _UNMISTAKABLE.finditer(text):
        if "EXAMPLE" not in match[0] and "xxxx" not in match[0].lower():
            yield Secret(*match.span(), KEY)
    if any(prefix in text for prefix in _PREFIXES):
        for match in _PREFIXED.finditer(text):
            if "EXAMPLE" not in match[0] and "xxxx" not in match[0].lower():
                yield Secret(*match.span(), KEY)


def _found(text: str) -> Iterator[Secret]:
    yield from _keys(text)
    lower = text.lower()
    if "private key" in lower:
        yield from _private_keys(text)
    for kind, marks, form in _FORMS:
        if any(mark in lower for mark in marks):
            for match in form.finditer(text):
                group = "v" if match["v"] is not None else "w"
                if not _PLACEHOLDER.search(match[group]):
                    yield Secret(*match.span(group), kind)
    if any(word in lower for word in _WORDS):
        for each in assigned(text):
            yield Secret(each.start, each.end, kind_of_name(each.kind) or KEY)
        yield from _assigned(text)


def _private_keys(text: str) -> Iterator[Secret]:
    end = 0
    while begin := _BEGIN.search(text, end):
        closing = _END.search(text, begin.end(), begin.end() + _LONGEST_BLOCK)
        rest = closing or _KEY_LINES.match(text, begin.end(), begin.end() + _LONGEST_BLOCK)
        end = rest.end() if rest else begin.end()
        yield Secret(begin.start(), end, "private key")


def _assigned(text: str) -> Iterator[Secret]:
    for match in _ASSIGNED.finditer(text):
        kind = kind_of_name(match["name"])
        if not kind:
            continue
        value = match["value"].rstrip(".)]}?:")
        if is_secret_value(kind, value) and _is_literal(match, kind, value):
            start = match.start("value")
            end = start + len(value)
            if match["quote"] and kind in (PASSWORD, SECRET):
                end = max(end, _closing(match))
            yield Secret(start, end, kind)
    for match in _ELEMENT.finditer(text):
        kind = kind_of_name(match["name"])
        if kind and is_secret_value(kind, match["value"]):
            yield Secret(*match.span("value"), kind)
    for match in _CELLS.finditer(text):
        kind = kind_of_name(match["name"])
        is_secret = is_secret_value if kind == PASSWORD else is_odd_secret
        if kind and is_secret(kind, match["value"]):
            yield Secret(*match.span("value"), kind)


def _closing(match: re.Match[str]) -> int:
    """Where a quoted value of several words ends: before its closing quote on the same line."""
    start, quote = match.end("value"), match["quote"]
    if match.string[start : start + 1] not in (" ", "\t", ",", ";", "'", '"', "`", "<", ">"):
        return start if match.string.startswith(quote, start) else 0
    end = match.string.find(quote, start, start + _LONGEST_PHRASE)
    return end if end >= 0 and "\n" not in match.string[start:end] else 0


def _is_literal(match: re.Match[str], kind: str, value: str) -> bool:
    """Whether an assigned value is meant itself, not another variable's name or a word of prose."""
    if match["quote"]:
        return True
    if _IDENTIFIER.fullmatch(value):
        if _NAMED_AGAIN.search(value) or "." in value or match["sign"] == "=>":
            return False
        # Without a digit a word after a colon is prose, unless it is a setting's whole line.
        alone = match.string[match.end("value") :][:1] in ("", "\n", "\r")
        return match["sign"] != ":" or (kind == PASSWORD and alone)
    return True
