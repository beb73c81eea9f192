"""No secret of a conversation is in any file, however it was disguised."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.system.over_socket import send

SAID = {
    "my pw is password: hunter2hunter2": "hunter2hunter2",
    "the password is password: x9yy8zz7": "x9yy8zz7",
    "pwd: token: abcDEF123456789xyz": "abcDEF123456789xyz",
    "passwd=\x1b[31mhunter3hunter3": "hunter3hunter3",
    "pass\u200bword: hunter4hunter4": "hunter4hunter4",
    f"use sk-ant-api03-{'Qa1' * 10}\u200b{'Zb2' * 8} now": "Zb2Zb2",
    f"use sk-ant-api03-{'Rc3' * 10}\n{'Sd4' * 8}\nnow": "Sd4Sd4",
}


@pytest.fixture
def daemon(tmp_path: Path, workspace: Path) -> Iterator[RunningDaemon]:
    search = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
    config = write_config(tmp_path, workspace, None, search=search, memory={"qa": {"significance": 0.0}})
    with RunningDaemon(tmp_path, config, workspace) as running:
        yield running


def test_disguised_secret_reaches_no_file(daemon: RunningDaemon) -> None:
    for number, (said, secret) in enumerate(SAID.items()):
        names = {"sessionId": f"talk {number} password={secret}", "topicTags": [said[:60]]}
        turn = {"q": f"{said} \u202e?", "a": f"got {said}\x00\nand\tmore", "significance": 1, **names}
        reply = send(daemon.socket, "POST", "/v1/qa/turns", turn).json
        marked = {"citation": reply["citation"], "keep": True, "answer": f"anew: {said}"}
        assert send(daemon.socket, "POST", "/v1/qa/mark", marked).json["a"].startswith("anew: ")
        context = send(daemon.socket, "POST", "/v1/qa/context", {"sessionId": names["sessionId"], "n": 1}).json
        assert context["session"] == reply["session"], "a session is found by the name it was given"
    assert send(daemon.socket, "POST", "/v1/sessions/sync", {"wait": True}).json["complete"]
    folders = [daemon.workspace, daemon.home / "state", daemon.home / "cache"]
    files = [daemon.log, *(path for folder in folders for path in folder.rglob("*") if path.is_file())]
    content = b"".join(str(path).encode() + path.read_bytes() for path in files).lower()
    assert b"talk-0" in content
    assert [secret for secret in SAID.values() if secret.lower().encode() in content] == []
    assert not any(sign in content for sign in (b"\\u0000", b"\\u001b", b"\\u202e", "\u202e".encode()))


def test_answer_keeps_its_lines_and_invisible_text_is_refused(daemon: RunningDaemon) -> None:
    turn = {"sessionId": "lines", "q": "How?", "a": "1. so\r\n\t2. so 👩‍👩‍👧", "significance": 1}
    assert send(daemon.socket, "POST", "/v1/qa/turns", turn).status == 200
    turns = send(daemon.socket, "GET", "/v1/qa/sessions/lines").json["sequence"]
    assert [turn["a"] for turn in turns] == ["1. so\n\t2. so 👩‍👩‍👧"]
    for bad in ({"q": "\u200b\x00"}, {"q": "\x1b[31m"}):
        assert send(daemon.socket, "POST", "/v1/qa/turns", {**turn, **bad}).error == "invalid_request"
