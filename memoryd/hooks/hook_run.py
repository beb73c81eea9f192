"""Run one hook: JSON on standard input, what the agent is to be told on standard output, and always exit code 0.

Whatever is wrong, the agent goes on as if there were no memory: one line on standard error says why. A prompt waits for
`SECONDS` at most, from the start of the process on. What only tells the daemon something is left to a child that nobody
waits for: the daemon gives a call up when its caller leaves.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from memoryd.hooks.calling import call
from memoryd.hooks.claude_events import KEEPS, TELLS, Ask, command_in, keep, message, not_done, session_key, told
from memoryd.hooks.plain_socket import usual_socket
from memoryd.hooks.time_left import seconds_since_start

SECONDS = 0.28
"""From the start of the process until a prompt goes on without memory; what is left of 0.3 s is for leaving."""
_LEAST_SECONDS = 0.02
"""So long a hook that started late may still read what it is asked."""
KEEPING_SECONDS = 30.0
_INPUT_BYTES = 16 * 1024 * 1024
_REPLYING_SECONDS = 0.05
"""What the daemon is not given of the time, for its reply to be read and told."""


class _LateError(Exception):
    """The time is over."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the hook `EVENT [--agent ID] [--socket PATH] [--seconds NUMBER]`, and end the process."""
    try:
        event, agent, path, seconds = _read(arguments)
        signal.signal(signal.SIGALRM, _late)
        left = max(_LEAST_SECONDS, seconds - seconds_since_start())
        signal.setitimer(signal.ITIMER_REAL, left)
        run(event, agent, path, time.monotonic() + left)
    except _LateError:
        _complain("no answer in time")
    except Exception as exc:  # the agent must go on, whatever it is
        _complain(f"{exc or type(exc).__name__}")
    os._exit(0)


def run(event: str, agent: str, path: str, until: float) -> None:
    """Read the hook's JSON, and answer or keep it; raises what goes wrong."""
    hook = json.loads(sys.stdin.buffer.read(_INPUT_BYTES))
    if not isinstance(hook, dict):
        raise ValueError("standard input holds no JSON object")
    if hook.get("agent_id"):
        return  # of an agent below: what it says is no turn of the person
    key = session_key(hook, agent)
    if event in TELLS:
        _tell(event, hook, key, agent, path, until)
    elif event in KEEPS:
        _left_to_child(path, lambda ask: keep(event, hook, key, agent, ask, lambda: _exchange(hook)))
    else:
        raise ValueError(f"there is no event {event[:40]!r}: {', '.join((*TELLS, *KEEPS))}")


def _tell(event: str, hook: dict[str, Any], key: str, agent: str, path: str, until: float) -> None:
    left = max(0.01, until - time.monotonic())
    limit = max(1, int((left - _REPLYING_SECONDS) * 1000))
    try:
        text = told(event, hook, key, agent, limit, _asking(path, left))
    except (_LateError, TimeoutError):
        _late_prompt(event, hook, key, agent, path)
        raise
    signal.setitimer(signal.ITIMER_REAL, 0)
    _add(event, text)


def _late_prompt(event: str, hook: dict[str, Any], key: str, agent: str, path: str) -> None:
    """Leave a prompt that was not answered in time to a child; a command is carried out while somebody hears of it.

    What was said is kept so, if the daemon is only slow; sent twice, it is kept once.
    """
    prompt = hook.get("prompt")
    if event != "UserPromptSubmit" or not isinstance(prompt, str):
        return
    signal.setitimer(signal.ITIMER_REAL, 0)
    if name := command_in(prompt):
        _add(event, not_done(name))
        return
    again = {"sessionKey": key, "agent": agent, **message("user", prompt), "k": 1}
    _left_to_child(path, lambda ask: ask("/turns", again))


def _add(event: str, text: str) -> None:
    """Tell the agent something beside its prompt; nothing where there is nothing."""
    if text:
        output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        sys.stdout.write(json.dumps(output) + "\n")
        sys.stdout.flush()


def _asking(path: str, seconds: float) -> Ask:
    return lambda target, body: call(
        path, target, {key: one for key, one in body.items() if one not in ("", None)}, seconds
    )


def _left_to_child(path: str, keeps: Callable[[Ask], object]) -> None:
    """Let a child do what nobody waits for; the agent sees the hook end at once."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        signal.setitimer(signal.ITIMER_REAL, KEEPING_SECONDS)
        keeps(_asking(path, KEEPING_SECONDS))
    finally:
        os._exit(0)


def _exchange(hook: dict[str, Any]) -> tuple[str, str]:
    # here, since only the child reads transcripts, and nobody waits for it
    from memoryd.hooks.last_exchange import last_exchange

    path = hook.get("transcript_path")
    return last_exchange(os.path.expanduser(path)) if isinstance(path, str) else ("", "")  # noqa: PTH111


def _read(arguments: Sequence[str]) -> tuple[str, str, str, float]:
    event, *options = arguments or [""]
    given = dict(zip(options[::2], options[1::2], strict=False))
    agent = given.get("--agent") or os.environ.get("MEMORYD_AGENT_ID") or ""
    return event, agent.lower(), given.get("--socket") or usual_socket(), float(given.get("--seconds", SECONDS))


def _late(_signal: int, _frame: object) -> NoReturn:
    raise _LateError


def _complain(reason: str) -> None:
    line = " ".join(reason.split())[:200]
    os.write(2, f"memoryd: {line}\n".encode("utf-8", "backslashreplace"))
