"""The agent's skill scanner, as far as it is modelled: a dangerous skill is refused, no one asked.

Measured on hermes-agent 0.19.0 with ``skills.guard_agent_created`` on: after a write the whole
folder is scanned, line by line, without NFKC; one critical finding refuses the write and takes it
back, all lesser ones pass. Modelled are the structure, the invisible characters and the patterns
below; what its other patterns say is unknown here, and said to be.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core.homes.hermes.scanners.ignore import IGNORE_FILES, load_ignore
from core.homes.hermes.scanners.phrases import Stretch, Text, Words, fold
from core.homes.hermes.scanners.threats import (
    INVISIBLE,
    RULE_FILE,
    SECRET,
    SECRET_FILE,
    SECRET_VARIABLE,
    Pattern,
    invisible,
    strikes,
)
from core.model import Finding, Node, NodeKind, Severity
from core.view import MAX_LINKS, join, name, parent

MAX_FILES = 50
MAX_FILE_BYTES = 256 * 1024
MAX_BYTES = 1024 * 1024
# fmt: off
SCANNED = frozenset({
    ".md", ".txt", ".py", ".sh", ".bash", ".js", ".ts", ".rb", ".yaml", ".yml", ".json", ".toml",
    ".cfg", ".ini", ".conf", ".html", ".css", ".xml", ".tex", ".r", ".jl", ".pl", ".php",
})
BINARIES = frozenset({
    ".exe", ".dll", ".so", ".dylib", ".bin", ".dat", ".com", ".msi", ".dmg", ".app", ".deb", ".rpm",
})
# fmt: on
SCRIPTS = frozenset({".sh", ".bash", ".py", ".rb", ".pl"})

_ANY = Words()
_LINE = Stretch()
#: Any of these refuses the skill.
CRITICAL = (
    Pattern(
        "prompt_injection_ignore",
        "instructions",
        "ignore … (previous|all|above|prior) instructions",
        "tells its reader to ignore instructions",
        _ANY,
    ),
    Pattern(
        "sys_prompt_override",
        "override",
        "system … prompt … override",
        "speaks of overriding the system prompt",
        _ANY,
    ),
    Pattern(
        "disregard_rules",
        "disregard",
        "disregard … (your|all|any) … (instructions|rules|guidelines)",
        "tells its reader to disregard rules",
        _ANY,
    ),
    Pattern(
        "bypass_restrictions",
        "act",
        "act as (if|though) … you … (have no|don't have) … (restrictions|limits|rules)",
        "tells its reader to act as if there were no limits",
        _ANY,
    ),
    Pattern(
        "remove_filters",
        "without",
        "(respond|answer|reply) without … (restrictions|limitations|filters|safety)",
        "asks for answers without safety rules",
        _ANY,
    ),
    Pattern(
        "deception_hide",
        "tell",
        "do not … tell … the user",
        "asks to keep something from the user",
        _ANY,
    ),
    Pattern(
        "translate_execute",
        "translate",
        "translate … into … and (execute|run|eval)",
        "asks to translate something and run it",
        _LINE,
    ),
    Pattern(
        "env_exfil_curl",
        "curl",
        f"curl …{SECRET_VARIABLE}",
        "hands a secret variable to curl",
        _LINE,
    ),
    Pattern(
        "env_exfil_wget",
        "wget",
        f"wget …{SECRET_VARIABLE}",
        "hands a secret variable to wget",
        _LINE,
    ),
    Pattern(
        "read_secrets_file",
        "cat",
        # "cat > file" writes one; the agent sees that only when a single blank stands between.
        rf"cat(?!\s>) …{SECRET_FILE}",
        'has "cat" and the name of a file of secrets on one line',
        _LINE,
    ),
    Pattern(
        "hermes_env_access",
        "/.hermes/.env",
        r"(\$home|~)/\.hermes/\.env",
        "names the agent's file of secrets",
    ),
    Pattern(
        "ssh_backdoor",
        "authorized_keys",
        "authorized_keys",
        "names the file that says who may log in by SSH",
    ),
    Pattern(
        "agent_config_mod",
        "agents.md claude.md .cursorrules .clinerules",
        RULE_FILE,
        "names a file of instructions for agents",
    ),
    Pattern(
        "hermes_config_mod",
        ".hermes/",
        r"\.hermes/(config\.yaml|soul\.md)",
        "names the agent's own configuration",
    ),
    Pattern(
        "hardcoded_secret",
        "key token secret password",
        SECRET,
        "holds what looks like a password or a key",
    ),
)
#: These are noted by the agent and pass.
NOTED = (
    Pattern(
        "html_comment_injection",
        "<!--",
        "<!--…(ignore|override|system|secret|hidden)…-->",
        "has an HTML comment with a word of command or secrecy in it",
        Stretch(None, ">"),
    ),
    Pattern(
        "hidden_div",
        "display",
        r"""<\s*+div style\s*+=\s*+["']…display\s*+:\s*+none""",
        "hides an HTML block from view",
        _LINE,
    ),
)


@dataclass(frozen=True, slots=True)
class SkillScan:
    """What the agent's scanner would do to a skill.

    ``blocked``: the write is refused and taken back. ``findings`` name the agent's ids; ``DANGER``
    blocks. ``not_modelled``: there is more that the agent may find; unblocked is then no promise.
    """

    blocked: bool
    findings: tuple[Finding, ...]
    not_modelled: bool


def scan_skill(files: Mapping[str, Node], folder: str) -> SkillScan:
    """Scan a skill: ``files`` by their path inside it, ``folder`` its path as a view names it.

    A finding's place is a path, or ``path:offset`` into the file's text with LF line ends.
    """
    tree = {join(folder, path): node for path, node in files.items()}
    ignored = load_ignore({path: _text(tree, join(folder, path)) for path in IGNORE_FILES})
    seen = {join(folder, path): node for path, node in files.items() if not ignored(path)}
    findings, unsure = [], False
    for path, node in seen.items():
        if node.kind is not NodeKind.LINK:
            continue
        target = _resolve(tree, path)
        if target is None:
            return SkillScan(False, (_circle(path),), not_modelled=True)
        inside = _inside(target, folder)
        unsure = unsure or inside is None
        if inside is False:
            findings.append(_escape(path, target))
    findings += _structure(seen, folder)
    for path in seen:
        text = _text(tree, path) if _is_scanned(path) else None
        if text and text.strip():
            unsure = True
            findings += _content(text, path)
    blocked = any(finding.severity is Severity.DANGER for finding in findings)
    return SkillScan(blocked, tuple(findings), unsure)


def _is_scanned(path: str) -> bool:
    return name(path) == "SKILL.md" or PurePosixPath(path).suffix.lower() in SCANNED


def _text(tree: Mapping[str, Node], path: str) -> str | None:
    """A file's text with LF line ends, links followed; ``None`` if the agent cannot read it."""
    target = _resolve(tree, path)
    node = tree.get(target) if target is not None else None
    if node is None or node.kind is not NodeKind.FILE:
        return None
    try:
        return node.data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None


def _resolve(tree: Mapping[str, Node], path: str) -> str | None:
    """``path`` with the links of ``tree`` followed, ``None`` for a circle; need not exist."""
    done, todo, links = "", path.split("/"), 0
    if path.startswith("/"):
        done = "/"
    while todo:
        part = todo.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            done = parent(done) if done else ".."
            continue
        done = join(done, part)
        node = tree.get(done)
        if node is None or node.kind is not NodeKind.LINK:
            continue
        links += 1
        if links > MAX_LINKS:
            return None
        target = os.fsdecode(node.data)
        done = "/" if target.startswith("/") else parent(done)
        todo = target.split("/") + todo
    return done


def _inside(target: str, folder: str) -> bool | None:
    """Whether ``target`` lies in ``folder``; ``None`` when an absolute one may or may not."""
    if f"{target}/".startswith(f"{folder}/"):
        return True
    if target.startswith("/") and not folder.startswith("/") and f"/{folder}/" in f"{target}/":
        return None
    return False


def _structure(seen: Mapping[str, Node], folder: str) -> Iterator[Finding]:
    total = 0
    for path, node in seen.items():
        if node.kind is not NodeKind.FILE:
            continue
        size, suffix = len(node.data), PurePosixPath(path).suffix.lower()
        total += size
        if size > MAX_FILE_BYTES:
            said = f"The file is larger than {MAX_FILE_BYTES // 1024} KiB"
            yield _finding("oversized_file", Severity.INFO, said, path)
        if suffix in BINARIES:
            said = f"The file is a program or binary data ({suffix})"
            yield _finding("binary_file", Severity.DANGER, said, path)
        if node.mode & 0o111 and suffix not in SCRIPTS:
            said = "The file may be executed and is no script"
            yield _finding("unexpected_executable", Severity.INFO, said, path)
    count = sum(node.kind in (NodeKind.FILE, NodeKind.LINK) for node in seen.values())
    if count > MAX_FILES:
        said = f"The skill has {count} files, more than {MAX_FILES}"
        yield _finding("too_many_files", Severity.INFO, said, folder)
    if total > MAX_BYTES:
        said = f"The skill is larger than {MAX_BYTES // 1024} KiB"
        yield _finding("oversized_skill", Severity.WARNING, said, folder)


def _content(text: str, path: str) -> Iterator[Finding]:
    """The first place of each pattern in a file, and of an invisible character."""
    folded = fold(text)
    left = {pattern for pattern in CRITICAL + NOTED if pattern.occurs(folded)}
    offset = 0
    for number, line in enumerate(folded.split("\n") if left else (), 1):
        for pattern, start, end in strikes(tuple(left), Text(line)):
            left.remove(pattern)
            severity = Severity.DANGER if pattern in CRITICAL else Severity.WARNING
            said = f"Line {number} {pattern.says}"
            span = (offset + start, offset + end)
            yield replace(_finding(pattern.id, severity, said, f"{path}:{span[0]}"), spans=(span,))
        offset += len(line) + 1
    for hidden in invisible(text)[:1]:
        character = text[hidden]
        called = f"U+{ord(character):04X} ({INVISIBLE[character]})"
        said = f"Line {text.count(chr(10), 0, hidden) + 1} holds an invisible character, {called}"
        found = _finding("invisible_unicode", Severity.WARNING, said, f"{path}:{hidden}")
        yield replace(found, spans=((hidden, hidden + 1),))


def _escape(path: str, target: str) -> Finding:
    return _finding(
        "symlink_escape", Severity.DANGER, f"The link leaves the skill's folder: {target}", path
    )


def _circle(path: str) -> Finding:
    # Path.resolve() of Python 3.11 and 3.12 raises for a circle, and the agent then gives up.
    said = "The link leads in a circle: the agent's skill scanner may give up and pass everything."
    return Finding("broken_symlink", Severity.WARNING, said, path)


def _finding(code: str, severity: Severity, said: str, at: str) -> Finding:
    refused = severity is Severity.DANGER
    verdict = "refuses the skill for it" if refused else "notes it and lets it pass"
    return Finding(code, severity, f"{said}: the agent's skill scanner {verdict}.", at)
