"""Past conversations of the real agent's database: spec hermes-sessions 1.4, 1.7, 7 and 9."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.conversations import Filters, Handoff, Relation, Session, Visibility
from core.errors import NotFoundError
from core.homes.hermes.sessions.store import StateDb
from tests.core.hermes.sessions.homes import AT, DATA, change, fixture_home, insert, make_home

ALL = Filters(with_hidden=True, with_archived=True)
CHAIN = ("20260702_080000_d0d0d1", "20260702_113000_d0d0d2", "20260702_180000_d0d0d3")
PAYMENT = "20260703_090000_e1e1e1"
LOGS = "20260711_090000_4e4e01"
POSTGRES = "20260707_090000_1b1b01"
REWIND = "20260707_140000_1b1b02"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return fixture_home(tmp_path / "home")


@pytest.fixture
def store(home: Path) -> StateDb:
    return StateDb(home, profile="work")


def ids(store: StateDb, wanted: Filters, limit: int = 500) -> list[str]:
    return [each.id for each in store.listing(wanted, limit).sessions]


def one(store: StateDb, session_id: str) -> Session:
    found = store.session(session_id)
    assert found is not None
    return found


# -- the list --------------------------------------------------------------------------------------


def test_the_list(store: StateDb) -> None:
    # 52 sessions: 4 delegates and 2 later parts of a chain get no row (section 9); two kanban and
    # two tool sessions are hidden, one is archived.
    found = store.listing(Filters(), 500)
    assert (len(found.sessions), found.total, found.hidden, found.archived) == (41, 41, 4, 1)
    assert found.by_source == {
        "cli": 17, "cron": 12, "telegram": 4, "discord": 3, "kanban": 2, "tool": 2, "tui": 1,
        "slack": 1, "whatsapp": 1, "api_server": 1, "a2a": 1,
    }  # fmt: skip
    times = [each.last_active or 0 for each in found.sessions]
    assert times == sorted(times, reverse=True)
    assert found.sessions[0].id == "20260717_100000_abcdf0"
    assert found.sessions[0].preview == (
        "Untitled quick question about docker volumes and kubernetes claims."
    )
    everything = store.listing(ALL, 500)
    assert (everything.total, everything.hidden, everything.archived) == (46, 0, 0)
    assert store.listing(Filters(), 3).sessions == found.sessions[:3]
    assert store.listing(Filters(), 3).total == 41
    assert store.listing(Filters(), 0).sessions == ()


def test_relations_in_the_list(store: StateDb) -> None:
    shown = {each.id: each.relation for each in store.listing(ALL, 500).sessions}
    assert shown["20260704_100000_f1f1f2"] is Relation.BRANCH
    # 7.10: a real conversation that 0.19.0's own list hides
    assert shown["20260706_120000_0a0a02"] is Relation.RESET
    assert set(shown.values()) == {Relation.ROOT, Relation.BRANCH, Relation.RESET}
    # 7.9: a delegate told by its marker alone, though it carries the gateway's own source
    assert "20260703_150500_e2e2e2" not in shown


def test_a_chain_is_one_row_under_its_newest_part(store: StateDb) -> None:
    # D32, hermes #65027, #12960
    (row,) = [each for each in store.listing(ALL, 500).sessions if each.chain == CHAIN]
    assert row.id == CHAIN[2]
    assert row.root_id == CHAIN[0]
    assert row.title == "Irrigation Controller"
    assert row.started_at == 1782979200.0
    assert row.relation is Relation.ROOT
    assert row.messages == 44
    assert row.parent_id == ""
    assert not row.preview.startswith("[CONTEXT")
    assert row.preview


def test_an_archived_root_does_not_hide_its_live_tip(home: Path, store: StateDb) -> None:
    # hermes #55588
    change(home, f"UPDATE sessions SET archived = 1 WHERE id = '{CHAIN[0]}'")
    assert CHAIN[2] in ids(store, Filters())
    change(home, f"UPDATE sessions SET archived = 1 WHERE id = '{CHAIN[2]}'")
    assert CHAIN[2] not in ids(store, Filters())
    assert store.listing(Filters(), 0).archived == 2
    assert CHAIN[2] in ids(store, Filters(with_archived=True))


def test_filters(store: StateDb) -> None:
    assert ids(store, Filters(sources=("tui", "slack"))) == [
        "20260716_100000_9d9d02", "20260714_090000_7b7b01"
    ]  # fmt: skip
    # A hidden source is shown once it is named; delegates never are.
    assert len(ids(store, Filters(sources=("kanban",)))) == 2
    assert ids(store, Filters(sources=("subagent",))) == []
    assert store.listing(Filters(sources=("tui",)), 9).by_source["cli"] == 17
    assert store.listing(Filters(sources=("tui",)), 9).hidden == 0
    assert len(ids(store, Filters(with_hidden=True))) == 45
    assert "20260714_150000_7b7b02" in ids(store, Filters(with_archived=True))
    # By the time in which a conversation took place: from its start to its last message.
    assert one(store, "20260714_150000_7b7b02").last_active == 1784041651.0
    for after, before, expected in [
        (1784041651.0, None, True), (1784041651.1, None, False),
        (None, 1784041200.1, True), (None, 1784041200.0, False),
    ]:  # fmt: skip
        wanted = replace(ALL, after=after, before=before)
        assert ("20260714_150000_7b7b02" in ids(store, wanted)) is expected, wanted
    assert ids(store, Filters(workspace="WORK/pay")) == [PAYMENT]
    assert ids(store, Filters(session_id=CHAIN[1])) == [CHAIN[2]]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ('"marks"', ["20260716_100000_9d9d02"]),
        ("100%", ["20260716_110000_9d9d03"]),
        ("e_p", ["20260716_110000_9d9d03"]),
        ("大别", ["20260708_090000_2c2c01"]),
        ("FIX #", ["20260709_140000_c3d4e5", "20260705_101500_b2c3d4"]),
        ("%", ["20260716_110000_9d9d03"]),
        ("*", []),
    ],
)
def test_titles_are_matched_letter_by_letter(
    store: StateDb, part: str, expected: list[str]
) -> None:
    # 7.13
    assert ids(store, Filters(title=part)) == expected


def test_the_list_follows_what_the_agent_writes(home: Path, store: StateDb) -> None:
    assert "new" not in ids(store, Filters())
    before = store.version()
    insert(home, "sessions", {"id": "new", "started_at": AT, "title": "Fresh"})
    assert store.version() != before
    assert ids(store, Filters())[0] == "new"
    insert(home, "messages", {"session_id": POSTGRES, "timestamp": AT + 1})
    assert ids(store, Filters())[:2] == [POSTGRES, "new"]
    change(home, "DELETE FROM sessions WHERE id = 'new'")
    assert "new" not in ids(store, Filters())


def test_versions_stand_still_when_nothing_is_written(home: Path, store: StateDb) -> None:
    # D43: what we read ourselves is no change
    insert(home, "sessions", {"id": "new"})
    first = store.version()
    store.listing(ALL, 10)
    store.outline(LOGS)
    assert store.version() == first


# -- one session -----------------------------------------------------------------------------------


def test_a_session(store: StateDb) -> None:
    found = one(store, "20260701_090000_a1b2c3")
    assert found.title == "Deploy Pipeline Fix"
    assert found.source == "cli"
    assert (found.messages, found.tool_calls, found.end_reason) == (40, 4, "cli_close")
    assert found.workspace == "/home/dev/work/shop"
    assert found.root_id == found.id
    assert found.chain == (found.id,)
    assert found.model == "anthropic/claude-sonnet-4.5"
    assert found.last_active is not None
    assert store.session("nobody") is None
    assert store.session("") is None


def test_a_part_of_a_chain(store: StateDb) -> None:
    for session_id in CHAIN:
        found = one(store, session_id)
        assert found.chain == CHAIN
        assert found.root_id == CHAIN[0]
    assert one(store, CHAIN[1]).relation is Relation.CONTINUATION
    assert one(store, CHAIN[1]).parent_id == CHAIN[0]
    assert one(store, CHAIN[1]).started_at == 1782982763.0


def test_a_family(store: StateDb) -> None:
    # 7.6, hermes #51101: parent, delegates, and one of theirs
    expected = [
        (PAYMENT, 0, Relation.ROOT),
        ("20260703_090230_e1e1e2", 1, Relation.DELEGATE),
        ("20260703_090300_e1e1e3", 1, Relation.DELEGATE),
        ("20260703_090330_e1e1e4", 2, Relation.DELEGATE),
    ]
    for session_id, _, _ in expected:
        found = store.family(session_id)
        assert [(e.session.id, e.depth, e.session.relation) for e in found] == expected
        assert {e.session.root_id for e in found} == {PAYMENT}
    assert found[1].session.preview
    chain = store.family(CHAIN[2])
    assert [(each.session.id, each.depth) for each in chain] == [*zip(CHAIN, range(3), strict=True)]
    (marked,) = store.family("20260703_150000_e2e2e1")[1:]
    assert (marked.session.source, marked.session.relation) == ("telegram", Relation.DELEGATE)
    assert store.family("nobody") == ()


def test_who_owns_a_message(store: StateDb) -> None:
    # 7.6: a message of a later part, asked for by its number alone
    mark = store.outline(CHAIN[2])[0]
    assert store.owner(mark.id) == CHAIN[2]
    assert store.owner(10**9) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOGS, LOGS),
        (f"  {LOGS}\n", LOGS),
        ("20260711", LOGS),
        ("CRON_266E70983203_20260702", "cron_266e70983203_20260702_053000"),
        (f"@session:work/{LOGS}", LOGS),
        (f"@session:WORK/{LOGS}", LOGS),
        (f"@session:{LOGS}", LOGS),
        ("@session:work/20260711", LOGS),
        (f"work/{LOGS}", LOGS),
    ],
)
def test_names_of_a_session(store: StateDb, text: str, expected: str) -> None:
    assert store.resolve(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no session"),
        ("@session:", "There is no session"),
        ("nobody", "There is no session 'nobody'"),
        ("%", "There is no session"),
        ("2026071_", "There is no session"),
        ("20260701_090000_A1B2C3x", "There is no session"),
        ("cron_266", "Several sessions begin with 'cron_266'"),
        (f"@session:home/{LOGS}", f"The session '{LOGS}' belongs to the profile 'home'"),
        ("\udcff", "There is no session"),
    ],
)
def test_what_names_no_session(store: StateDb, text: str, said: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        store.resolve(text)
    assert caught.value.message.startswith(said)
    assert caught.value.hint


def test_unusual_ids(tmp_path: Path) -> None:
    # 7.15: ids from imports may be anything
    home = make_home(tmp_path / "h")
    names = [
        "a/b",
        'it\'s 100%_"x"',
        "пример",
        "a b",
        "-x",
        "@session:q",
        " spaces ",
        "",
        "\u202eevil\x1b[2J",
    ]
    insert(home, "sessions", *({"id": name} for name in names))
    insert(home, "messages", *({"session_id": name, "content": name} for name in names))
    store = StateDb(home, profile="default")
    assert sorted(ids(store, Filters())) == sorted(names)
    for name in names:
        (mark,) = store.outline(name)
        assert store.messages([mark.id], name, 99)[0].text == name
        assert one(store, name).chain == (name,)
        assert [each.session.id for each in store.family(name)] == [name]
        assert store.resolve(name) == name


@pytest.mark.parametrize("stored", [b"bad\xff", b"blob"])
@pytest.mark.parametrize("kind", ["TEXT", "BLOB"])
def test_an_id_that_is_no_text_says_why_it_cannot_be_opened(
    tmp_path: Path, stored: bytes, kind: str
) -> None:
    """Found by a tester: it is listed, and "there is no session" was no answer."""
    home = make_home(tmp_path / "h")
    sql = f"INSERT INTO sessions (id, source, started_at) VALUES (CAST(? AS {kind}), 'cli', 1)"
    change(home, (sql, (stored,)))
    store = StateDb(home, profile="default")
    (listed,) = ids(store, Filters())
    if (stored, kind) == (b"blob", "TEXT"):
        assert store.resolve(listed) == "blob"
        return
    with pytest.raises(NotFoundError, match="stored as no valid text") as caught:
        store.resolve(listed)
    assert caught.value.hint


@pytest.mark.parametrize("link", ["@session:../x", "@session:./x", "@session:A b/x", "../x"])
def test_a_link_to_no_profile_suggests_none(store: StateDb, link: str) -> None:
    with pytest.raises(NotFoundError, match="is no name of a profile") as caught:
        store.resolve(link)
    assert "--profile" not in caught.value.hint


def test_totals(store: StateDb) -> None:
    # 4.2: the agent's own stats leave 22 of them out of every line
    found = store.totals()
    assert (found.sessions, found.archived, found.messages) == (52, 1, 1400)
    assert found.by_source == {
        "cli": 18, "cron": 12, "telegram": 7, "discord": 3, "subagent": 3, "kanban": 2, "tool": 2,
        "a2a": 1, "api_server": 1, "slack": 1, "tui": 1, "whatsapp": 1,
    }  # fmt: skip
    assert found.database_bytes == 2_252_800


# -- messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("session_id", "rows"),
    [
        ("20260712_080000_5f5f00", 0),
        ("20260712_081000_5f5f01", 1),
        ("20260712_082000_5f5f30", 30),
        ("20260712_083000_5f5f31", 31),
        ("20260713_090000_6a6a01", 254),
        ("nobody", 0),
    ],
)
def test_sizes(store: StateDb, session_id: str, rows: int) -> None:
    # 7.2
    marks = store.outline(session_id)
    assert len(marks) == rows
    assert len(store.messages([mark.id for mark in marks], session_id, 50)) == rows


def test_order_is_by_id_though_the_clock_went_back(store: StateDb) -> None:
    # 7.1
    marks = store.outline("20260714_090000_7b7b01")
    times = [mark.at or 0 for mark in marks]
    assert times != sorted(times)
    assert [mark.id for mark in marks] == sorted(mark.id for mark in marks)
    given = [mark.id for mark in reversed(marks)]
    found = store.messages(given, "20260714_090000_7b7b01", 10)
    assert [each.id for each in found] == given[::-1]


def test_what_the_agent_still_sees(store: StateDb) -> None:
    # 1.4: 56 archived by compaction (hermes #99568), 16 taken back (D31)
    seen = [mark.visibility for mark in store.outline(POSTGRES)]
    assert (seen.count(Visibility.SUMMARISED), seen.count(Visibility.LIVE)) == (56, 23)
    seen = [mark.visibility for mark in store.outline(REWIND)]
    assert (seen.count(Visibility.UNDONE), seen.count(Visibility.LIVE)) == (16, 16)
    marks = store.outline(REWIND)
    found = store.messages([mark.id for mark in marks], REWIND, 10)
    assert [each.visibility for each in found] == [mark.visibility for mark in marks]
    assert [each.role for each in found] == [mark.role for mark in marks]
    assert [each.at for each in found] == [mark.at for mark in marks]


def test_copies_that_compaction_carried_on(home: Path, store: StateDb) -> None:
    # hermes #99545
    copies = {mark.id: mark.copy_of for mark in store.outline(POSTGRES) if mark.copy_of}
    assert copies == {585: 582, 586: 583}
    # The same words said again at another time are no copy, other words at the same time neither.
    change(home, "UPDATE messages SET timestamp = timestamp + 1 WHERE id = 585")
    change(home, "UPDATE messages SET content = content || '.' WHERE id = 586")
    assert not any(mark.copy_of for mark in store.outline(POSTGRES))
    assert not any(mark.copy_of for mark in store.outline(LOGS))


def test_a_copy_of_a_copy_names_the_first(home: Path, store: StateDb) -> None:
    change(
        home,
        "INSERT INTO messages (session_id, role, content, timestamp) SELECT session_id, role,"
        " content, timestamp FROM messages WHERE id = 585",
    )
    assert store.outline(POSTGRES)[-1].copy_of == 582


def test_summaries(store: StateDb) -> None:
    # 1.7, D32
    for message_id, session_id in [(214, CHAIN[1]), (291, CHAIN[2]), (584, POSTGRES)]:
        (found,) = store.messages([message_id], session_id, 40)
        assert found.handoff is Handoff.MODEL
        assert not found.whole
    assert store.messages([585], POSTGRES, 40)[0].handoff is None


def test_contents_of_every_kind(store: StateDb) -> None:
    # 7.12
    marks = store.outline(LOGS)
    found = {each.id: each for each in store.messages([m.id for m in marks], LOGS, sys.maxsize)}
    log = found[710]
    assert (log.role, log.tool_name, log.whole) == ("tool", "terminal", True)
    assert len(log.text) == log.size == 204_074
    assert "\x1b[" in found[712].text
    assert found[709].tool_calls[0].name == "terminal"
    assert found[709].tool_calls[0].arguments == '{"command": "cat /var/log/worker.log"}'
    assert found[714].text
    assert found[714].text[0] != "\0"
    assert any(note.startswith("has image_url") for note in found[714].notes)
    assert found[716].text == "[multimodal content]"
    assert found[719].text == ""
    assert found[719].tool_calls[0].name == "memory"
    assert found[720].notes == ("effect applied",)
    assert found[723].notes == ("observed",)
    assert found[724].role == "system"
    assert found[725].text == ""
    (meta,) = [m for m in store.outline("20260706_120000_0a0a02") if m.role == "session_meta"]
    assert store.messages([meta.id], "20260706_120000_0a0a02", 9)[0].text == ""


def test_a_long_text_is_cut(store: StateDb) -> None:
    whole = store.messages([710], LOGS, sys.maxsize)[0]
    for longest in (0, 1, 5_000, 204_073, 204_074, 300_000):
        (found,) = store.messages([710], LOGS, longest)
        assert found.text == whole.text[:longest]
        assert found.size == 204_074
        assert found.whole is (longest >= 204_074)


def test_a_text_of_millions(home: Path, store: StateDb) -> None:
    # D47: one tool result of 12 million characters
    text = "é世🚀x" * 3_000_000
    insert(home, "messages", {"id": 9_000, "session_id": LOGS, "role": "tool", "content": text})
    (found,) = store.messages([9_000], LOGS, 20_001)
    assert (found.size, found.whole) == (12_000_000, False)
    assert found.text == text[:20_001]


def test_long_arguments_are_cut(home: Path, store: StateDb) -> None:
    call = '[{"id": "c", "function": {"name": "write_file", "arguments": "' + "x" * 900 + '"}}]'
    row = {"id": 9_001, "session_id": LOGS, "role": "assistant", "content": "", "tool_calls": call}
    insert(home, "messages", row)
    (found,) = store.messages([9_001], LOGS, 100)
    assert found.tool_calls[0].arguments == "x" * 100
    assert found.notes == ("arguments cut",)
    assert store.messages([9_001], LOGS, 900)[0].notes == ()


def test_ids_of_other_sessions_are_left_out(store: StateDb) -> None:
    assert store.messages([710, 1, -5, 10**30, 714], LOGS, 9)[0].id == 710
    assert [each.id for each in store.messages([710, 1, 714, 710], LOGS, 9)] == [710, 714]
    assert store.messages([], LOGS, 9) == ()


def test_the_debug_view(store: StateDb) -> None:
    assert store.debug(721) == (
        ("session", LOGS),
        ("sent to the model", "thanks\n\n<memory-context>user likes logs</memory-context>"),
        ("platform message id", "tg-5512"),
    )
    found = dict(store.debug(713))
    assert found["tokens"] == "42"
    assert found["finish reason"] == "stop"
    assert "encrypted_content" in found["codex reasoning items"]
    assert found["reasoning"]
    assert [label for label, _ in store.debug(714)] == ["session", "part"]
    assert store.debug(10**9) == ()


# -- properties ------------------------------------------------------------------------------------

TEXTS = st.one_of(st.none(), st.text(max_size=80), st.binary(max_size=60), st.integers(0, 99),
                  st.text(min_size=1, max_size=9).map(lambda each: each * 3_000),
                  st.text(max_size=9).map(lambda each: "\0json:" + each))  # fmt: skip


@given(
    st.lists(st.tuples(TEXTS, st.floats(0, 9), st.sampled_from("ab")), max_size=12),
    st.integers(0, 40),
)
@settings(max_examples=25)
def test_an_outline_ascends_and_a_cut_text_is_a_beginning(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str | bytes | int | None, float, str]],
    longest: int,
) -> None:
    home = make_home(tmp_path_factory.mktemp("h"))
    insert(home, "sessions", {"id": "a"}, {"id": "b"})
    scrub = [
        (t.encode("utf-8", "replace").decode() if isinstance(t, str) else t, at, s)
        for t, at, s in rows
    ]
    insert(
        home, "messages",
        *({"session_id": s, "content": t, "timestamp": at} for t, at, s in scrub),
    )  # fmt: skip
    store = StateDb(home)
    numbers = []
    for session_id in "ab":
        found = [mark.id for mark in store.outline(session_id)]
        assert found == sorted(found)
        numbers += found
        whole = store.messages(found, session_id, sys.maxsize)
        for cut, full in zip(store.messages(found, session_id, longest), whole, strict=True):
            assert full.whole
            assert full.size == len(full.text)
            assert cut.text == full.text[:longest]
            assert cut.size == full.size
            assert cut.whole is (full.size <= longest)
    assert len(numbers) == len(rows)


def test_the_data_is_the_agents_own() -> None:
    assert (DATA / "state.db").stat().st_size == 2_252_800
