"""Parts of hooks: commands in prompts, the path of the socket, the age of the process, JSON."""

import json
import os
import time

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.config.paths import socket_path
from memoryd.domain.sessions.turns import command_of
from memoryd.hooks import hook_run
from memoryd.hooks.hook_run import (
    SECONDS,
    command_in,
    default_socket,
    keep,
    read_json,
    seconds_since_start,
    written_json,
)
from memoryd.hooks.hosts import DEFAULT, HOSTS
from memoryd.wire import API, SOCKET_NAME
from tests.waiting import eventually


@given(
    st.text(" \t\n\u3000\ufeff\u200b", max_size=3),
    st.sampled_from(["/remember", "／ｒｅｍｅｍｂｅｒ", "/RECALL", "/compact", "/foo", "remember", "/remembering"]),
    st.text(max_size=20),
)
def test_command_is_recognised_like_in_the_daemon(blanks: str, name: str, rest: str) -> None:
    text = blanks + name + rest
    command = command_of(text)
    assert command is None or command_in(text) == command.row.name


@pytest.mark.parametrize("text", ["", "what does /remember do?", "/foo bar", "remember tea", "/"])
def test_plain_prompt_is_no_command(text: str) -> None:
    assert command_in(text) == ""


def test_command_is_not_repeated_when_the_answer_is_stored() -> None:
    asked: list[object] = []

    def ask(_target: str, body: dict[str, object]) -> dict[str, object]:
        asked.append(body.get("text"))
        return {"remembered": False}

    for question in ("/remember tea", "which tea?"):
        keep("answer", DEFAULT, {}, ask, lambda said=question: (said, "Done."))  # type: ignore[misc]
    assert asked == ["Done.", "Done.", "which tea?", "Done."]


@pytest.mark.parametrize(
    "named",
    [
        {"MEMORYD_SOCKET": "/run/here.sock"},
        {"MEMORYD_SOCKET": "relative.sock"},
        {"MEMORYD_SOCKET": "~/here.sock"},
        {"XDG_RUNTIME_DIR": "/run/user/7"},
        {"XDG_RUNTIME_DIR": "/run/user/7/"},
        {"XDG_RUNTIME_DIR": "relative"},
        {"XDG_RUNTIME_DIR": "/run/" + "long/" * 30},
        {"MEMORYD_STATE_DIR": "/state"},
        {"MEMORYD_STATE_DIR": "state"},
        {"MEMORYD_STATE_DIR": "/state//of/./mine/"},
        {"XDG_STATE_HOME": "/xdg/state"},
        {"XDG_STATE_HOME": "relative"},
        {"HOME": "/home/somebody"},
        {"HOME": "/home/" + "long/" * 30},
        {},
    ],
)
def test_default_socket_is_that_of_the_daemon(named: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEMORYD_SOCKET", "XDG_RUNTIME_DIR", "MEMORYD_STATE_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert default_socket() == str(socket_path())
    monkeypatch.delenv("HOME")
    assert default_socket() == str(socket_path())


def test_age_of_the_process_counts_from_its_start() -> None:
    since = time.time() - psutil.Process(os.getpid()).create_time()
    first = seconds_since_start()
    assert first == pytest.approx(since, abs=5)
    eventually(lambda: seconds_since_start() > first)


def test_prompt_waits_at_most_one_second() -> None:
    assert SECONDS <= 1


def test_constants_equal_those_of_the_daemon() -> None:
    assert (hook_run._API, hook_run._SOCKET) == (API, SOCKET_NAME)
    assert all(host.timeout_seconds / 2 >= SECONDS for host in HOSTS.values()), (
        "no host waits for less than twice as long"
    )


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES, st.sampled_from([None, 2]))
def test_json_is_read_and_written_like_by_the_library(value: object, indent: int | None) -> None:
    assert json.loads(written_json(value)) == value
    assert read_json(f" {json.dumps(value, indent=indent)}\n".encode()) == value


@given(
    st.text(max_size=12)
    | st.sampled_from(["{", "[1,]", '{"a" 1}', "nul", "1 2", "NaN", "-Infinity", "1e5", "\ufeff{}", '{"a": "b', '["'])
)
def test_invalid_json_is_refused_like_by_the_library(text: str) -> None:
    data = text.encode("utf-8")
    try:
        wanted = repr(json.loads(data.removeprefix(b"\xef\xbb\xbf"), strict=False))
    except ValueError:
        with pytest.raises(ValueError):
            read_json(data)
        return
    assert repr(read_json(data)) == wanted
