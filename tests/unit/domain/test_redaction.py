"""Redaction masks secrets and nothing else, in linear time for any text."""

import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.redaction import SecretKind, redact, secrets_in
from tests.sweeps import whole_or
from tests.waiting import soon

CHANCE = random.Random(7)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def random_key(length: int) -> str:
    """Return random letters and digits, both among the first ten."""
    return "a1B2" + "".join(CHANCE.choices(LETTERS, k=length - 4))


KNOWN = {
    "OpenAI": f"sk-{random_key(48)}",
    "OpenAI project": f"sk-proj-{random_key(40)}_{random_key(20)}-{random_key(20)}",
    "Anthropic": f"sk-ant-api03-{random_key(90)}",
    "OpenRouter": f"sk-or-v1-{'0a1b2c3d' * 8}",
    "Groq": f"gsk_{random_key(52)}",
    "xAI": f"xai-{random_key(80)}",
    "Perplexity": f"pplx-{random_key(48)}",
    "Hugging Face": f"hf_{random_key(34)}",
    "Replicate": f"r8_{random_key(37)}",
    "Jina": f"jina_{random_key(60)}",
    "Voyage": f"pa-{random_key(43)}",
    "NVIDIA": f"nvapi-{random_key(64)}",
    "Google": f"AIzaSy{random_key(33)}",
    "Google OAuth": f"ya29.{random_key(60)}",
    "AWS": "AKIA" + "Q2W3E4R5T6Y7U8I9",
    "Alibaba": f"LTAI{random_key(20)}",
    "Baidu": f"bce-v3/ALTAK-{random_key(20)}/{random_key(40)}",
    "GitHub": f"ghp_{random_key(36)}",
    "GitHub fine-grained": f"github_pat_{random_key(22)}_{random_key(59)}",
    "GitLab": f"glpat-{random_key(20)}",
    "npm": f"npm_{random_key(36)}",
    "PyPI": f"pypi-AgEIcHlwaS5vcmc{random_key(60)}",
    "Slack bot": f"xoxb-123456789012-1234567890123-{random_key(24)}",
    "Slack app": f"xapp-1-A012345-123456-{random_key(40)}",
    "Stripe": f"sk_live_{random_key(24)}",
    "SendGrid": f"SG.{random_key(22)}.{random_key(43)}",
    "Mailgun": f"key-{'0a1b2c3d' * 4}",
    "Telegram": f"123456789:AA{random_key(33)}",
    "Discord": f"MTIz{random_key(20)}.abcdef.{random_key(30)}",
    "web token": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{random_key(43)}",
    "Zhipu": f"{'0a1b2c3d' * 4}.{random_key(16)}",
    "age": f"AGE-SECRET-KEY-1{random_key(58).upper()}",
}
CONTEXTS = ("{}", "the key {}.", "用这个密钥 {}，好吗？", "KEY={}", '"{}"', "({})", "key: {}\nnext", "`{}`", "a\t{}\tb")

MASKED = {
    "key sk-abcdefghijklmnopqrstuvwxyz012345 and token ghp_abcdefghijklmnopqrstuvwxyz0123456789": (
        "key sk-abc…2345 and token ghp_ab…6789"
    ),
    "password: hunter2.": "password: ***.",
    "my Password is hunter2!": "my Password is ***!",
    "the passphrase is tr0ub4dor&3, ok": "the passphrase is ***, ok",
    "密码是abc123，记住": "密码是***，记住",
    "密码：hunter": "密码：***",
    "WiFi 密码改成 Sommer2026!": "WiFi 密码改成 ***!",
    "my pw is password: hunter2hunter2": "my pw is password: ***",
    "the password is password: x9x9x9": "the password is password: ***",
    "pwd: token: abcDEF123456789xyz": "pwd: token: ***",
    "password: the passphrase is tr0ub4dor&3": "password: the passphrase is ***",
    "password=token=abc12345": "password=***",
    "DB_PASSWORD=correct": "DB_PASSWORD=***",
    "pwd=abc123!": "pwd=***",
    "Passwort: hunter2": "Passwort: ***",
    "密码 abc12345": "密码 ***",
    "sshpass -p 'hunter2' ssh x": "sshpass -p '***' ssh x",
    "SECRET_KEY_BASE=0123456789abcdef0123": "SECRET_KEY_BASE=***",
    "export DB_PASS='two words'": "export DB_PASS='***'",
    '{"password": "correct horse"}': '{"password": "***"}',
    r"{\"clientSecret\": \"abcdefgh1234\"}": r"{\"clientSecret\": \"***\"}",
    'config["api_key"] = "abcdefgh1234"': 'config["api_key"] = "***"',
    "postgres://me:s3cr3t@db:5432/x": "postgres://me:***@db:5432/x",
    "redis://:onlypassword@cache": "redis://:***@cache",
    "https://x.y/?token=abcd1234efgh&page=1": "https://x.y/?token=***&page=1",
    "mysql --password hunter2 --host a": "mysql --password *** --host a",
    "curl -s -u me:pass https://x": "curl -s -u me:*** https://x",
    "Authorization: Basic dXNlcjpwYXNz": "Authorization: Basic ***",
    "-H 'X-Api-Key: 0123456789abcdef'": "-H 'X-Api-Key: ***'",
    "Cookie: sid=abc; theme=dark": "Cookie: ***",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY": "aws_secret_access_key = wJalrX…EKEY",
    "hooks.slack.com/services/T0001/B0001/abcdefgh1234567890": "hooks.slack.com/services/T0001/…7890",
    "card 4111 1111 1111 1111, paid": "card …1111, paid",
    "卡号4111-1111-1111-1111": "卡号…1111",
    "amex 378282246310005": "amex …0005",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nabcd==\n-----END PRIVATE KEY-----\nrest": (
        "-----BEGIN PRIVATE KEY-----…-----END PRIVATE KEY-----\nrest"
    ),
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkq\nabcdefabcdefabcd\nand then": (
        "-----BEGIN RSA PRIVATE KEY-----…\nand then"
    ),
    r'"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n"': r'"-----BEGIN PRIVATE KEY-----…"',
}

ORDINARY = (
    "Password: must contain eight letters",
    "I forgot my password again, and the secret to a good pie is butter.",
    "The token is invalid. The token: what is it?",
    "max_tokens=4096, tokens: 1200, 3 passes, pass: 1200 of 1300",
    "密码长度为8位，密码要定期换，密码为8位数字",
    "这个设计的密钥在于简单",
    "commit 42af657e0b1c2d3e4f5061728394a5b6c7d8e9f0 and 42af657",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "2026-01-30T18:16:00Z, 1769797000123456, order 4929123412341234567890",
    "phone +49 170 1234567, 13800138000, 4111 1111 1111 1112",
    "password=self.password, token=token, api_key=get_key(), secret=${SECRET}, pwd=$PWD",
    "password: str, api_key: Optional[str] = None",
    "密码 sha256 是什么，口令红包，验证码是 123456，密码：不要告诉别人",
    "My password manager is 1Password7, and password reset links expire at 10:45",
    "Authorization: Bearer <token>, authorization: see docs, token: JWT, auth: OAuth2",
    "IPv6 2001:0db8:85a3:0000:0000:8a2e:0370:7334, IBAN DE89370400440532013000",
    "git@github.com:me/repo.git https://user@host/x http://localhost:8080/@vite/client",
    "https://github.com/me/repo/commit/42af657e0b1c2d3e4f5061728394a5b6c7d8e9f0",
    'const token = await getToken(); password = input("Password: "); token = tokens[0]',
    "PWD=/home/me/project pwd: /tmp/x1",
    "primary_key=user_id sort_key=created_at foreign_key: account",
    "sk-learn-contrib-py-earth, sk-estimator-id-1, risk-2024-0001, hf_transfer",
    "https://example.com:8080/path?page=2&key=name and mail me@example.com",
    "use --password to set it, --token from the page",
    "Bearer of good news since yesterday",
    "Cookie: take two eggs",
    "session:discord-general-20260130#Q17 memory/2026-01-30.md#L12",
    '"sessionKey": "agent:main:telegram:direct:42"',
    "my password is on the shelf, token: see the wiki, pw is password: what?",
    "the password is token: which one is a password?",
    "npm_config_registry, github_pat_length, xoxo-many-kisses",
    "password=<your password>, token: YOUR_TOKEN, secret=***, api_key=xxxxxxxx",
)


@pytest.mark.parametrize("context", CONTEXTS)
def test_provider_keys_are_masked(context: str) -> None:
    unmasked = {name for name, key in KNOWN.items() if key[8:-8] in redact(context.format(key))}
    assert unmasked == set()


@pytest.mark.parametrize("breaking", ["\n", "\r\n", "\n    "])
@pytest.mark.parametrize("at", [8, 12, 20, 40])
def test_key_broken_over_lines_is_masked(breaking: str, at: int) -> None:
    key = KNOWN["Anthropic"]
    masked = redact(f"use {key[:at]}{breaking}{key[at:60]}{breaking}{key[60:]}\nas the key, please")
    assert not any(key[first : first + 8] in masked for first in range(8, len(key) - 12))
    assert masked.endswith("\nas the key, please")


def test_keys_in_separate_lines_are_masked_separately() -> None:
    assert redact(f"{KNOWN['GitHub']}\n{KNOWN['npm']}\nplain").count("…") == 2


def test_long_key_keeps_first_six_and_last_four_characters() -> None:
    key = KNOWN["GitHub"]
    assert redact(f"use {key} now") == f"use {key[:6]}…{key[-4:]} now"


@pytest.mark.parametrize(("text", "expected"), MASKED.items())
def test_secret_is_masked_as_expected(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert redact(text) == text


def test_secrets_have_a_kind() -> None:
    found = secrets_in(f"password=hunter2 4111111111111111 {KNOWN['npm']} -----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkq")
    assert [one.kind for one in found] == [
        SecretKind.PASSWORD,
        SecretKind.CARD,
        SecretKind.TOKEN,
        SecretKind.PRIVATE_KEY,
    ]


def test_json_stays_valid() -> None:
    document = {"q": "my password is hunter2", "env": {"API_KEY": KNOWN["OpenAI"]}, "url": "ftp://a:b@c"}
    masked = json.loads(redact(json.dumps(document)))
    assert masked == {"q": "my password is ***", "env": {"API_KEY": redact(KNOWN["OpenAI"])}, "url": "ftp://a:***@c"}


PIECES = st.sampled_from(
    [
        *KNOWN.values(),
        *MASKED,
        *MASKED.values(),
        *ORDINARY,
        "…",
        "***",
        " ",
        "=",
        ": ",
        '"',
        "\\",
        "\n",
        "&",
        "密码",
        "token",
    ]
)


@given(st.lists(PIECES | st.text(max_size=12), max_size=6).map("".join))
def test_redaction_is_idempotent(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.text())
def test_secrets_are_disjoint_and_in_order(text: str) -> None:
    found = secrets_in(text + " password=hunter2 " + text)
    assert found
    assert all(one.end <= other.start for one, other in pairwise(found))


HOSTILE = (
    *("pw is password: ", "password token is ", "aaaaaaaaa1-sk-\n", f"{KNOWN['npm']}\n", "sk-\n", "sk-aaaaaaaaaa1\n"),
    *("sk-", "-eyJ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----abcdefghijklmnop\n", "password &a="),
    *("://a:", "curl -u ", '\\\\"', "-a", "token:  ", "密码是", "1:"),
)


@pytest.mark.sweep
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_redacted_in_linear_time(piece: str) -> None:
    """Quadratic time would take many minutes."""
    text = piece * (whole_or(50_000, 200_000) // len(piece))
    with soon():
        assert redact(text) is not None
