"""Both scanners beside the agent's own, on texts and trees made from the words they look for."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.scanners.ignore import IGNORE_FILES, load_ignore
from core.homes.hermes.scanners.memory import Scope, blocked_at_load, refusal, scan
from core.homes.hermes.scanners.skills import CRITICAL, NOTED, scan_skill
from core.homes.hermes.scanners.threats import INVISIBLE, PATTERNS
from core.model import Node
from core.view import Disk, View
from tests.interop.peer import Peer

pytestmark = pytest.mark.peer

SEED = 20_260_401
TEXTS = 4_000
TREES = 400
#: Each id must have been found by the agent this often, or the comparison says nothing about it.
ENOUGH = 15

#: What the patterns look for; ``|`` parts choices, ``*`` stands for a few words between.
SENTENCES = (
    "ignore * previous|all|above|prior * instructions",
    "ignore * previous|prior instructions",
    "system * prompt * override",
    "system prompt override|over",
    "disregard * your|all|any * instructions|rules|guidelines",
    "act as if|though * you * have|don't no|have * restrictions|limits|rules",
    "act as if * you have no|none * limits",
    "act as though you don't have * rules",
    "<!-- * ignore|override|system|secret|hidden * -->",
    "<!--ignore-->",
    "<|<  div style = \"|' * display : none",
    '<div style="color:red;display:none">',
    "translate * into * and execute|run|eval",
    "do not * tell * the user",
    "you are * now a|an|the man",
    "pretend * you|to are|be good",
    "pretend * to be x",
    "output * system|initial prompt",
    "respond|answer|reply without * restrictions|limitations|filters|safety",
    "you have been * updated|upgraded|patched to",
    "name|rename yourself Rex|!",
    "register as|a|an a|node node|nodes",
    "register node|anode",
    "heartbeat|beacon|check-in|check|checkin in|to|with to|with us|!",
    "check in with the team",
    "pull down|new new|task task|tasks|tasking|tasked",
    "pull task|tasks|tasking|tasked",
    "connect to the network|networks",
    "you must * register|connect|report|beacon|reported daily",
    "only use one-liners|oneliner|one-linersx",
    "only use one liner|liners",
    "never * create|write * script|file * disk",
    "unset XCLAUDE_KEY|CODEX|my_agent_x|OPENAI_API_KEY|PATH|ANTHROPICS",
    "cobalt strike|strikes",
    "CobaltStrike|sliver|havoc|mythic|metasploit|brainworm|slivers",
    "c2|xc2 server|channel|infrastructure|beacon|servers",
    "command and control|controls",
    "curl|wget * $API_KEY|${MY_TOKEN}|$HOME|$x_password_y|$",
    "cat|concat * .env|credentials|.netrc|.pgpass|.npmrc|.pypirc|notes",
    "send|post|upload|transmit|ask * to|at http://x|https://y|ftp://z",
    "include|output|print|share * conversation|chat|previous|full|entire history|messages|context",
    "write|see * authorized_keys|authorized_\u212aeys|authorized",
    "~/.ssh/authorized_keys|$HOME/.ssh|$HOMES/.ssh|~/ssh|authorized-keys",
    "~/.hermes/.env|$HOME/.hermes/.env|/.hermes/.env",
    "update|modify|edit|write|change|append|add to|up * AGENTS.md|CLAUDE.md|.cursorrules|.clinerules",
    "edit|add to * .hermes/config.yaml|~/.hermes/SOUL.md|.hermes/x",
    "api_key|api-key|apikey|token|secret|password =|:|= \"abcdefghij0123456789\"|'short'|'ABCDEFGHIJKLMNOPQRST",
)
FILLERS = ("the", "of", "all", "you", "a1", "été", "ignore", "to", "into", "and", "new", "none")
BREAKS = (", ", ".", "-", ">", "$", "'", " > ")
SPACES = (" ", "  ", "\n", "\t", "\u00a0", "\u2028", " \n", "\x0b", "\x1f", "\r\n", "\u3000")
WIDE = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
OTHER_CASES = {"i": "\u0130\u0131", "s": "\u017f", "k": "\u212a"}
ODD = ("e\u0301", "\u00ad", "\ufe0f", "\u0430", "\ufb01", "\u1100\u1161\u11a8", "\uff76\uff9e", "Ω")


def sentence(dice: random.Random, template: str) -> str:
    """One sentence, on target or nearly."""
    words: list[str] = []
    for token in template.split():
        if token == "*":
            words += dice.choices(FILLERS, k=dice.choice((0, 0, 1, 1, 2, 3, 4, 7, 8, 9)))
        else:
            words.append(dice.choice(token.split("|")))
    roll = dice.random()
    if roll < 0.08:
        words.pop(dice.randrange(len(words)))
    elif roll < 0.14:
        words.insert(dice.randrange(len(words)), dice.choice(BREAKS).strip())
    elif roll < 0.17:
        dice.shuffle(words)
    text = words[0] if words else ""
    odd_spaces = dice.random() < 0.3
    for word in words[1:]:
        space = dice.choice(SPACES) if odd_spaces and dice.random() < 0.4 else " "
        text += dice.choice(("", dice.choice(BREAKS))) if dice.random() < 0.02 else space
        text += word
    return text


def spoil(dice: random.Random, text: str) -> str:
    """Other case, full-width letters, look-alikes, something invisible: one of them, or none."""
    roll = dice.random()
    if roll < 0.25:
        return "".join(dice.choice((c.upper(), c.lower(), c)) for c in text)
    if roll < 0.45:
        return "".join(WIDE.get(c, c) if dice.random() < 0.5 else c for c in text)
    if roll < 0.55:
        return "".join(dice.choice(OTHER_CASES.get(c.lower(), c)) for c in text)
    if roll < 0.65:
        at = dice.randrange(len(text) + 1)
        return text[:at] + dice.choice([*INVISIBLE, *ODD]) + text[at:]
    return text


def text_of(dice: random.Random) -> str:
    parts = [
        spoil(dice, sentence(dice, dice.choice(SENTENCES)))
        for _ in range(dice.choice((1, 1, 1, 2, 3)))
    ]
    tail = dice.choice(("", " ", ".", "x", "\n"))
    return dice.choice(SPACES).join(parts) + tail


def agent(peer: Peer, text: str, scope: Scope) -> list[str]:
    answer = peer.call(
        "invoke", target="tools.threat_patterns:scan_for_threats", args=[text, str(scope)]
    )
    found: list[str] = answer["value"]
    return found


def assert_same(peer: Peer, text: str, count: Counter[str] | None = None) -> None:
    for scope in Scope:
        theirs, ours = agent(peer, text, scope), [hit.pattern for hit in scan(text, scope)]
        hidden = [found for found in theirs if found.startswith("invisible_")]
        assert sorted(ours[: len(hidden)]) == sorted(hidden), (scope, text)
        assert ours[len(hidden) :] == theirs[len(hidden) :], (scope, text)
        if scope is Scope.STRICT and count is not None:
            count.update(theirs)


def test_same_ids_in_the_same_order_in_every_scope(peer: Peer) -> None:
    dice, count = random.Random(SEED), Counter[str]()
    for _ in range(TEXTS):
        assert_same(peer, text_of(dice), count)
    wanted = {pattern.id for pattern in PATTERNS[Scope.STRICT]}
    rare = {name: count[name] for name in wanted if count[name] < ENOUGH}
    assert not rare
    assert {f"invisible_unicode_U+{ord(c):04X}" for c in INVISIBLE} <= count.keys()


@pytest.mark.parametrize("limit", [512, 2048])
def test_same_answer_at_the_edge_of_a_gap(peer: Peer, limit: int) -> None:
    """Section 5.1: how far apart two pieces may stand, and whose whitespace is whose."""
    pairs = (
        ("<!--", "secret-->"),
        ("<!--secret", "-->"),
        ("translate ", " into x and run"),
        ("translate x into ", " and run"),
        ("<div style='", "display:none"),
        ("curl ", "$API"),
        ("cat ", ".env"),
        ("send ", " to http://"),
        ("add to ", "AGENTS.md"),
        ("edit ", ".hermes/SOUL.md"),
    )
    for left, right in pairs:
        for fill in ("x", " ", "\n", ">", "x ", " x"):
            for size in (0, 1, 2, limit - 2, limit - 1, limit, limit + 1, limit + 2, limit + 3):
                gap = (fill * size)[:size]
                assert_same(peer, left + gap + right)
                assert_same(peer, left.strip() + gap + right.strip())


def test_same_answer_at_the_edge_of_the_window(peer: Peer) -> None:
    """Section 5.1: what lies past 65,536 characters is not looked at."""
    for at in range(65_536 - 24, 65_536 + 2):
        assert_same(peer, "x" * (at - 1) + " system prompt override\u200b")
    assert_same(peer, "\ufdfa" * 65_530 + " ~/.ssh")


def test_a_refusal_is_what_the_write_path_says_first(peer: Peer) -> None:
    dice = random.Random(SEED + 1)
    for _ in range(500):
        text = text_of(dice)
        said = peer.call("invoke", target="tools.memory_tool:_scan_memory_content", args=[text])
        ours, message = refusal(text), said["value"]
        assert (ours is None) == (message is None), text
        if ours and ours.category == "threat_pattern":
            assert f"'{ours.hit.pattern}'" in message, text
        elif ours:
            assert "invisible" in message, text


#: What stands in the agent's prompt for these entries.
LOAD = """__import__("tools.memory_tool").memory_tool.MemoryStore._sanitize_entries_for_snapshot(
entries, "MEMORY.md")"""


def test_the_same_entries_are_kept_out_of_prompts(peer: Peer) -> None:
    dice = random.Random(SEED + 2)
    entries = [text_of(dice) for _ in range(300)]
    entries += [f"[BLOCKED:{entry}" for entry in entries[:40]] + [f" [BLOCKED:{entries[0]}", ""]
    shown = peer.call("invoke", target="builtins:eval", args=[LOAD, {"entries": entries}])
    for entry, in_prompt in zip(entries, shown["value"], strict=True):
        ids = [hit.pattern for hit in blocked_at_load(entry)]
        assert (in_prompt != entry) == bool(ids), entry
        assert all(name in in_prompt for name in ids), entry


# -- skills ------------------------------------------------------------------------------------

#: What the agent finds in a folder, as plain rows; an exception is what makes it let all pass.
SCAN = """[[f.pattern_id, f.severity, f.file] for f in __import__(
"tools.skills_guard").skills_guard.scan_skill(__import__("pathlib").Path(folder), "agent-created").findings]"""
STRUCTURE = {
    "symlink_escape",
    "binary_file",
    "oversized_file",
    "unexpected_executable",
    "too_many_files",
    "oversized_skill",
    "invisible_unicode",
}
MODELLED = STRUCTURE | {pattern.id for pattern in (*CRITICAL, *NOTED)}
NAMES = (
    "SKILL.md",
    "notes.md",
    "refs/a.md",
    "refs/deep/b.TXT",
    "refs/SKILL.md",
    "docs/x.html",
    "scripts/run.sh",
    "scripts/run",
    "lib.so",
    "data.bin",
    "docs/plans/p.json",
    ".hidden.md",
    "README",
)
IGNORES = ("docs/", "/docs/", "refs", "*.md", "deep", "/notes.md", "# x", "plans/", "r*/b.TXT")
TARGETS = ("notes.md", "../x", "/etc/hosts", "refs", ".", "..", "gone.md", "loop", "refs/../../s")
UNMODELLED = ("rm -rf / now", "sudo make", "see /etc/passwd", "import os; os.system('x')", "xmrig")


def plant(dice: random.Random, folder: Path) -> None:
    """A small skill: some files, some hits, sometimes a link or a list of what to leave out."""
    for path in dice.sample(NAMES, dice.choice((1, 2, 4, 6))):
        lines = [
            sentence(dice, dice.choice(SENTENCES))
            if dice.random() < 0.5
            else dice.choice((*FILLERS, "plain words here", "cat > .env", "cat  > .env"))
            for _ in range(dice.choice((0, 1, 1, 3)))
        ]
        if dice.random() < 0.1:
            lines.append(dice.choice(UNMODELLED))
        text = dice.choice(("\n", "\r\n", "\r")).join(lines)
        data = spoil(dice, text).encode() if dice.random() < 0.3 else text.encode()
        if dice.random() < 0.05:
            data += b"\xff"
        if dice.random() < 0.03:
            data += b"y" * (300 * 1024)
        full = folder / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(data)
        full.chmod(dice.choice((0o644, 0o644, 0o755)))
    if dice.random() < 0.25:
        (folder / dice.choice(("link.md", "loop"))).symlink_to(dice.choice(TARGETS))
    if dice.random() < 0.3:
        name = dice.choice((".skillignore", ".clawhubignore"))
        (folder / name).write_text("\n".join(dice.choices(IGNORES, k=2)) + "\n\n")
    if dice.random() < 0.03:
        for number in range(52):
            (folder / f"{number}.csv").write_bytes(b"z" * dice.choice((1, 40_000)))


#: Which of the paths the agent leaves out of a skill's scan.
LEFT_OUT = """[path for ignore in [__import__("tools.skills_guard").skills_guard._load_skill_ignore(
__import__("pathlib").Path(folder))] for path in paths if ignore(path)]"""


def test_the_lists_leave_out_the_same_files(peer: Peer, tmp_path: Path) -> None:
    dice, count = random.Random(SEED), Counter[bool]()
    parts = ("docs", "a.md", "b.md", "SKILL.md", "x", "Docs", ".skillignore", "d")
    globs = (*parts, "*", "*.md", "d*", "?.md", "[ab].md", "[!a].md", "#", "", "**")
    for _ in range(400):
        lines = [
            dice.choice(("", "", "/", "//", " "))
            + "/".join(dice.choices(globs, k=dice.choice((1, 1, 2, 3))))
            + dice.choice(("", "", "/", " ", "\x0c"))
            for _ in range(dice.choice((1, 2)))
        ]
        data = dice.choice(("\n", "\r\n", "\u2028")).join(lines).encode()
        data += b"\xff" if dice.random() < 0.05 else b""
        name = dice.choice(IGNORE_FILES)
        (tmp_path / name).write_bytes(data)
        paths = ["/".join(dice.choices(parts, k=dice.choice((1, 2, 3)))) for _ in range(20)]
        answer = peer.call(
            "invoke",
            target="builtins:eval",
            args=[LEFT_OUT, {"folder": str(tmp_path), "paths": paths}],
        )
        try:
            text = data.decode().replace("\r\n", "\n")
        except UnicodeDecodeError:
            text = None
        ignored = load_ignore({name: text})
        assert [path for path in paths if ignored(path)] == answer["value"], (data, paths)
        count.update(ignored(path) for path in paths)
        (tmp_path / name).unlink()
    assert min(count[True], count[False]) > 500


def read(folder: Path) -> dict[str, Node]:
    rows = View(Disk(folder)).tree("")
    return {path: node for path, node in rows if path}


def test_the_skill_scanner_agrees_where_it_is_modelled(peer: Peer, tmp_path: Path) -> None:
    dice, count = random.Random(SEED), Counter[str]()
    for number in range(TREES):
        folder = tmp_path / str(number) / "s"
        folder.mkdir(parents=True)
        plant(dice, folder)
        files = read(folder)
        ours = scan_skill(files, "skills/s")
        answer: dict[str, Any] = peer.call(
            "invoke", target="builtins:eval", args=[SCAN, {"folder": str(folder)}]
        )
        if "raised" in answer:
            assert answer["raised"][0] == "RuntimeError"
            assert [finding.code for finding in ours.findings] == ["broken_symlink"]
            assert ours.not_modelled
            count["circle"] += 1
            continue
        rows = answer["value"]
        theirs = {(code, path) for code, _, path in rows if code in MODELLED}
        mine = {(finding.code, place(finding.at or "")) for finding in ours.findings}
        assert mine == theirs, (files, mine ^ theirs)
        blocked = any(severity == "critical" for _, severity, _ in rows)
        known = any(severity == "critical" for code, severity, _ in rows if code in MODELLED)
        assert ours.blocked == known, files
        if blocked and not known:
            assert ours.not_modelled, files
            count["blocked by what is not modelled"] += 1
        if not ours.not_modelled:
            assert blocked == ours.blocked
            count["judged for certain"] += 1
        count.update({code for code, _ in theirs})
    assert count["circle"]
    assert count["blocked by what is not modelled"] >= 5
    assert count["judged for certain"] >= 5
    assert not {name for name in MODELLED if not count[name]}


def place(at: str) -> str:
    """A finding's place as the agent names it."""
    path = at.split(":")[0].removeprefix("skills/s").removeprefix("/")
    return path or "(directory)"
