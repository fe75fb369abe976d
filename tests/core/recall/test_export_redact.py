"""What a redaction hides and what it leaves: one table of each, and what holds for any text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conversations import Message, Session, ToolCall
from core.recall.redact import Redactor
from core.secrets_in_text import ISSUED, assigned, issued

PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nQyNTUxOQ==\n-----END OPENSSH PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
#: Text, the secret in it, and the kind that stands for it.
SECRETS = [
    ("use AKIAQRSTUVWX23456789 now", "AKIAQRSTUVWX23456789", "AWS key id"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "GitHub token"),
    ("token ghp_abc123def456 (short)", "ghp_abc123def456", "API key"),
    ("glpat-abcdefghij0123456789", "glpat-abcdefghij0123456789", "GitLab token"),
    ("xoxb-1234567890-abcdefghij", "xoxb-1234567890-abcdefghij", "Slack token"),
    ("sk-ant-api03-abcdefghijklmnop0123", "sk-ant-api03-abcdefghijklmnop0123", "Anthropic key"),
    ("key sk-abc123def456", "sk-abc123def456", "API key"),
    ("tvly-abc123def456", "tvly-abc123def456", "API key"),
    ("hvs.CAESIJ1234567890", "hvs.CAESIJ1234567890", "API key"),
    ("dapi0123456789abcdef0123456789abcdef", "dapi0123456789abcdef0123456789abcdef", "API key"),
    (f"got {JWT}.", JWT, "JSON web token"),
    ("unsigned eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0", "JSON web token"),
    ("https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/getMe", "123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "bot token"),
    ("https://hooks.slack.com/services/T000AAAA1/B000BBBB2/cccc3333dddd4444", "T000AAAA1/B000BBBB2/cccc3333dddd4444", "webhook"),
    ("https://discord.com/api/webhooks/123456789012/abcDEF123-ghi_JKL456", "abcDEF123-ghi_JKL456", "webhook"),
    (f"cat key\n{PEM}\ndone", PEM, "private key"),
    ("Authorization: Bearer abc.def-123", "abc.def-123", "authorization"),
    ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz", "authorization"),
    ('-H "Authorization: 0123456789abcdef"', "0123456789abcdef", "authorization"),
    ("sent Bearer abcdefgh12345678", "abcdefgh12345678", "authorization"),
    ("X-Api-Key: 0a1b2c3d4e", "0a1b2c3d4e", "API key"),
    ("Set-Cookie: sid=abc123def; Path=/", "sid=abc123def; Path=/", "cookie"),
    ("postgres://app:s3cr3t@db.example.org/main", "s3cr3t", "password"),
    ("redis://:pw0rd!@cache:6379", "pw0rd!", "password"),
    ("git clone https://0123456789abcdef@git.example.org/x.git", "0123456789abcdef", "token"),
    ("GET /cb?state=1&access_token=abcdef123&x=2", "abcdef123", "token"),
    ("https://b.s3.amazonaws.com/k?X-Amz-Signature=abcdef012345&X-Amz-Expires=60", "abcdef012345", "token"),
    ("curl -u bob:s3cret https://x.example.org", "s3cret", "password"),
    ("sshpass -p hunter2 ssh host", "hunter2", "password"),
    ("tool --password hunter2 run", "hunter2", "secret"),
    ("password=hunter2", "hunter2", "password"),
    ("password=correcthorse", "correcthorse", "password"),
    ("db:\n  password: correcthorse\n  port: 5432", "correcthorse", "password"),
    ("spring.datasource.password=abc", "abc", "password"),
    ("export DB_PASS=abc", "abc", "password"),
    ("The password is hunter2!", "hunter2!", "password"),
    ("if password == 'abc123':", "abc123", "password"),
    ("export OPENAI_API_KEY=abcdefgh12345678", "abcdefgh12345678", "API key"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI7MDENGbPxRfiCYzzzzzzzz12345", "wJalrXUtnFEMI7MDENGbPxRfiCYzzzzzzzz12345", "API key"),
    ("clientSecret: 'abc-def-ghi'", "abc-def-ghi", "secret"),
    ('{"accessToken":"ab12cd34ef"}', "ab12cd34ef", "token"),
    ('say {"password": "two words"} and go', "two words", "password"),
    ('PASSWORD="correct horse battery staple" x', "correct horse battery staple", "password"),
    ("mysql -u root -pHunter7!x db", "Hunter7!x", "password"),
    ("SSHPASS=Hunter8!x sshpass -e ssh h", "Hunter8!x", "password"),
    ("<password>Hunter9!x</password>", "Hunter9!x", "password"),
    ("| user | bob |\n| password | Hunter1!x |", "Hunter1!x", "password"),
    ("|password|7k|", "7k", "password"),
    ("| password | z9 |", "z9", "password"),
    ("password: $ecret1", "$ecret1", "password"),
    ("Authorization: AbcDefGhiJkl", "AbcDefGhiJkl", "authorization"),
    (r'print("{\\\"password\\\": \\\"Hunter2!x\\\"}")', "Hunter2!x", "password"),
    (r'{"out":"env\nghp_abc123def456\ncut', "ghp_abc123def456", "API key"),
    (r"a\tghp_abc123def456", "ghp_abc123def456", "API key"),
    ("\x1b[31mghp_abc123def456\x1b[0m", "ghp_abc123def456", "API key"),
    ("ghp_\x1b[1mabc123def456", "ghp_\x1b[1mabc123def456", "API key"),
    ("https://x.example.org/?q=%20ghp_abc123def456", "ghp_abc123def456", "API key"),
]  # fmt: skip
#: Talk of secrets, names of variables, and what only resembles one.
HARMLESS = [
    "The password is stored in the vault.",
    "password: required",
    "Password policy: rotate yearly.",
    "Write to bob@example.org or alice.b+c@mail.example.co.uk.",
    "MAX_TOKENS=4096 and token_count: 12000",
    "token: 12345678 of 200000",
    "tokens: 12000 per prompt",
    "PWD=/home/bob OLDPWD=/tmp",
    "api_key=settings.api_key",
    "connect(password=db_password, token=token)",
    "password = get_password()",
    "export API_KEY=$OPENAI_API_KEY",
    "token: ${GITHUB_TOKEN}",
    "api_key = os.environ['KEY']",
    "password: <your password>",
    "password=********",
    "password: [redacted: password]",
    "primary key: id1234567, foreign key: user12345",
    "docker run -u 1000:1000 image",
    "ssh://git@github.com/x/y.git",
    "https://example.org/a:b/c?page=2&sort=asc#x",
    "http://localhost:8080/x@y",
    "sk-learn-pipeline and task-management-for-everyone-in-the-team",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJ is how base64 of JSON begins",
    "author: Bob Token1",
    "a commit 0123456789abcdef0123456789abcdef01234567",
    "20260703_090000_e1e1e1 and 2026-07-03T09:00:00Z",
    "The cookie: chocolate.",
    "Public key: see https://keys.example.com/abcdef123456",
    "password: $DB_PASSWORD and PASSWORD=$PASS and password: $password1",
    "Authorization: required",
    "| password | string | needed |",
    "| hardcoded_secret | strict | a word |",
    r"(token|secret|password|credential|api) and cat (\.env|\.pgpass|\.npmrc|\.pypirc)",
    "<password>string</password>",
    "bypass=1 compass: n2",
    "C:\\new\\table and mysql -p -h localhost",
    '{"x": 1, "x": 2}',
    '{"password": {"type": "string", "description": "The password to use"}}',
    '["username", "password"]',
    '{"name": "read_secret", "content": "It says that all is well in 2 rooms."}',
    '{"name": "DB_PASSWORD", "value": "$DB_PASSWORD"}',
    '{"token_count": 123456789012, "password": true, "key": "id1234567"}',
    "keyboard: us, monkey: yes1, compass=n1",
]


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS)
def test_secrets_leave_a_mark_with_their_kind(text: str, secret: str, kind: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == text.replace(secret, f"[redacted: {kind}]")
    assert redactor.counts == {kind: 1}


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_talks_of_secrets_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.stored(text) == text
    assert redactor.total == 0


@pytest.mark.parametrize("text", [text for text, _, _ in SECRETS])
def test_marking_twice_changes_nothing(text: str) -> None:
    once = Redactor().stored(text)
    again = Redactor()
    assert again.stored(once) == once
    assert again.total == 0


#: JSON in which a value is a secret by what stands around it (breaker's list, b and c).
NEIGHBOURS = [
    '{"env":[{"name":"DB_PASSWORD","value":"Hunter3!x"}]}',
    '["sshpass","-p","Hunter3!x"]',
    '["mysql","-u","root","-pHunter3!x"]',
    '["login","--password","Hunter3!x"]',
    '["DB_PASSWORD","Hunter3!x"]',
    '{"password":["Hunter3!x"]}',
    '{"password":{"v":"Hunter3!x"}}',
    '{"password":{"a":[{"b":"Hunter3!x"}]}}',
    '{"x":"password=Hunter3!x","x":"ok"}',
    '{"password=Hunter3!x":1}',
    '{"Authorization":"Basic Hunter3!x"}',
    '\0json:[{"type":"text","text":"password: Hunter3!x"}]',
]


@pytest.mark.parametrize("text", NEIGHBOURS)
def test_in_json_the_neighbours_say_what_a_value_is(text: str) -> None:
    redactor = Redactor()
    hidden = redactor.stored(text)
    assert "Hunter3!x" not in hidden
    assert redactor.total == 1
    json.loads(hidden.removeprefix("\0json:"))
    assert Redactor().stored(hidden) == hidden


def test_numbers_under_a_secret_name_and_blobs() -> None:
    assert json.loads(Redactor().stored('{"api_key":5566778899001122}')) == {
        "api_key": "[redacted: API key]"
    }
    assert Redactor().value(b"\xff password=hunter2") == b"\xff password=[redacted: password]"


@given(
    st.lists(st.sampled_from([text for text, _, _ in SECRETS]), max_size=6), st.text(max_size=20)
)
def test_no_secret_of_many_survives(texts: list[str], between: str) -> None:
    # Between line breaks nothing can join the secret to its neighbour.
    whole = Redactor().text(f"\n\n{between}\n\n".join(texts))
    for text, secret, _ in SECRETS:
        if text in texts and len(secret) > 6 and secret not in between:
            assert secret not in whole


def test_a_private_key_without_its_end_is_hidden_and_the_text_after_it_stays() -> None:
    cut = PEM.rpartition("\n")[0]
    assert Redactor().text(f"{cut}\n\nThat was it.") == "[redacted: private key]\n\nThat was it."
    # As it stands in the JSON of a tool call.
    escaped = json.dumps({"text": PEM, "n": 1})
    assert Redactor().text(escaped) == '{"text": "[redacted: private key]", "n": 1}'


def test_fields_with_a_secret_name_are_hidden_whatever_they_hold() -> None:
    redactor = Redactor()
    asked = {
        "password": "two words",
        "api_key": "abcd1234",
        "token": "hello",
        "n": [{"pwd": "x y"}],
    }
    assert redactor.value(asked) == {
        "password": "[redacted: password]",
        "api_key": "[redacted: API key]",
        "token": "hello",
        "n": [{"pwd": "[redacted: password]"}],
    }
    assert redactor.counts == {"password": 2, "API key": 1}


def test_json_texts_stay_json_and_keep_their_bytes_when_clean() -> None:
    clean = '{ "a":1,\n "b": "caf\\u00e9" }'
    assert Redactor().stored(clean) == clean
    call = json.dumps({"command": 'export PASSWORD="a\\"b 1"; echo done', "n": 2})
    redacted = json.loads(Redactor().stored(call))
    assert redacted["n"] == 2
    assert 'a\\"b' not in redacted["command"]


def test_what_is_nested_too_deep_is_hidden_as_a_whole() -> None:
    value: object = "password=hunter2"
    for _ in range(100_000):
        value = [value]
    redactor = Redactor()
    assert redactor.value(value) == "[redacted: nested too deep to look through]"
    assert redactor.total == 1
    while isinstance(value, list):  # taken apart by hand: freeing it at once would recurse
        value = value.pop()


def test_messages_and_sessions() -> None:
    redactor = Redactor()
    call = ToolCall("c1", "terminal", '{"command": "login --token abc123def"}')
    message = Message(1, "s", "assistant", "password=hunter2", 1.0, 16, tool_calls=(call,))
    redacted = redactor.message(message)
    assert redacted.text == "password=[redacted: password]"
    assert redacted.tool_calls[0].arguments == '{"command": "login --token [redacted: secret]"}'
    assert redactor.session(Session("s", "cli", title="sk-abc123def456")).title == (
        "[redacted: API key]"
    )
    assert redactor.total == 3


def test_everything_the_advice_warns_of_is_hidden() -> None:
    for text, secret, _ in SECRETS:
        for found in (*issued(text), *assigned(text)):
            assert text[found.start : found.end] in secret
    assert len({kind for kind, _ in ISSUED}) == len(ISSUED)
