"""Web addresses in a text: which hosts it names, and the ones that hide where they lead."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from core.homes.hermes.advice.places import Place, has_any
from core.model import Severity
from core.text import one_line

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,15}\Z")
_TEXT = r"[^\s/?#<>\"'`()\[\]{}\\|,;@]"
_AUTHORITY = re.compile(
    rf"(?P<user>{_TEXT}{{0,300}}@)?(?:\[(?P<six>[0-9A-Fa-f:.]{{2,45}})\]|(?P<host>{_TEXT}{{1,300}}))"
)
_REST = re.compile(r"[^\s<>\"'`()\[\]{}\\|]{0,500}")
#: Data and scripts in an address; a type or an encoding tells them from a word and a colon.
_INLINE = re.compile(
    r"(?<![\w-])(?:data:(?:(?P<type>[a-z]{1,20}/[a-z0-9.+-]{1,60})[;,]|;base64)"
    r"|(?P<script>(?:java|vb)script:)(?=\S))",
    re.IGNORECASE,
)
_SCHEMES = ("data:", "script:")
_PICTURE = re.compile(r"image/(?:png|jpe?g|gif|webp)", re.IGNORECASE)
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}")
_HOST_CELLS = 60


def addresses(text: str) -> Iterator[Place]:
    """Every address in ``text``; what it says of each starts with the host."""
    for found in re.finditer("://", text):
        at = found.start()
        scheme = _SCHEME.search(text, max(0, at - 16), at)
        authority = _AUTHORITY.match(text, found.end())
        if scheme is None or authority is None:
            continue
        says, severity = _judged(
            authority["user"], authority["host"], authority["six"], scheme[0].lower()
        )
        if says:
            rest = _REST.match(text, authority.end())
            word = text[scheme.start() : rest.end() if rest else authority.end()]
            word = word.rstrip(".,;:!?*_")
            yield Place(scheme.start(), scheme.start() + len(word), word, says, severity)
    for inline in _INLINE.finditer(text) if has_any(text.lower(), _SCHEMES) else ():
        said = _inline(inline)
        severity = Severity.INFO if _is_picture(inline) else Severity.DANGER
        yield Place(*inline.span(), text[inline.start() : inline.end() + 40], said, severity)


def _judged(
    user: str | None, host: str | None, six: str | None, scheme: str
) -> tuple[str, Severity]:
    named = (six or (host or "").rstrip(".:!*_")).lower()
    if six is None and re.search(r":\d{1,5}\Z", named):
        named = named.rpartition(":")[0]
    if not named or named.startswith(("$", "%", "*")):
        return "", Severity.INFO
    shown = one_line(named, _HOST_CELLS)
    if user and not (user == "git@" and scheme.endswith("ssh")):
        what = "a name and a password" if ":" in user else "a name"
        return f"{shown} ({what} before the host)", Severity.DANGER
    if six or _NUMBERS.fullmatch(named):
        return _numeric(shown, six or named)
    if any(part.startswith("xn--") for part in named.split(".")):
        return f"{shown} (a name in code: {_decoded(named)})", Severity.DANGER
    return shown, Severity.INFO


def _numeric(shown: str, host: str) -> tuple[str, Severity]:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"{shown} (a number for an address)", Severity.DANGER
    if address.is_loopback:
        return f"{shown} (this machine)", Severity.INFO
    if address.is_link_local:
        return f"{shown} (where clouds hand out keys)", Severity.DANGER
    if address.is_private:
        return f"{shown} (a private network)", Severity.INFO
    return f"{shown} (a bare IP address)", Severity.DANGER


def _decoded(host: str) -> str:
    try:
        return one_line(host.encode("ascii").decode("idna"), _HOST_CELLS)
    except UnicodeError:
        return "not decodable"


def _inline(found: re.Match[str]) -> str:
    if found["script"]:
        return "a script as an address (javascript:)"
    return "an embedded picture" if _is_picture(found) else "data as an address (data:)"


def _is_picture(found: re.Match[str]) -> bool:
    return bool(_PICTURE.fullmatch(found["type"] or ""))
