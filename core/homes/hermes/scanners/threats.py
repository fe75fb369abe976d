"""What the agent takes for a threat: its patterns as chains of words, its invisible characters.

Ids, scopes, order and bounds are those of hermes-agent 0.19.0. It is a filter of words, so it also
hits honest sentences ("check in with the team").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.homes.hermes.scanners.phrases import Gap, Stretch, Text, Words, find

#: The invisible characters the agent looks for, and what a person calls them.
INVISIBLE = {
    "\u200b": "zero-width space",
    "\u200c": "zero-width non-joiner, also part of ordinary Persian and Indic text",
    "\u200d": "zero-width joiner, also part of many emoji",
    "\u2060": "word joiner",
    "\u2062": "invisible times",
    "\u2063": "invisible separator",
    "\u2064": "invisible plus",
    "\ufeff": "byte order mark",
    "\u202a": "left-to-right embedding",
    "\u202b": "right-to-left embedding",
    "\u202c": "end of a direction change",
    "\u202d": "left-to-right override",
    "\u202e": "right-to-left override",
    "\u2066": "left-to-right isolate",
    "\u2067": "right-to-left isolate",
    "\u2068": "first strong isolate",
    "\u2069": "end of an isolate",
}


class Scope(StrEnum):
    """Which patterns count. They nest; memory is written and loaded under ``STRICT``."""

    ALL = "all"
    CONTEXT = "context"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern: a chain and its gap, as :mod:`core.homes.hermes.phrases` reads them.

    ``keys``, parted by blanks: without one of these words there is no match. ``says`` completes
    the sentence "this text ...".
    """

    id: str
    keys: str
    chain: str
    says: str
    gap: Gap = Words(8)  # noqa: RUF009 - frozen

    def occurs(self, folded: str) -> bool:
        """Whether one of the keys stands in a folded text: a cheap look before the real one."""
        return any(key in folded for key in self.keys.split())


def invisible(text: str) -> list[int]:
    """Where each of the invisible characters in ``text`` stands first, in order."""
    if text.isascii():
        return []
    return sorted(text.index(character) for character in set(text) & INVISIBLE.keys())


def strikes(patterns: tuple[Pattern, ...], text: Text) -> Iterator[tuple[Pattern, int, int]]:
    """The patterns found in a folded text, each with the first place it was found."""
    for pattern in patterns:
        if pattern.occurs(text.folded):
            place = find(pattern.chain, pattern.gap, text)
            if place:
                yield pattern, *place


_LINE = Stretch(2048, "\n")
SECRET_VARIABLE = r"\$\{?\w*(key|token|secret|password|credential|api)"
SECRET_FILE = r"(\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)"
RULE_FILE = r"(agents\.md|claude\.md|\.cursorrules|\.clinerules)"
SECRET = r"""(api[_-]?key|token|secret|password)\s*+[=:]\s*+["'][a-z0-9+/=_-]{20,}"""
_CHANGE = "(update|modify|edit|write|change|append|add to) …"
_CHAT = "(conversation|chat history|previous messages|full context|entire context)"
_TOOLS = r"(cobalt\s*+strike|sliver|havoc|mythic|metasploit|brainworm)"
_VENDORS = "(claude|codex|hermes|agent|openai|anthropic)"
_REMOTE = "as remote-controlled malware does"

_INJECTION = (
    Pattern(
        "prompt_injection",
        "instructions",
        "ignore … (previous|all|above|prior) … instructions",
        "tells its reader to ignore instructions",
    ),
    Pattern(
        "sys_prompt_override",
        "override",
        "system prompt override",
        "speaks of overriding the system prompt",
    ),
    Pattern(
        "disregard_rules",
        "disregard",
        "disregard … (your|all|any) … (instructions|rules|guidelines)",
        "tells its reader to disregard rules",
    ),
    Pattern(
        "bypass_restrictions",
        "act",
        "act as (if|though) … you … (have no|don't have) … (restrictions|limits|rules)",
        "tells its reader to act as if there were no limits",
    ),
    Pattern(
        "html_comment_injection",
        "<!--",
        "<!--…(ignore|override|system|secret|hidden)…-->",
        "has an HTML comment with a word of command or secrecy in it",
        Stretch(512, ">"),
    ),
    Pattern(
        "hidden_div",
        "display",
        r"""<\s*+div style\s*+=\s*+["']…display\s*+:\s*+none""",
        "hides an HTML block from view",
        Stretch(2048, ">"),
    ),
    Pattern(
        "translate_execute",
        "translate",
        "translate … into … and (execute|run|eval)",
        "asks to translate something and run it",
        Stretch(512, "\n"),
    ),
    Pattern(
        "deception_hide",
        "tell",
        "do not … tell … the user",
        "asks to keep something from the user",
    ),
)
_IDENTITY = (
    Pattern(
        "role_hijack",
        "now",
        r"you are … now (a|an|the)\s",
        "tells its reader to be someone else now",
    ),
    Pattern(
        "role_pretend",
        "pretend",
        r"pretend … (you are|to be)\s",
        "asks its reader to pretend to be someone else",
    ),
    Pattern(
        "leak_system_prompt",
        "output",
        "output … (system|initial) prompt",
        "asks for the system prompt",
    ),
    Pattern(
        "remove_filters",
        "without",
        "(respond|answer|reply) without … (restrictions|limitations|filters|safety)",
        "asks for answers without safety rules",
    ),
    Pattern(
        "fake_update",
        "been",
        "you have been … (updated|upgraded|patched) to",
        "tells its reader about an update of itself",
    ),
    Pattern(
        "identity_override",
        "yourself",
        r"\bname yourself \w+",
        "gives its reader another name",
    ),
)
_CONTROL = (
    Pattern(
        "c2_node_registration",
        "register",
        r"register (as )?(a\s*+)?node",
        f"speaks of registering a node, {_REMOTE}",
    ),
    Pattern(
        "c2_heartbeat",
        "heartbeat beacon check",
        r"(heartbeat|beacon|check[\s-]?in) (to|with)\s",
        f"speaks of checking in with someone, {_REMOTE}",
    ),
    Pattern(
        "c2_task_pull",
        "task",
        r"pull (down )?(new )?task(ing|s)?\b",
        f"speaks of pulling tasks, {_REMOTE}",
    ),
    Pattern(
        "c2_network_connect",
        "network",
        r"connect to the network\b",
        f"speaks of connecting to the network, {_REMOTE}",
    ),
    Pattern(
        "forced_action",
        "must",
        r"you must … (register|connect|report|beacon)\b",
        "orders its reader to register, connect or report",
        Words(3),
    ),
    Pattern(
        "anti_forensic_oneliner",
        "liner",
        r"only use one[\s-]?liners?\b",
        "asks for one-liners only, a way to leave no traces",
    ),
    Pattern(
        "anti_forensic_disk",
        "disk",
        "never … (create|write) … (script|file) … disk",
        "asks to leave nothing on disk",
    ),
    Pattern(
        "env_var_unset_agent",
        "unset",
        rf"unset \w*{_VENDORS}\w*",
        "clears a variable of an agent or a model vendor",
    ),
    Pattern(
        "known_c2_framework",
        "strike sliver havoc mythic metasploit brainworm",
        rf"\b{_TOOLS}\b",
        "names a known attack tool",
    ),
    Pattern(
        "c2_explicit",
        "c2",
        r"\bc2 (server|channel|infrastructure|beacon)\b",
        "speaks of remote control of malware (C2)",
    ),
    Pattern(
        "c2_explicit_long",
        "command",
        r"\bcommand and control\b",
        'has the words "command and control"',
    ),
)
_SECRETS = (
    Pattern(
        "exfil_curl",
        "curl",
        f"curl …{SECRET_VARIABLE}",
        "hands a secret variable to curl",
        _LINE,
    ),
    Pattern(
        "exfil_wget",
        "wget",
        f"wget …{SECRET_VARIABLE}",
        "hands a secret variable to wget",
        _LINE,
    ),
    Pattern(
        "read_secrets",
        "cat",
        f"cat …{SECRET_FILE}",
        'has "cat" and the name of a file of secrets on one line',
        _LINE,
    ),
)
_STRICT = (
    Pattern(
        "send_to_url",
        "http",
        "(send|post|upload|transmit) … (to|at) https?://",
        "asks to send something to a web address",
        _LINE,
    ),
    Pattern(
        "context_exfil",
        "conversation history messages context",
        f"(include|output|print|share) … {_CHAT}",
        "asks to give out the conversation",
    ),
    Pattern(
        "ssh_backdoor",
        "authorized_keys",
        "authorized_keys",
        "names the file that says who may log in by SSH",
    ),
    Pattern(
        "ssh_access",
        "/.ssh",
        r"(\$home|~)/\.ssh",
        "names the user's SSH folder",
    ),
    Pattern(
        "hermes_env",
        "/.hermes/.env",
        r"(\$home|~)/\.hermes/\.env",
        "names the agent's file of secrets",
    ),
    Pattern(
        "agent_config_mod",
        "agents.md claude.md .cursorrules .clinerules",
        f"{_CHANGE}{RULE_FILE}",
        "speaks of changing a file of instructions for agents",
        _LINE,
    ),
    Pattern(
        "hermes_config_mod",
        ".hermes/",
        rf"{_CHANGE}\.hermes/(config\.yaml|soul\.md)",
        "speaks of changing the agent's own configuration",
        _LINE,
    ),
    Pattern(
        "hardcoded_secret",
        "key token secret password",
        SECRET,
        "holds what looks like a password or a key",
    ),
)
#: The patterns of each scope, in the agent's order: a refusal names the first one found.
PATTERNS = {
    Scope.ALL: _INJECTION + _SECRETS,
    Scope.CONTEXT: _INJECTION + _IDENTITY + _CONTROL + _SECRETS,
    Scope.STRICT: _INJECTION + _IDENTITY + _CONTROL + _SECRETS + _STRICT,
}
