"""Questions made from failures of tools, and the memories that are relevant to them."""

import pytest

from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.unasked.failures import failure_message, failure_question, is_relevant_to_failure
from tests.waiting import soon

PYTHON = """Traceback (most recent call last):
  File "/srv/app/pay.py", line 33, in charge
    charge(card)
  File "/srv/.venv/lib/stripe/card.py", line 9, in charge
stripe.error.AuthenticationError: Expired API key provided: sk_live_51H8abcdefghijklmnopqrstuv"""
RUST = """error[E0308]: mismatched types
 --> src/main.rs:4:18
  |
4 |     let x: UserId = "a";
  |            ------   ^^^ expected `UserId`, found `&str`"""


@pytest.mark.parametrize(
    ("command", "error", "question"),
    [
        (
            "cd /srv && git push origin v1.4.0",
            "remote: Permission to acme/api denied to deploy-bot.\nfatal: unable to access 'https://git.example/acme'",
            "git push\nremote Permission acme/api denied deploy-bot",
        ),
        ("pytest -q tests/test_pay.py", PYTHON, "pytest\nstripe AuthenticationError Expired API key provided"),
        ("cargo build", RUST, "cargo build\nE0308 mismatched types"),
        (
            "sudo FOO=1 /usr/bin/docker compose up -d | tee log",
            "driver failed on endpoint db (a1b2c3d4e5f6a7b8): Bind for 0.0.0.0:5432 failed: port is already allocated",
            "docker compose tee log\ndriver endpoint db Bind port already allocated",
        ),
        ("", "数据库连接失败：密码已过期", "\n数据库连接失败 密码已过期"),
        ("ls /nope", "ls: cannot access '/nope': No such file or directory", ""),
        ("grep -r TODO src", "Exit code 1", ""),
        ("pytest -q", "FAILED tests/test_math.py::test_add - AssertionError: assert 3 == 4\n1 failed in 0.31s", ""),
        ("make", "", ""),
        ("make", "\x1b[31m\x00\u200b", ""),
    ],
)
def test_question_has_program_and_words_of_error(command: str, error: str, question: str) -> None:
    assert failure_question(command, error) == question


def test_question_does_not_depend_on_time_and_place() -> None:
    error = "2026-11-02T10:00:0{0} worker-{0}: lease 0x7f{0}a lost after {0}12 ms in /tmp/run{0}/lease.db:{0}"
    assert failure_question("run /tmp/1.sh", error.format(1).replace("worker-1", "worker")) == failure_question(
        "run /tmp/1.sh", error.format(2).replace("worker-2", "worker")
    )


@pytest.mark.parametrize(
    "secret", ["sk_live_51H8abcdefghijklmnopqrstuv", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "hunter2hunter2"]
)
def test_question_contains_no_secret(secret: str) -> None:
    question = failure_question(
        f"PGPASSWORD={secret} psql -h db", f"FATAL: login of the app refused, password={secret}"
    )
    assert question == "psql\nlogin app refused"
    assert secret[:8] not in failure_question(f"deploy --token {secret}", f"token: {secret} was revoked by the owner")


def test_long_output_gives_short_question_fast() -> None:
    with soon(2):
        for output in ("x" * 100_000, "error: lease " * 8_000, "at a.b(c:1)\n" * 8_000, "/" * 100_000, "1:" * 50_000):
            assert len(failure_question(output, output)) < 2_000
        for word in ("x", "a.", "a-", '{"a":', " ", "1.", "错"):
            output = "error: " + word * 8_000 + "!"
            assert len(failure_question(output, output)) < 2_000


def test_lesson_needs_two_matching_words_and_fact_more() -> None:
    question = failure_question("docker compose up", "port is already allocated")
    assert failure_message(question).parts == ("docker compose", "port already allocated")
    assert is_relevant_to_failure(Kind.LESSON, ["docker", "port"], 3.5, question)
    assert not is_relevant_to_failure(Kind.LESSON, ["docker", "compose"], 9.0, question), (
        "every failure of the program has these words"
    )
    assert not is_relevant_to_failure(Kind.LESSON, ["port"], 4.0, question)
    assert not is_relevant_to_failure(Kind.FACT, ["docker", "port"], 1.4, question)
    assert is_relevant_to_failure(Kind.FACT, ["docker", "port", "allocated"], 2.4, question)
    assert not is_relevant_to_failure(None, ["docker", "port"], 1.4, question)
