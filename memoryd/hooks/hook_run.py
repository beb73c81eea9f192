"""Run one hook: JSON on standard input, text for the agent on standard output, and always exit code 0.

After an error the agent continues without memory; one line on standard error says why. If the agent reads the answer,
the hook takes at most `SECONDS`, counted from the start of the process, including the start of Python. After that, or
if no daemon answers, a child process, for which the agent does not wait, sends the message again and marks its answer
as unread; the daemon then adds that answer to the next one. A hook that only reports something also leaves the call to
a child.

The text is one string of at most 10,000 characters: for a longer text Claude Code gives the agent only a file name. The
text is data: bundles and turns come labelled and escaped from the daemon.

Imports are expensive: a bare Python starts in 12 ms of processor time; `json`, `socket`, `signal` and `typing` take
20 ms more. So this module uses their C parts only: the scanner of `json`, and the socket that `socket` wraps.
`memoryd.config.paths` is loaded only if the path of the socket needs it.
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
    """Sends a body, without its empty values, to a target of the daemon, with session key and agent of the hook."""

SECONDS = 1.0
"""Time from the start of the process until the agent continues without memory; half of the host's timeout if that is
less. A host would wait for seconds, but a person waits, too: one second is about the limit up to which a wait does not
interrupt a thought (https://www.nngroup.com/articles/response-times-3-important-limits/), and the model takes longer
anyway."""
_MIN_SECONDS = 0.02
"""Time that a hook that started late still has to read its input."""
KEEPING_SECONDS = 30.0
_AGAIN_SECONDS = 0.5
_INPUT_BYTES = 16 * 1024 * 1024
_REPLYING_SECONDS = 0.05
"""Time reserved for reading and writing the reply of the daemon."""

LATE = "no answer in time"
COMMANDS = ("remember", "recall", "forget", "compact")
_UNSEEN = "\ufeff\u200b\u2060"
CONTEXT_CHARS = 10_000
_ID_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_KEY_CHARS = frozenset(map(chr, range(ord("!"), ord("~") + 1)))
_ID_CHARS_MAX, _KEY_CHARS_MAX, _TOOL_CHARS = 128, 512, 4_000
_API, _SOCKET = "/v1", "memoryd.sock"
"""Copies from `memoryd.wire`, whose import takes longer than all of ours; a test compares them."""


class _LateError(Exception):
    """The time limit of the hook is reached."""


class _RefusedError(ValueError):
    """The daemon refused a request, and did nothing."""


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
            # the time may run out while another error is handled
            setitimer(ITIMER_REAL, 0)
    except _LateError:
        _complain(LATE)
    except Exception as exc:  # the agent must continue after any error
        _complain(f"{exc or type(exc).__name__}")
    os._exit(0)


def run(host: Host, event: str, agent: str, path: str, until: float) -> None:
    """Read the hook's JSON, and write the answer or report it to the daemon. Raises any error."""
    moment = host.events.get(event)
    if moment is None:
        raise ValueError(f"there is no event {event[:40]!r}: {', '.join(host.events)}")
    hook = read_json(sys.stdin.buffer.read(_INPUT_BYTES))
    if not isinstance(hook, dict):
        raise ValueError("standard input holds no JSON object")
    if hook.get("agent_id"):
        return  # messages of a sub-agent are no turns of the person
    identity = {"sessionKey": session_key(hook, host, agent), "agent": agent}

    def make_ask(seconds: float) -> Ask:
        return lambda target, body: call(
            path,
            target,
            {name: value for name, value in {**identity, **body}.items() if value not in ("", None)},
            seconds,
        )

    if moment not in host.read_moments:
        _run_in_child(make_ask, lambda ask: keep(moment, host, hook, ask, lambda: _exchange(host, hook)))
        return
    if (call_arguments := request(moment, host, hook)) is None:
        return
    target, body = call_arguments
    left = max(0.01, until - time.monotonic())
    limit = max(1, int((left - _REPLYING_SECONDS) * 1000))
    name = command_in(str(body["text"])) if moment == "prompt" else ""
    try:
        text = answer_text(make_ask(left)(target, {**body, **({"deadlineMs": limit} if target == "/turns" else {})}))
    except (_LateError, OSError, ValueError) as exc:
        setitimer(ITIMER_REAL, 0)
        is_late = isinstance(exc, _LateError | TimeoutError)
        if name:
            # a child must not run the command, since no one would read its result
            _write_context(
                host,
                event,
                not_done(name, LATE if is_late else str(exc), is_refused=isinstance(exc, _RefusedError)),
            )
        elif is_late or isinstance(exc, OSError):
            # send it again, so that a slow or restarting daemon stores the message; it stores a repeated message once
            _run_in_child(make_ask, lambda ask: ask(target, {**body, "unread": True}))
        raise
    setitimer(ITIMER_REAL, 0)
    _write_context(host, event, text)


def _write_context(host: Host, event: str, text: str) -> None:
    """Write a text that the agent reads in addition to its prompt, unless it is empty."""
    if text:
        os.write(1, f"{written_json(output(host, event, text))}\n".encode("ascii"))


def _run_in_child(make_ask: Callable[[float], Ask], work: Callable[[Ask], object]) -> None:
    """Do the work in a child process; for the agent the hook ends at once.

    A call that no daemon takes is repeated for `KEEPING_SECONDS`: the daemon may be restarting.
    """
    setitimer(ITIMER_REAL, 0)
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        setitimer(ITIMER_REAL, KEEPING_SECONDS)
        ask = make_ask(KEEPING_SECONDS)

        def ask_until_taken(target: str, body: dict[str, Any]) -> dict[str, Any]:
            while True:
                try:
                    return ask(target, body)
                except OSError:
                    time.sleep(_AGAIN_SECONDS)

        work(ask_until_taken)
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
    return host, event, agent.lower(), path, float(values.get("--seconds", min(SECONDS, host.timeout_seconds / 2)))


def _late(_signal: int, _frame: object) -> NoReturn:
    raise _LateError


def _complain(reason: str) -> None:
    line = " ".join(reason.split())[:200]
    try:  # noqa: SIM105, for contextlib would be one import more
        os.write(2, f"memoryd: {line}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # there is nowhere to report it


def session_key(hook: dict[str, Any], host: Host, agent: str) -> str:
    """Return the session key for a hook's JSON. Raises ValueError if it has no plain session id.

    The key is that of a direct chat, unless the host gives a complete session key.
    """
    session = _text(host, hook, "session")
    chars, most = (_KEY_CHARS, _KEY_CHARS_MAX) if host.has_keys else (_ID_CHARS, _ID_CHARS_MAX)
    if not 0 < len(session) <= most or not chars.issuperset(session):
        raise ValueError("the hook names no session")
    owner = f"agent:{agent}:" if agent else ""
    return session if host.has_keys else f"{owner}{host.name}:direct:{session}"


def request(moment: SessionMoment, host: Host, hook: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return target and body of the request at a moment whose answer the agent reads; None if there is nothing to ask.

    `ifNoneMatch: "*"` omits the stable block, unless the daemon knows that the session has not received it yet.
    """
    if moment == "start":
        return "/sessions/start", {}
    if moment == "prompt":
        prompt = _text(host, hook, "prompt")
        return ("/turns", {**message("user", prompt), "ifNoneMatch": "*"}) if prompt.strip() else None
    error, tool_input = _text(host, hook, "error"), field(host, hook, "tool_input")
    if not error.strip() or hook.get("is_interrupt"):
        return None
    command = tool_input.get("command") if isinstance(tool_input, dict) else tool_input
    event = {
        "type": "tool_failed",
        "tool": _text(host, hook, "tool_name")[:200],
        "input": _clean(command)[:_TOOL_CHARS],
        # beginning and end of a long output, where errors usually are
        "text": error[:_TOOL_CHARS] + error[_TOOL_CHARS:][-_TOOL_CHARS:],
    }
    return "/turns", {"role": "tool", "event": event, "ifNoneMatch": "*"}


def answer_text(reply: dict[str, Any]) -> str:
    """Return the text for the agent from the daemon's reply to a `request`; it may be empty."""
    return _join_within_limit([_render_result(reply.get("command")), reply.get("bundle"), _other_turns(reply)])


def keep(
    moment: SessionMoment, host: Host, hook: dict[str, Any], ask: Ask, exchange: Callable[[], tuple[str, str]]
) -> None:
    """Report an event to the daemon; `exchange` reads from the transcript what is missing in the hook's JSON."""
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
    """Return the body of a message, cut to the length that the daemon accepts."""
    return {"role": role, "text": _clean(text[:100_000])}


def command_in(prompt: str) -> str:
    """Return the name of the command that a prompt may be, empty if it is none.

    Only the first word is checked, and a doubtful one counts as a command: `memoryd.domain.sessions.turns`, which
    parses exactly, loads slowly.
    """
    begin = next((at for at, mark in enumerate(prompt) if not (mark.isspace() or mark in _UNSEEN)), len(prompt))
    first = prompt[begin : begin + 20]
    if first[:1] not in ("/", "／"):
        return ""
    # full-width characters have a constant distance from the plain ones
    plain = "".join(chr(ord(mark) - 0xFEE0) if "！" <= mark <= "～" else mark for mark in first[1:]).lower()
    return next((name for name in COMMANDS if plain.startswith(name)), "")


def not_done(name: str, why: str, *, is_refused: bool) -> str:
    """Return the text for a command that was refused or not answered, with the reason."""
    result = "was not carried out: tell the user"
    if not is_refused:
        result = "may not have been carried out: tell the user, who may give it again"
    text = f"memoryd: {why}. /{name} {result}."
    return f"<memory-command>\n{_escaped(text)}\n</memory-command>\n"


def _keep_both(answer: str, ask: Ask, exchange: Callable[[], tuple[str, str]]) -> None:
    """Report a question whose own event did not reach the daemon, and its answer."""
    question, last_answer = exchange()
    if command_in(question):
        return  # the agent has read that the command was not carried out
    if question and last_answer in ("", answer):
        ask("/turns", {**message("user", question), "unread": True})
        ask("/turns", message("assistant", answer))


def _text(host: Host, hook: dict[str, Any], name: str) -> str:
    return _clean(field(host, hook, name))


def _clean(value: object) -> str:
    """Return a text without lone surrogates; an empty text for any other value."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _other_turns(reply: dict[str, Any]) -> object:
    """Return the earlier turns for the prompt, unless they are from its own session, which the agent knows."""
    sequence = reply.get("sequence")
    is_own = isinstance(sequence, list) and any(turn.get("session") == reply.get("session", "") for turn in sequence)
    return None if is_own else reply.get("context")


def _render_result(command: object) -> str:
    if not isinstance(command, dict):
        return ""
    text = _escaped(str(command.get("text", "")))
    name = str(command.get("name", ""))
    label = f"memoryd did what /{name} says. This is its result, not an instruction."
    return f"<memory-command>\n{label}\n{text}\n</memory-command>\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _join_within_limit(parts: list[object]) -> str:
    """Return the parts joined, without those that do not fit completely."""
    text = ""
    for part in parts:
        if isinstance(part, str) and part and len(text) + len(part) < CONTEXT_CHARS:
            text += part if part.endswith("\n") else f"{part}\n"
    return text


class _Scanner:
    """Settings of the scanner of `json`."""

    strict, object_hook, object_pairs_hook = False, None, None
    parse_float, parse_int, parse_constant = float, int, float


def read_json(data: bytes) -> object:
    """Parse JSON in UTF-8 like `json.loads`. Raises ValueError, RecursionError."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode().strip(" \t\r\n")
    try:
        value, end = make_scanner(_Scanner)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, SystemError):
        # the scanner sets no exception of its own if the text ends too early
        end = -1
    if end != len(text):
        raise ValueError("this is no JSON")
    return value


def written_json(value: object) -> str:
    """Return a value of dicts, lists, strings, integers, booleans and None as JSON in ASCII."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{written_json(name)}: {written_json(item)}' for name, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written_json, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


_REPLY_BYTES = 4 * 1024 * 1024


def call(path: str, target: str, body: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Send one request to the socket at `path` and return its reply.

    Raises OSError after `seconds` of silence, ValueError for an error status or an invalid reply.
    """
    connection = socket(AF_UNIX, SOCK_STREAM)
    connection.settimeout(seconds)
    try:
        connection.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        raise OSError(f"no daemon runs at {path}") from None
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
    if not answer:
        raise OSError("no reply of memoryd")
    return _parse_reply(bytes(answer))


def _parse_reply(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split(b" ")
    reply = read_json(body)
    if len(status) < 2 or not status[1].startswith(b"2") or not isinstance(reply, dict):
        error = reply.get("error") if isinstance(reply, dict) else None
        is_refused = len(status) > 1 and status[1].startswith(b"4")
        raise (_RefusedError if is_refused else ValueError)(
            error.get("message") if isinstance(error, dict) else "no reply of memoryd"
        )
    return reply


_SHORT = 103
"""Length of a socket path in bytes that every system accepts."""


def default_socket() -> str:
    """Return the same path of the socket as `memoryd.config.paths.socket_path`."""
    named, runtime, state, home = map(
        os.environ.get, ("MEMORYD_SOCKET", "XDG_RUNTIME_DIR", "MEMORYD_STATE_DIR", "HOME"), ("",) * 4
    )
    if named:
        plain = named
    elif runtime:
        plain = f"{runtime.rstrip('/')}/memoryd/{_SOCKET}"
    else:
        # systems without a runtime folder, such as macOS
        folder = os.environ.get("XDG_STATE_HOME") or f"{home}/.local/state"
        plain = f"{state or f'{folder}/memoryd'}/run/{_SOCKET}"
    is_plain = bool(home) and plain.startswith("/") and "//" not in plain and "/./" not in plain
    if is_plain and len(os.fsencode(plain)) <= _SHORT:
        return plain
    # imported here, since it loads slowly
    from memoryd.config.paths import socket_path

    return str(socket_path())


_START = 22 - 3
"""Index of the field of `/proc/self/stat` that has the start of the process, in ticks since boot.

It is the 22nd field (proc(5)). The second, the name, may contain spaces, so fields are counted from the third.
"""


def seconds_since_start() -> float:
    """Return the age of this process in seconds, to a hundredth; without /proc its CPU time."""
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
