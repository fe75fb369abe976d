"""Where the agent's answer and ours may differ on purpose, and the first place they differ else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.homes.hermes.skills import usage
from core.homes.hermes.skills.tree import exists
from core.model import Node, NodeKind, Outcome, RowEdit
from core.view import Reading, Tree, View
from tests.interop.cases_memory import FILES
from tests.interop.compare import Answer, differing, landed

#: Rules of the agent's skill scanner that alone refuse a skill and are not modelled, by its names.
NOT_MODELLED = frozenset(
    {
        "anthropic_key_leaked",
        "aws_access_key_leaked",
        "bash_reverse_shell",
        "crypto_mining",
        "curl_pipe_python",
        "curl_pipe_shell",
        "destructive_home_rm",
        "destructive_root_rm",
        "disk_overwrite",
        "dns_exfil",
        "echo_pipe_exec",
        "embedded_private_key",
        "env_exfil_fetch",
        "env_exfil_httpx",
        "env_exfil_requests",
        "format_filesystem",
        "github_token_leaked",
        "jailbreak_dan",
        "jailbreak_dev_mode",
        "nopasswd_sudo",
        "openai_key_leaked",
        "python_environ_get_secret",
        "python_getenv_secret",
        "python_socket_oneliner",
        "reverse_shell",
        "ruby_env_secret",
        "setuid_setgid",
        "sudoers_mod",
        "suid_bit",
        "system_overwrite",
        "system_passwd_access",
        "tmp_staging",
        "truncate_system",
        "wget_pipe_shell",
    }
)
_BACKUP = re.compile(r"memories/\w+\.md\.bak\.\d+")


def of_memory(payload: Mapping[str, Any], answer: Answer, outcome: Outcome) -> str:
    """The first difference between two answers that is none of those meant; ``""``: none."""
    path = FILES["user" if payload.get("target") == "user" else "memory"]
    before, after = dict(answer.before), dict(answer.after)
    backups = {p for p in after if _BACKUP.fullmatch(p)}
    if bool(backups) != (answer.category == "external_drift"):
        return f"backups: {backups}"
    locks = {p for p in after.keys() - before.keys() if p.endswith(".lock")}
    if not locks <= set(outcome.locks):
        return f"the agent locked {locks}, ours {outcome.locks}"
    for left in backups | locks:
        del after[left]

    expected = answer.category
    if expected == "ok" and _data(before, path) == _data(after, path):
        # The agent's word is success; it may have rewritten the same bytes, with its own mode.
        expected = "noop"
        after = before
    if expected == "unreadable_target" and _decodes(_data(before, path)):
        # On purpose: 0.19 opens both stores, and one of them cannot be decoded. Only the store
        # the record names counts here.
        return ""
    if outcome.category == "unreadable_target" and _unread(before, path):
        # On purpose: the agent takes what it cannot open for an empty store. It is harmless here
        # only because the rewrite fails too, or something else is refused first.
        expected = "unreadable_target" if not answer.seen["success"] else expected
    if expected != outcome.category:
        return f"the agent says {expected}, ours {outcome.category}"
    if answer.kept == outcome.lands:
        return f"record kept: {answer.kept}"
    different = differing(landed(before, outcome), after)
    return f"trees differ: {different}" if different else ""


def _data(tree: Mapping[str, Node], path: str) -> bytes | None:
    return View(Tree(tree)).read(path).data


def _decodes(data: bytes | None) -> bool:
    try:
        (data or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _unread(tree: Mapping[str, Node], path: str) -> bool:
    node = tree.get(path)
    return node is not None and (
        node.kind is NodeKind.DIR
        or (node.kind is NodeKind.LINK and View(Tree(tree)).read(path).data is None)
    )


def of_skills(payload: Any, answer: Answer, outcome: Outcome) -> str:
    """As :func:`of_memory`, for a skill proposal."""
    if answer.category == "security_scan_blocked" and outcome.lands:
        # The one gap: rules of the agent's scanner that ours does not have, and says so.
        missed = NOT_MODELLED.issuperset(answer.seen["critical"])
        told = any(finding.code == "scan_not_modelled" for finding in outcome.findings)
        return "" if missed and told else f"missed {answer.seen['critical']}"
    if outcome.category == "unreadable_target" and answer.category != "unreadable_target":
        # On purpose: the agent writes through a link to nothing, and so makes a file where the
        # link leads (its scanner may still refuse it); signoff writes only what it can read first.
        dangling = any(_dangles(answer.before, path) for path in answer.before)
        return "" if dangling else f"the agent says {answer.category}, ours unreadable_target"
    if answer.category != outcome.category:
        return f"the agent says {answer.category}, ours {outcome.category}"
    if answer.kept == outcome.lands:
        return f"record kept: {answer.kept}"
    found_by = (answer.seen["strategy"], answer.seen["count"]) if answer.seen["strategy"] else None
    ours_by = (outcome.match.strategy, len(outcome.match.spans)) if outcome.match else None
    if outcome.lands and found_by != ours_by:
        return f"the agent matched {found_by}, ours {ours_by}"
    ours, peers = landed(answer.before, outcome), dict(answer.after)
    if not outcome.lands:
        _forget_leftovers(payload, answer, ours, peers)
    for tree in (ours, peers):
        tree.pop(usage.LOCK, None)
    rows = _rows_differ(answer, outcome)
    ours.pop(usage.PATH, None)
    peers.pop(usage.PATH, None)
    different = differing(ours, peers)
    return rows or (f"trees differ: {different}" if different else "")


def _dangles(tree: Mapping[str, Node], path: str) -> bool:
    return tree[path].kind is NodeKind.LINK and not exists(View(Tree(tree)), path)


def _forget_leftovers(
    payload: Any, answer: Answer, ours: dict[str, Node], peers: dict[str, Node]
) -> None:
    """What a refusal of the agent leaves behind and ours never does.

    Folders it made before it failed; after a scan also the text put back, with LF line ends and
    its own mode. A blocked create is taken back by removing the whole folder, with all that was
    in it before: named like a category, it costs the agent every skill in there.
    """
    for path in [path for path in peers if path not in ours]:
        if peers[path].kind is NodeKind.DIR:
            del peers[path]
    if answer.category == "security_scan_blocked":
        if payload["action"] == "create":
            folder = "/".join(p for p in ("skills", payload.get("category"), payload["name"]) if p)
            for path in [path for path in ours if f"{path}/".startswith(f"{folder}/")]:
                assert path not in peers
                del ours[path]
        for path, node in peers.items():
            before = ours.get(path)
            if before is not None and node != before and node.data == _lines(before.data):
                peers[path] = replace(node, data=before.data, mode=before.mode)


def _lines(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _rows_differ(answer: Answer, outcome: Outcome) -> str:
    """The agent's ``.usage.json`` against ours, new timestamps aside.

    On purpose it differs where the file cannot be parsed (the agent starts anew, ours leaves it)
    and in rows that are no objects (the agent drops or replaces them, ours keeps them).
    """
    before, after = answer.before.get(usage.PATH), answer.after.get(usage.PATH)
    data = before.data if before else None
    if usage.read_rows(Reading(data)).problem:
        told = any(finding.code == "usage_unreadable" for finding in outcome.findings)
        return "" if told or before == after else "rows lost without a finding"
    edits = [change for change in outcome.changes if isinstance(change, RowEdit)]
    if edits and usage.LOCK not in outcome.locks:
        return "rows change without the lock"
    made = usage.apply(data, edits) if edits else None
    ours = _told(data, made if made is not None else data)
    peers = _told(data, after.data if after else None)
    return "" if ours == peers else f"rows differ: {ours} and the agent's {peers}"


def _told(before: bytes | None, after: bytes | None) -> Any:
    """Rows to compare; as text, where no row is odd, since the agent's layout is kept as well."""
    old, new = _parsed(before), _parsed(after)
    odd = [key for key, row in old.items() if not isinstance(row, dict)]
    text = (after or b"").decode()
    for key, row in new.items():
        if not isinstance(row, dict):
            continue
        was = old.get(key) if isinstance(old.get(key), dict) else {}
        for field in ("last_patched_at", "created_at"):
            if row.get(field) != (was or {}).get(field):
                assert datetime.fromisoformat(row[field]).tzinfo is not None
                text = text.replace(json.dumps(row[field]), '"now"')
                row[field] = "now"
    return {key: row for key, row in new.items() if key not in odd} if odd else text


def _parsed(data: bytes | None) -> Mapping[str, Any]:
    rows = json.loads(data) if data and data.strip() else {}
    assert isinstance(rows, dict)
    return rows
