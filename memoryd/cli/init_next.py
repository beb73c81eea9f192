"""What somebody does after `memoryctl init`: commands that fit what is there."""

import shutil
from pathlib import Path

from memoryd.client import Client
from memoryd.errors import MemorydError

_PROBE_SECONDS = 2.0


def next_steps(*, is_started: bool) -> list[tuple[str, str]]:
    """Return commands, each with what it does; `is_started`: with the new file, just now."""
    steps = [] if is_started else [_start()]
    steps.append(('memoryctl search "…"', "ask; memoryctl status says what is indexed"))
    if shutil.which("claude") or (Path.home() / ".claude").is_dir():
        steps.append(("memoryctl hooks install claude-code", "have Claude Code remember"))
    steps.append(("memoryctl mcp --help", "for any client of the Model Context Protocol"))
    return [*steps, ("memoryctl doctor", "if something seems wrong")]


def _start() -> tuple[str, str]:
    if _is_running():
        return "memoryctl reload", "memoryd runs: have it take the new file"
    return "memoryd", "start it here, or have it started with your session: memoryctl service install"


def _is_running() -> bool:
    try:
        with Client(timeout=_PROBE_SECONDS) as client:
            client.health()
    except MemorydError:
        return False
    return True
