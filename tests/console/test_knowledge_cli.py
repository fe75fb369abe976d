"""``signoff knowledge`` against its contract: shapes, exit codes, texts that are hostile."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.homes.rag.ranking import Searcher
from core.homes.rag.settings import DEFAULTS
from tests.console.plain import DATA, Answer, Cli

SIX_HOURS = "the queue drops jobs older than six hours"
SIX_HOURS_ID = "a2c03c47-4f25-aac0-559a-4d9bc0ee330d"
HOSTILE = "a\x1b]0;pwned\x07 [bold red]b[/] \u202eevil\u2028\x9b31m"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    made = Cli(tmp_path, monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PWD", raising=False)
    for name in [*DEFAULTS, "HERMES_WIKI_ROOT", "SIGNOFF_RAG_EMBEDDER", "SIGNOFF_RAG_ALLOW_REMOTE"]:
        monkeypatch.delenv(name, raising=False)
    made.setenv("HERMES_RAG_STORE", str(tmp_path / "store"))
    made.setenv("HERMES_RAG_WIKI_ROOT", str(tmp_path / "wikis"))
    return made


def knowledge(cli: Cli, *words: str, code: int = 0) -> Any:
    """The JSON of one command on project ``api``."""
    answer = cli("knowledge", *words, "--json")
    assert answer.code == code, answer.out
    return answer.json


def api(cli: Cli, *words: str, code: int = 0) -> Any:
    return knowledge(cli, *words, "--project", "api", code=code)


def plain(cli: Cli, *words: str) -> Answer:
    return cli("knowledge", *words, "--project", "api")


# -- shapes ----------------------------------------------------------------------------------------


def test_learn_recall_nodes(cli: Cli) -> None:
    said = api(cli, "learn", SIX_HOURS, "--kind", "queue:gotcha")
    assert said == {
        "store": str(cli.folder / "store"),
        "kind": "signoff",
        "ok": True,
        "id": SIX_HOURS_ID,
        "project": "api",
        "was": None,
        "replaced": None,
        "unmatched": None,
        "archived": [],
        "staged": 1,
        "threshold": 10,
        "consolidation_due": False,
        "text": SIX_HOURS_ID,
        "secrets": [],
        "journal": None,
    }
    found = api(cli, "recall", "older jobs")
    assert (found["engine"], found["project"], found["query"]) == ("lexical", "api", "older jobs")
    assert found["text"].split("\n")[-1] == f"[memory memory #a2c03c47] {SIX_HOURS}"
    assert found["hits"] == [
        {
            "layer": "memory",
            "global": False,
            "id": SIX_HOURS_ID,
            "path": "memory",
            "status": "active",
            "text": SIX_HOURS,
        }
    ]
    (node,) = api(cli, "nodes")["nodes"]
    assert (node["id"], node["status"], node["live"], node["document"]) == (
        SIX_HOURS_ID,
        "active",
        True,
        SIX_HOURS,
    )
    assert node["metadata"]["kind"] == "queue:gotcha"


def test_recall_for_people_is_exactly_the_stated_lines(cli: Cli) -> None:
    plain(cli, "learn", SIX_HOURS)
    answer = plain(cli, "recall", "older jobs")
    assert answer.out == (
        "Recall [api] for: older jobs\n"
        "[wiki: not built for api]\n"
        "[code: not built for api]\n"
        f"[memory memory #a2c03c47] {SIX_HOURS}\n"
    )
    assert answer.err == ""


def test_a_layer_that_is_none_gives_the_header_line(cli: Cli) -> None:
    """Specification memory-rag, section 6: any other word yields the header line only."""
    plain(cli, "learn", SIX_HOURS)
    answer = plain(cli, "recall", "older jobs", "--layer", "notes")
    assert (answer.code, answer.out) == (0, "Recall [api] for: older jobs\n")
    assert answer.err == "signoff: There is no layer 'notes': say auto, wiki, code, memory.\n"
    said = api(cli, "recall", "older jobs", "--layer", "notes")
    assert (said["text"], said["hits"]) == ("Recall [api] for: older jobs", [])


@pytest.mark.parametrize("embedder", ["none", "wordllama"])
def test_a_terminal_is_told_which_search_answered(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    plain(cli, "learn", SIX_HOURS)
    monkeypatch.setattr(Searcher, "_near", lambda self, collection, found, limit: found)
    cli.setenv("SIGNOFF_RAG_EMBEDDER", embedder)
    fake = SimpleNamespace(load=lambda **_: SimpleNamespace(embed=None))
    module = SimpleNamespace(__file__="/x/__init__.py", WordLlama=fake)
    monkeypatch.setitem(sys.modules, "wordllama", module)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    word = "Found by words and meaning." if embedder == "wordllama" else "Found by words."
    hit, *more = plain(cli, "recall", "older jobs").out.splitlines()[-3:]
    assert hit == f"[memory memory #a2c03c47] {SIX_HOURS}"
    told = " ".join(line.removeprefix("\x1b[2m").removesuffix("\x1b[0m") for line in more)
    assert told.startswith(word)
    assert "--top-memory" in told


def test_a_terminal_is_told_where_a_note_is_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for how in ("Kept", "There already"):
        assert plain(cli, "learn", SIX_HOURS).out.splitlines() == [
            SIX_HOURS_ID,
            f"\x1b[2m{how} in project api\x1b[0m",
        ]


def test_stats_has_the_names_of_the_original_and_every_setting_with_its_source(cli: Cli) -> None:
    api(cli, "learn", SIX_HOURS)
    cli.setenv("HERMES_RAG_MEMORY_CAP", "many")
    said = api(cli, "stats")
    assert {key: said[key] for key in list(said)[2:11]} == {
        "project": "api",
        "layers": {"code": 0, "wiki": 0, "memory": 1},
        "staged_notes": 1,
        "global_memory_notes": 0,
        "distinct_active_days": 1,
        "learnings_deposited": 1,
        "architecture_phased_recalls": 0,
        "wiki_suggestion": "not yet earned",
        "consolidation_due": False,
    }
    assert {row["name"] for row in said["settings"]} >= set(DEFAULTS)
    by_name = {row["name"]: row for row in said["settings"]}
    assert by_name["HERMES_RAG_STORE"]["from"] == "HERMES_RAG_STORE"
    assert by_name["HERMES_RAG_MEMORY_CAP"]["value"] == "50"
    assert any("many" in warning for warning in said["warnings"])
    assert said["projects"] == [{"project": "api", "layers": {"memory": 1}}]
    assert "HERMES_RAG_CHUNK_CHAR_CAP" in plain(cli, "stats").out


def test_a_store_in_a_git_tree_is_warned_of(cli: Cli) -> None:
    (cli.folder / ".git").mkdir()
    assert "git tree" in api(cli, "stats")["warnings"][0]
    assert "git tree" in plain(cli, "stats").out


def test_decisions_are_journalled_and_taken_back(cli: Cli) -> None:
    api(cli, "learn", SIX_HOURS)
    said = api(cli, "retire", "a2c03c47", "--reason", "wrong", "--note", "why")
    assert {key: said[key] for key in ("ok", "id", "verb", "category", "message", "journal")} == {
        "ok": True,
        "id": "a2c03c47",
        "verb": "retire",
        "category": "ok",
        "message": "retired a2c03c47 (wrong)",
        "journal": 1,
    }
    (entry,) = knowledge(cli, "journal")["entries"]
    assert (entry["verb"], entry["note"], entry["ok"]) == ("retire", "why", True)
    again = api(cli, "retire", "a2c03c47")
    assert (again["category"], again["message"]) == ("noop", "already retired — nothing changed")
    (result,) = knowledge(cli, "undo")["results"]
    assert (result["ok"], result["category"]) == (True, "undone")
    assert api(cli, "nodes")["nodes"][0]["status"] == "active"
    for verb, status in (("archive", "archived"), ("reactivate", "active")):
        assert api(cli, verb, "a2c03c47")["ok"]
        assert api(cli, "nodes")["nodes"][0]["status"] == status
    other = api(cli, "learn", "another", "--supersedes", "a2c03c47")
    assert (other["replaced"], other["journal"]) == (SIX_HOURS_ID, 5)
    timeline = api(cli, "nodes", "a2c03c47")["nodes"]
    assert [node["id"] for node in timeline] == [SIX_HOURS_ID, other["id"]]
    assert "superseded_by" in plain(cli, "nodes", "a2c03c47").out


def test_the_command_that_takes_it_back_works_as_it_is_printed(cli: Cli) -> None:
    plain(cli, "learn", SIX_HOURS)
    line = plain(cli, "retire", "a2c03c47").out.strip().rpartition("Take it back: signoff ")[2]
    assert cli(*line.split()).code == 0
    assert api(cli, "nodes", "--status", "live")["nodes"][0]["id"] == SIX_HOURS_ID


def test_merge_is_shown_then_applied_by_its_token(cli: Cli) -> None:
    api(cli, "learn", SIX_HOURS, "--kind", "queue:gotcha")
    shown = api(cli, "merge")
    assert (shown["applied"], shown["pages"][0]["path"]) == (False, "modules/queue.md")
    assert f"+- {SIX_HOURS}" in shown["changes"][0]["diff"]
    assert not (cli.folder / "wikis").exists()
    api(cli, "merge", "--apply", "--token", "0" * 12, code=2)
    answer = plain(cli, "merge")
    assert f"+- {SIX_HOURS}" in answer.out
    line = answer.out.strip().rpartition("Apply just this: signoff ")[2]
    assert line.split()[-1] == shown["token"]
    assert cli(*line.split()).code == 0
    assert knowledge(cli, "undo")["results"][0]["ok"]
    done = api(cli, "merge", "--apply", "--token", shown["token"])
    assert (done["ok"], done["applied"], done["journal"]) == (True, True, 3)
    assert SIX_HOURS in (cli.folder / "wikis/api/modules/queue.md").read_text()
    assert api(cli, "merge")["category"] == "noop"


def test_ingest_export_restore_compare_migrate(cli: Cli) -> None:
    (cli.folder / "api").mkdir()
    (cli.folder / "api" / "a.py").write_text("def queue(): pass\n")
    (cli.folder / "api" / "a.md").write_text("# Queue\n")
    said = knowledge(cli, "ingest-code", "api")
    assert {
        k: said[k] for k in ("ok", "project", "collection", "files", "pieces", "resumed_at")
    } == {
        "ok": True,
        "project": "api",
        "collection": "rag_api__code",
        "files": 2,
        "pieces": 2,
        "resumed_at": 0,
    }
    assert knowledge(cli, "ingest-wiki", "api")["pieces"] == 1
    said = knowledge(cli, "export", "--out", "x.jsonl", "--no-vectors")
    assert (said["nodes"], said["vectors"], said["numbers"]) == (3, None, None)
    refused = knowledge(cli, "export", "--out", "x.jsonl/y", code=1)
    assert refused["error"]["code"] == "unreadable"
    said = knowledge(cli, "restore", "--in", "x.jsonl", "--store", "copy")
    assert (said["nodes"], said["store"]) == (3, str(cli.folder / "copy"))
    knowledge(cli, "restore", "--in", "x.jsonl", "--store", "copy", code=1)
    knowledge(cli, "restore", "--in", "x.jsonl", "--store", "copy", "--force")
    said = knowledge(cli, "compare", "--a", "store", "--b", "copy", "--query", "queue")
    assert (said["identical"], said["top_a"]) == (True, said["top_b"])
    knowledge(cli, "compare", "--a", "x" * 300, "--b", "copy", code=3)
    knowledge(cli, "learn", "x", "--project", "api", "--store", "copy")
    assert not knowledge(cli, "compare", "--a", "store", "--b", "copy", code=1)["identical"]
    answer = cli("knowledge", "compare", "--a", "store", "--b", "copy")
    assert (answer.code, "MISMATCH" in answer.out) == (1, True)
    said = knowledge(cli, "migrate-status")
    assert (said["applied"], said["stamped"], said["nodes"]) == (False, 0, 3)
    assert knowledge(cli, "migrate-status", "--apply")["ok"]
    assert cli("knowledge", "migrate-status").out.endswith("would stamp 0 of 3\n")


@pytest.mark.parametrize(
    "words",
    [
        ("ingest-code", "."),
        ("ingest-wiki", "."),
        ("export", "--out", "y.jsonl"),
        ("restore", "--in", "x.jsonl", "--store", "copy"),
        ("journal",),
        ("stats",),
        ("merge", "--apply"),
        ("undo",),
    ],
)
def test_people_get_an_answer_of_each(cli: Cli, words: tuple[str, ...]) -> None:
    (cli.folder / "a.md").write_text("# Queue\n")
    project = cli.folder.name
    cli("knowledge", "learn", SIX_HOURS, "--kind", "queue:x")
    name = cli("knowledge", "learn", "other").out.strip()
    cli("knowledge", "archive", name[:8])
    cli("knowledge", "export", "--out", "x.jsonl")
    answer = cli("knowledge", *words)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.strip()
    assert project


# -- exit codes, stores, projects ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "word"),
    [
        (("retire", "ffffffff"), 3, "not_found"),
        (("retire", "abcd"), 1, "ambiguous"),
        (("retire", "a"), 3, "not_found"),
        (("supersede", "abcd0001", "ffffffff"), 3, "not_found"),
        (("learn", "  "), 2, "usage"),
        (("learn", "x", "--supersedes", " "), 2, "usage"),
        (("learn", "x", "--store", ""), 2, "usage"),
        (("nodes", "--layer", "other"), 2, "usage"),
        (("ingest-code", "absent"), 3, "not_found"),
        (("ingest-wiki", "x" * 300), 3, "not_found"),
        (("learn", "x", "--store", "x" * 300), 1, "unreadable"),
        (("retire", "\udcff" * 4), 3, "not_found"),
        (("nodes", "ffffffff"), 3, "not_found"),
        (("merge", "--store", "absent"), 0, ""),
    ],
)
def test_exit_codes(cli: Cli, words: tuple[str, ...], code: int, word: str) -> None:
    api(cli, "learn", SIX_HOURS)
    with sqlite3.connect(cli.folder / "store" / "signoff.sqlite3") as db:
        row = "INSERT INTO nodes_1 (id, document, metadata, path, live, created, source) VALUES (?, 'd', '{}', '', 1, '', '')"
        db.executemany(row, [("abcd0001-x",), ("abcd0002-x",)])
    said = api(cli, *words, code=code)
    assert said["error"]["code"] == word if word else said["ok"]


def test_reading_makes_no_store(cli: Cli) -> None:
    for words in (("recall", "x"), ("nodes",), ("stats",), ("merge",)):
        assert plain(cli, *words).code == 0
    assert not (cli.folder / "store").exists()


def test_which_store(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api(cli, "nodes", "--store", "other")["store"] == str(cli.folder / "other")
    said = cli("--kind", "rag", "knowledge", "nodes", "--json", home=cli.folder / "home")
    assert said.json["store"] == str(cli.folder / "home")
    assert api(cli, "nodes")["store"] == str(cli.folder / "store")
    monkeypatch.delenv("HERMES_RAG_STORE")
    assert api(cli, "nodes")["store"] == str(cli.folder / "nobody" / "hermes-rag")


def test_which_project(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cli.folder / "projects.yaml"
    file.write_text(f"- path: {cli.folder}/code\n  project: Site A/Blog\n")
    cli.setenv("HERMES_RAG_PROJECTS_FILE", str(file))
    (cli.folder / "code" / "src").mkdir(parents=True)
    (cli.folder / "link").symlink_to("code")
    monkeypatch.chdir(cli.folder / "code" / "src")
    assert knowledge(cli, "recall", "x")["project"] == "Site A/Blog"
    assert api(cli, "recall", "x")["project"] == "api"
    monkeypatch.chdir(cli.folder / "link")
    cli.setenv("PWD", str(cli.folder / "link"))
    assert knowledge(cli, "recall", "x")["project"] == "link", "links are not followed"


def test_a_chroma_store_is_read_and_says_what_it_cannot(cli: Cli) -> None:
    shutil.copytree(DATA / "chroma", cli.folder / "store")
    assert api(cli, "nodes")["kind"] == "chroma"
    assert "[wiki queue.md]" in plain(cli, "recall", "queue").out
    answer = knowledge(cli, "retire", "11112222", "--project", "global", code=2)
    assert "extra `chroma`" in answer["error"]["hint"]
    assert "numbers of its own model" in api(cli, "learn", "x", code=2)["error"]["message"]


def test_deciding_may_need_a_terminal(cli: Cli) -> None:
    api(cli, "learn", SIX_HOURS)
    (cli.folder / "settings.toml").write_text("decide_needs_terminal = true\n")
    for words in (("retire", "a2c03c47"), ("reactivate", "a2c03c47"), ("merge", "--apply")):
        assert plain(cli, *words).code != 0
    assert cli("knowledge", "undo").code != 0
    assert api(cli, "learn", "an agent may learn")["ok"]


# -- hostile texts ---------------------------------------------------------------------------------


def test_no_control_character_reaches_the_terminal(cli: Cli) -> None:
    api(cli, "learn", HOSTILE, "--kind", f"q:{HOSTILE}")
    name = api(cli, "nodes")["nodes"][0]["id"]
    assert api(cli, "nodes")["nodes"][0]["document"] == HOSTILE
    for words in (
        ("recall", f"evil {HOSTILE}"),
        ("nodes",),
        ("nodes", name[:8]),
        ("stats",),
        ("retire", name[:8], "--reason", HOSTILE),
        ("reactivate", name[:8]),
        ("merge",),
        ("merge", "--apply"),
        ("retire", HOSTILE),
    ):
        answer = plain(cli, *words)
        shown = answer.out + answer.err
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", shown), words
    assert "[bold red]b[/]" in plain(cli, "nodes").out, "markup is text"


def test_a_note_that_looks_like_a_secret_is_kept_and_said(cli: Cli) -> None:
    text = "deploy with ghp_" + "a1B2" * 9
    answer = plain(cli, "learn", text)
    assert (answer.code, "seems to hold a secret" in answer.err) == (0, True)
    assert api(cli, "learn", text)["secrets"] == ["GitHub token"]


def test_a_person_s_umask_does_not_open_the_store(cli: Cli) -> None:
    before = os.umask(0)
    try:
        api(cli, "learn", SIX_HOURS)
    finally:
        os.umask(before)
    folder = cli.folder / "store"
    modes = {p.name: p.stat().st_mode & 0o777 for p in [folder, *folder.iterdir()]}
    assert modes.pop("store") == 0o700
    assert set(modes.values()) == {0o600}


def test_the_doctor_says_where_notes_are_and_by_which_settings(cli: Cli) -> None:
    cli.setenv("HERMES_RAG_CONSOLIDATE_THRESHOLD", "7")
    home = cli.sample()
    found = cli("doctor", "--json", home=home).json["checks"]
    said = [(check["name"], check["ok"], check["message"]) for check in found]
    assert ("knowledge", None, f"no notes are kept in {cli.folder / 'store'} yet") in said
    assert ("knowledge", None, "notes are found by words") in said
    settings = [message for name, _, message in said if name == "setting"]
    assert "HERMES_RAG_CONSOLIDATE_THRESHOLD = 7 (HERMES_RAG_CONSOLIDATE_THRESHOLD)" in settings
    assert {line.split(" = ")[0] for line in settings} >= set(DEFAULTS)
    api(cli, "learn", SIX_HOURS)
    cli.setenv("SIGNOFF_RAG_EMBEDDER", "ollama")
    cli.setenv("HERMES_RAG_OLLAMA_URL", "http://10.0.0.1:11434")
    found = cli("doctor", "--json", home=home).json["checks"]
    said = [(check["name"], check["ok"], check["message"]) for check in found]
    assert ("knowledge", True, f"{cli.folder / 'store'} (signoff's own): 1 nodes") in said
    assert any(not ok and "another machine" in message for _, ok, message in said if ok is not None)


def test_the_journal_and_undo_of_a_store_that_is_named_as_a_home(cli: Cli) -> None:
    api(cli, "learn", SIX_HOURS)
    api(cli, "retire", "a2c03c47")
    store = cli.folder / "store"
    said = cli("journal", "--json", home=store).json
    assert (said["kind"], [entry["verb"] for entry in said["entries"]]) == ("rag", ["retire"])
    assert "retire a2c03c47" in cli("journal", "1", home=store).out
    (result,) = cli("undo", "--json", home=store).json["results"]
    assert (result["ok"], result["category"]) == (True, "undone")
    assert api(cli, "nodes")["nodes"][0]["status"] == "active"
    checks = cli("doctor", "--json", home=store).json["checks"]
    assert ("knowledge", True, f"{store} (signoff's own): 1 nodes") in [
        (c["name"], c["ok"], c["message"]) for c in checks
    ]
    answer = cli("pending", "--json", home=store)
    assert (answer.code, answer.json["error"]["code"]) == (2, "no_home")
    assert "`signoff knowledge`" in answer.json["error"]["hint"]


def test_the_group_alone_lists_its_commands(cli: Cli) -> None:
    answer = cli("knowledge")
    assert (answer.code, answer.err) == (0, "")
    assert "Ask and keep the notes of projects." in answer.out
    assert answer.out.count("\n") > 20, "a page, no line of it torn into another"
