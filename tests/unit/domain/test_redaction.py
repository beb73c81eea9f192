"""Secrets are masked wherever they stand, and nothing else is; whoever wrote the text cannot make it slow."""

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


def made(length: int) -> str:
    """Return letters and digits by chance, both among the first ten."""
    return "a1B2" + "".join(CHANCE.choices(LETTERS, k=length - 4))


KNOWN = {
    "OpenAI": f"sk-{made(48)}",
    "OpenAI project": f"sk-proj-{made(40)}_{made(20)}-{made(20)}",
    "Anthropic": f"sk-ant-api03-{made(90)}",
    "OpenRouter": f"sk-or-v1-{'0a1b2c3d' * 8}",
    "Groq": f"gsk_{made(52)}",
    "xAI": f"xai-{made(80)}",
    "Perplexity": f"pplx-{made(48)}",
    "Hugging Face": f"hf_{made(34)}",
    "Replicate": f"r8_{made(37)}",
    "Jina": f"jina_{made(60)}",
    "Voyage": f"pa-{made(43)}",
    "NVIDIA": f"nvapi-{made(64)}",
    "Google": f"AIzaSy{made(33)}",
    "Google OAuth": f"ya29.{made(60)}",
    "AWS": "AKIA" + "Q2W3E4R5T6Y7U8I9",
    "Alibaba": f"LTAI{made(20)}",
    "Baidu": f"bce-v3/ALTAK-{made(20)}/{made(40)}",
    "GitHub": f"ghp_{made(36)}",
    "GitHub fine-grained": f"github_pat_{made(22)}_{made(59)}",
    "GitLab": f"glpat-{made(20)}",
    "npm": f"npm_{made(36)}",
    "PyPI": f"pypi-AgEIcHlwaS5vcmc{made(60)}",
    "Slack bot": f"xoxb-123456789012-1234567890123-{made(24)}",
    "Slack app": f"xapp-1-A012345-123456-{made(40)}",
    "Stripe": f"sk_live_{made(24)}",
    "SendGrid": f"SG.{made(22)}.{made(43)}",
    "Mailgun": f"key-{'0a1b2c3d' * 4}",
    "Telegram": f"123456789:AA{made(33)}",
    "Discord": f"MTIz{made(20)}.abcdef.{made(30)}",
    "web token": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{made(43)}",
    "Zhipu": f"{'0a1b2c3d' * 4}.{made(16)}",
    "age": f"AGE-SECRET-KEY-1{made(58).upper()}",
}
AROUND = ("{}", "the key {}.", "用这个密钥 {}，好吗？", "KEY={}", '"{}"', "({})", "key: {}\nnext", "`{}`", "a\t{}\tb")

TOLD = {
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


@pytest.mark.parametrize("around", AROUND)
def test_keys_of_providers_are_masked(around: str) -> None:
    kept = {name for name, key in KNOWN.items() if key[8:-8] in redact(around.format(key))}
    assert kept == set()


@pytest.mark.parametrize("breaking", ["\n", "\r\n", "\n    "])
@pytest.mark.parametrize("at", [8, 12, 20, 40])
def test_a_key_is_masked_that_goes_on_in_the_next_line(breaking: str, at: int) -> None:
    key = KNOWN["Anthropic"]
    told = redact(f"use {key[:at]}{breaking}{key[at:60]}{breaking}{key[60:]}\nas the key, please")
    assert not any(key[first : first + 8] in told for first in range(8, len(key) - 12))
    assert told.endswith("\nas the key, please")


def test_keys_in_lines_of_their_own_stay_apart() -> None:
    assert redact(f"{KNOWN['GitHub']}\n{KNOWN['npm']}\nplain").count("…") == 2


def test_what_is_left_of_a_long_key_is_its_first_six_and_last_four() -> None:
    key = KNOWN["GitHub"]
    assert redact(f"use {key} now") == f"use {key[:6]}…{key[-4:]} now"


@pytest.mark.parametrize(("text", "told"), TOLD.items())
def test_secret_is_told_as(text: str, told: str) -> None:
    assert redact(text) == told


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def test_kinds_of_secrets_are_told() -> None:
    found = secrets_in(f"password=hunter2 4111111111111111 {KNOWN['npm']} -----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkq")
    assert [one.kind for one in found] == [
        SecretKind.PASSWORD,
        SecretKind.CARD,
        SecretKind.TOKEN,
        SecretKind.PRIVATE_KEY,
    ]


def test_document_stays_the_same_document() -> None:
    document = {"q": "my password is hunter2", "env": {"API_KEY": KNOWN["OpenAI"]}, "url": "ftp://a:b@c"}
    masked = json.loads(redact(json.dumps(document)))
    assert masked == {"q": "my password is ***", "env": {"API_KEY": redact(KNOWN["OpenAI"])}, "url": "ftp://a:***@c"}


PIECES = st.sampled_from(
    [
        *KNOWN.values(),
        *TOLD,
        *TOLD.values(),
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
def test_twice_is_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.text())
def test_secrets_stand_apart_and_in_order(text: str) -> None:
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
def test_hostile_text_takes_no_longer_than_another(piece: str) -> None:
    """Quadratic time would be many minutes for a quarter of the longest text."""
    text = piece * (whole_or(50_000, 200_000) // len(piece))
    with soon():
        assert redact(text) is not None
