"""What somebody does after `memoryctl init`: commands that fit what is there."""

import shutil
from pathlib import Path

from memoryd.client import Client
from memoryd.errors import MemorydError

_PROBE_SECONDS = 2.0


def next_steps() -> list[tuple[str, str]]:
    """Return commands, each with what it does."""
    start = ("memoryctl service restart", "memoryd runs: it takes the new file when it starts anew")
    steps = [start if _is_running() else ("memoryd", "start it here, or keep it running: memoryctl service install")]
    steps.append(('memoryctl search "…"', "ask; memoryctl status says what is indexed"))
    if shutil.which("claude") or (Path.home() / ".claude").is_dir():
        steps.append(("memoryctl hooks install claude-code", "have Claude Code remember"))
    steps.append(("memoryctl mcp --help", "for any client of the Model Context Protocol"))
    return [*steps, ("memoryctl doctor", "if something seems wrong")]


def _is_running() -> bool:
    try:
        with Client(timeout=_PROBE_SECONDS) as client:
            client.health()
    except MemorydError:
        return False
    return True
