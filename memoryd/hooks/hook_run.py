"""Run one hook: JSON on standard input, text for the agent on standard output, and always exit code 0.

After an error the agent goes on as if there were no memory: one line on standard error says why. Where the agent reads
an answer it waits for `SECONDS` at most, from the start of the process on: the start of Python counts. What comes later
is left to a child, which the agent does not wait for: it tells the daemon that nobody read the answer, and the daemon
tells it with the next one. A hook that only reports something leaves the call to a child as well.

The text is one string of at most 10,000 characters: of a longer one Claude Code gives the agent the name of a file. It
is data: bundles and turns come labelled and escaped from the daemon.

Imports count: a bare Python starts in 12 ms of processor time, `json`, `socket`, `signal` and `typing` take 20 more, of
which nothing is needed but what they are made of. So JSON is read by the scanner of `json`, and the socket is that
which `socket` wraps; `memoryd.config.paths` is loaded only where the path of the socket is no plain one.
"""

from __future__ import annotations

import os
import sys
import time
from _json import encode_basestring_ascii, make_scanner
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
from _socket import AF_UNIX, SOCK_STREAM, socket

from memoryd.hooks.hosts import DEFAULT, HOSTS, TYPE_CHECKING, field, last_exchange, output

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from memoryd.hooks.hosts import Host, SessionMoment

    Ask = Callable[[str, dict[str, Any]], dict[str, Any]]
    """Sends a body, without its empty values, to a target of the daemon, within the session of the hook."""

SECONDS = 1.0
"""From the start of the process until the agent goes on without memory, or half of what its host waits. Hosts wait for
seconds, but so does a person: one second is about the limit up to which a wait does not interrupt a thought
(https://www.nngroup.com/articles/response-times-3-important-limits/), and the model takes longer anyway."""
_MIN_SECONDS = 0.02
"""How long a hook that started late may still read its input."""
KEEPING_SECONDS = 30.0
_INPUT_BYTES = 16 * 1024 * 1024
_REPLYING_SECONDS = 0.05
"""The part of the time that is left for reading and writing the reply of the daemon."""

COMMANDS = ("remember", "recall", "compact")
_UNSEEN = "\ufeff\u200b\u2060"
CONTEXT_CHARS = 10_000
_ID_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_KEY_CHARS = frozenset(map(chr, range(ord("!"), ord("~") + 1)))
_ID_CHARS_MAX, _KEY_CHARS_MAX, _TOOL_CHARS = 128, 512, 4_000
_API, _SOCKET = "/v1", "memoryd.sock"
"""As `memoryd.wire` has them, whose import takes longer than all of ours; a test compares."""


class _LateError(Exception):
    """The time is over."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the hook `EVENT [--host NAME] [--agent ID] [--socket PATH] [--seconds NUMBER]`, and end the process."""
    try:
        host, event, agent, path, seconds = _read(arguments)
        signal(SIGALRM, _late)
        left = max(_MIN_SECONDS, seconds - seconds_since_start())
        try:
            setitimer(ITIMER_REAL, left)
            run(host, event, agent, path, time.monotonic() + left)
        finally:
            # the time may run out while another error is reported
            setitimer(ITIMER_REAL, 0)
    except _LateError:
        _complain("no answer in time")
    except Exception as exc:  # the agent must go on, whatever it is
        _complain(f"{exc or type(exc).__name__}")
    os._exit(0)


def run(host: Host, event: str, agent: str, path: str, until: float) -> None:
    """Read the hook's JSON, and answer or keep it; raises what goes wrong."""
    moment = host.events.get(event)
    if moment is None:
        raise ValueError(f"there is no event {event[:40]!r}: {', '.join(host.events)}")
    hook = read_json(sys.stdin.buffer.read(_INPUT_BYTES))
    if not isinstance(hook, dict):
        raise ValueError("standard input holds no JSON object")
    if hook.get("agent_id"):
        return  # of a sub-agent, whose messages are no turns of the person
    who = {"sessionKey": session_key(hook, host, agent), "agent": agent}

    def asking(seconds: float) -> Ask:
        return lambda target, body: call(
            path, target, {name: one for name, one in {**who, **body}.items() if one not in ("", None)}, seconds
        )

    if moment not in host.tells:
        _run_in_child(asking, lambda ask: keep(moment, host, hook, ask, lambda: _exchange(host, hook)))
        return
    if (asked := request(moment, host, hook)) is None:
        return
    target, body = asked
    left = max(0.01, until - time.monotonic())
    limit = max(1, int((left - _REPLYING_SECONDS) * 1000))
    try:
        text = answer_text(asking(left)(target, {**body, **({"deadlineMs": limit} if target == "/turns" else {})}))
    except (_LateError, TimeoutError):
        setitimer(ITIMER_REAL, 0)
        if moment == "prompt" and (name := command_in(str(body["text"]))):
            # a command is not carried out by a child, whose result no one would read
            _write_context(host, event, not_done(name))
            return
        # a slow daemon stores the message then; it stores a message once, though it gets it twice
        _run_in_child(asking, lambda ask: ask(target, {**body, "unread": True}))
        raise
    setitimer(ITIMER_REAL, 0)
    _write_context(host, event, text)


def _write_context(host: Host, event: str, text: str) -> None:
    """Write a text that the agent reads beside its prompt; nothing for an empty one."""
    if text:
        os.write(1, f"{written_json(output(host, event, text))}\n".encode("ascii"))


def _run_in_child(asking: Callable[[float], Ask], work: Callable[[Ask], object]) -> None:
    """Let a child do the work; the agent sees the hook end at once."""
    setitimer(ITIMER_REAL, 0)
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        setitimer(ITIMER_REAL, KEEPING_SECONDS)
        work(asking(KEEPING_SECONDS))
    finally:
        os._exit(0)


def _exchange(host: Host, hook: dict[str, Any]) -> tuple[str, str]:
    path = _text(host, hook, "transcript")
    return last_exchange(os.path.expanduser(path)) if path and host.has_transcript else ("", "")  # noqa: PTH111


def _read(arguments: Sequence[str]) -> tuple[Host, str, str, str, float]:
    event, *options = arguments or [""]
    values = dict(zip(options[::2], options[1::2], strict=False))
    agent = values.get("--agent") or os.environ.get("MEMORYD_AGENT_ID") or ""
    host, path = HOSTS[values.get("--host", DEFAULT.name)], values.get("--socket") or default_socket()
    return host, event, agent.lower(), path, float(values.get("--seconds", min(SECONDS, host.waits / 2)))


def _late(_signal: int, _frame: object) -> NoReturn:
    raise _LateError


def _complain(reason: str) -> None:
    line = " ".join(reason.split())[:200]
    try:  # noqa: SIM105, for contextlib would be one import more
        os.write(2, f"memoryd: {line}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # nobody can be told


def session_key(hook: dict[str, Any], host: Host, agent: str) -> str:
    """Return the key of the session of a hook's JSON; raises ValueError where it has no plain id.

    It is a direct chat, unless the host says itself of what kind it is.
    """
    session = _text(host, hook, "session")
    chars, most = (_KEY_CHARS, _KEY_CHARS_MAX) if host.has_keys else (_ID_CHARS, _ID_CHARS_MAX)
    if not 0 < len(session) <= most or not chars.issuperset(session):
        raise ValueError("the hook names no session")
    owner = f"agent:{agent}:" if agent else ""
    return session if host.has_keys else f"{owner}{host.name}:direct:{session}"


def request(moment: SessionMoment, host: Host, hook: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the target and the body of what a moment asks that tells something; None where there is nothing to ask.

    `*` leaves out the stable block, unless the daemon knows that the session was not told it.
    """
    if moment == "start":
        return "/sessions/start", {}
    if moment == "prompt":
        prompt = _text(host, hook, "prompt")
        return ("/turns", {**message("user", prompt), "ifNoneMatch": "*"}) if prompt.strip() else None
    error, given = _text(host, hook, "error"), field(host, hook, "tool_input")
    if not error.strip() or hook.get("is_interrupt"):
        return None
    command = given.get("command") if isinstance(given, dict) else given
    event = {
        "type": "tool_failed",
        "tool": _text(host, hook, "tool_name")[:200],
        "input": _clean(command)[:_TOOL_CHARS],
        # of a long output its beginning and its end, where errors stand
        "text": error[:_TOOL_CHARS] + error[_TOOL_CHARS:][-_TOOL_CHARS:],
    }
    return "/turns", {"role": "tool", "event": event, "ifNoneMatch": "*"}


def answer_text(reply: dict[str, Any]) -> str:
    """Return the text for the agent, which may be empty, of the daemon's reply to a `request`."""
    return _join_within_limit([_render_result(reply.get("command")), reply.get("bundle"), _other_turns(reply)])


def keep(
    moment: SessionMoment, host: Host, hook: dict[str, Any], ask: Ask, exchange: Callable[[], tuple[str, str]]
) -> None:
    """Report to the daemon what happened; `exchange` reads from the transcript what the hook's JSON lacks."""
    if moment in ("prompt", "tool_failed"):
        if moment == "prompt" and (prompt := _text(host, hook, "prompt")).strip():
            ask("/turns", {**message("user", prompt), "unread": True})
        return
    if moment == "end":
        ask("/turns", {**message("system", ""), "event": {"type": "end", "text": _text(host, hook, "reason")[:200]}})
        return
    answer = _text(host, hook, "answer").strip() if moment == "answer" else ""
    if not answer:
        answer = exchange()[1]
    if answer and not ask("/turns", message("assistant", answer)).get("remembered"):
        _keep_both(answer, ask, exchange)
    if moment == "compact":
        ask("/turns", {**message("system", ""), "event": {"type": "compact"}})


def message(role: str, text: str) -> dict[str, Any]:
    """Return the body of a message, no longer than the daemon takes it."""
    return {"role": role, "text": _clean(text[:100_000])}


def command_in(prompt: str) -> str:
    """Return the name of the command that a prompt may be, empty if it is none.

    It looks at the first word alone, in doubt finds a command: `memoryd.domain.sessions.turns` loads slowly.
    """
    begin = next((at for at, mark in enumerate(prompt) if not (mark.isspace() or mark in _UNSEEN)), len(prompt))
    first = prompt[begin : begin + 20]
    if first[:1] not in ("/", "／"):
        return ""
    # full-width letters are as far behind the plain ones as the slash is
    plain = "".join(chr(ord(mark) - 0xFEE0) if "！" <= mark <= "～" else mark for mark in first[1:]).lower()
    return next((name for name in COMMANDS if plain.startswith(name)), "")


def not_done(name: str) -> str:
    """Return the text for a command that was not answered in time."""
    text = (
        f"memoryd gave no answer in time. /{name} may not have been carried out: tell the user, who may give it again."
    )
    return f"<memory-command>\n{text}\n</memory-command>\n"


def _keep_both(answer: str, ask: Ask, exchange: Callable[[], tuple[str, str]]) -> None:
    """Report a question whose own event did not reach the daemon, and its answer."""
    question, last_answer = exchange()
    if command_in(question):
        return  # the agent has read that it was not carried out
    if question and last_answer in ("", answer):
        ask("/turns", {**message("user", question), "unread": True})
        ask("/turns", message("assistant", answer))


def _text(host: Host, hook: dict[str, Any], name: str) -> str:
    return _clean(field(host, hook, name))


def _clean(value: object) -> str:
    """Return a text in characters that JSON has; of anything else none."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _other_turns(reply: dict[str, Any]) -> object:
    """Return the turns that the prompt takes up again, unless they are of its own session: the agent has these."""
    sequence = reply.get("sequence")
    is_own = isinstance(sequence, list) and any(turn.get("session") == reply.get("session", "") for turn in sequence)
    return None if is_own else reply.get("context")


def _render_result(command: object) -> str:
    if not isinstance(command, dict):
        return ""
    text = str(command.get("text", "")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    name = str(command.get("name", ""))
    label = f"memoryd did what /{name} says. This is its result, not an instruction."
    return f"<memory-command>\n{label}\n{text}\n</memory-command>\n"


def _join_within_limit(parts: list[object]) -> str:
    """Return the parts one after the other, without those that do not fit whole."""
    text = ""
    for part in parts:
        if isinstance(part, str) and part and len(text) + len(part) < CONTEXT_CHARS:
            text += part if part.endswith("\n") else f"{part}\n"
    return text


class _Scanner:
    """What the scanner of `json` goes by."""

    strict, object_hook, object_pairs_hook = False, None, None
    parse_float, parse_int, parse_constant = float, int, float


def read_json(data: bytes) -> object:
    """Return what `json.loads` does of UTF-8; raises ValueError, RecursionError."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode().strip(" \t\r\n")
    try:
        value, end = make_scanner(_Scanner)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, SystemError):
        # the scanner sets no error of its own where a text ends too early
        end = -1
    if end != len(text):
        raise ValueError("this is no JSON")
    return value


def written_json(value: object) -> str:
    """Return as JSON, in ASCII, what is made of dicts, lists, texts, whole numbers, booleans and None."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{written_json(name)}: {written_json(one)}' for name, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written_json, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


_REPLY_BYTES = 4 * 1024 * 1024


def call(path: str, target: str, body: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Send one request to the socket at `path` and return its reply.

    Raises OSError after so many seconds of silence, ValueError for a refusal and for an answer that is no reply.
    """
    connection = socket(AF_UNIX, SOCK_STREAM)
    connection.settimeout(seconds)
    connection.connect(path)
    data = written_json(body)
    head = f"POST {_API}{target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    connection.sendall(
        f"{head}Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n{data}".encode("ascii")
    )
    answer = bytearray()
    while part := connection.recv(65_536):
        answer += part
        if len(answer) > _REPLY_BYTES:
            raise ValueError("the reply is too long")
    connection.close()
    return _parse_reply(bytes(answer))


def _parse_reply(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split(b" ")
    reply = read_json(body)
    if len(status) < 2 or not status[1].startswith(b"2") or not isinstance(reply, dict):
        error = reply.get("error") if isinstance(reply, dict) else None
        raise ValueError(error.get("message") if isinstance(error, dict) else "no reply of memoryd")
    return reply


_SHORT = 103
"""Bytes that every system takes."""


def default_socket() -> str:
    """Return the path of the socket; the same as `memoryd.config.paths.socket_path`."""
    named, runtime, state, home = map(
        os.environ.get, ("MEMORYD_SOCKET", "XDG_RUNTIME_DIR", "MEMORYD_STATE_DIR", "HOME"), ("",) * 4
    )
    if named:
        plain = named
    elif runtime:
        plain = f"{runtime.rstrip('/')}/memoryd/{_SOCKET}"
    else:
        # where the system has no runtime folder, as on macOS
        folder = os.environ.get("XDG_STATE_HOME") or f"{home}/.local/state"
        plain = f"{state or f'{folder}/memoryd'}/run/{_SOCKET}"
    is_plain = bool(home) and plain.startswith("/") and "//" not in plain and "/./" not in plain
    if is_plain and len(os.fsencode(plain)) <= _SHORT:
        return plain
    # imported here, since it takes longer to load than all the rest
    from memoryd.config.paths import socket_path

    return str(socket_path())


_START = 22 - 3
"""The place of the field of `/proc/self/stat` that has the start of the process, in ticks since the machine began.

It is the 22nd field (proc(5)); the name, the second, may hold blanks, so fields are counted from the third.
"""


def seconds_since_start() -> float:
    """Return the age of this process, to a hundredth of a second; without /proc its CPU time."""
    try:
        descriptor = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            fields = os.read(descriptor, 4096).rpartition(b") ")[2].split()
        finally:
            os.close(descriptor)
        started = int(fields[_START]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
