"""What a hook costs a prompt, from the start of its process to its end: with a daemon, one that hangs, and none."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.measurement import Aim, Bench, Row
from bench.stage import running
from bench.timing import Stopwatch

AIM = Aim(300)
"""What a prompt waits at most, in ms, on a machine with nothing else to do."""
PROMPT = {"session_id": "bench", "prompt": "Which error holds the lease of the gateway?"}
NOTHING = (sys.executable, "-c", "pass")
HOOK = (sys.executable, "-P", "-m", "memoryd.hooks", "UserPromptSubmit")


def rows(bench: Bench) -> Iterator[Row]:
    """Run the hook of a prompt, and beside it a Python that does nothing."""
    rounds = bench.pick(40, 8)
    bare = _took(NOTHING, rounds, {})
    yield Row("python -c pass, median", bare[len(bare) // 2], "ms")
    with running(bench, "hooks") as daemon:
        yield from _spread("a daemon that answers", _took(HOOK, rounds, daemon.env), bare)
        environment = daemon.env
    with socket.socket(socket.AF_UNIX) as server:
        path = bench.folder / "hangs.sock"
        server.bind(str(path))
        server.listen(4 * rounds)
        yield from _spread("a daemon that hangs", _took(HOOK, rounds, _at(environment, path)), bare)
    missing = _at(environment, bench.folder / "none.sock")
    yield from _spread("no daemon", _took(HOOK, rounds, missing), bare)


def _at(environment: Mapping[str, str], path: Path) -> dict[str, str]:
    return {**environment, "MEMORYD_SOCKET": str(path)}


def _took(command: Sequence[str], rounds: int, environment: Mapping[str, str]) -> list[float]:
    """Return the milliseconds of each run, the shortest first; one run before them reads what the disk has."""
    here = {**environment, "PYTHONPATH": str(Path(__file__).parents[1])}
    return sorted([_once(command, here) for _ in range(rounds + 1)][1:])


def _once(command: Sequence[str], environment: Mapping[str, str]) -> float:
    watch = Stopwatch()
    subprocess.run(command, input=json.dumps(PROMPT).encode(), env=environment, capture_output=True, check=True)
    return watch.seconds * 1000


def _spread(name: str, took: Sequence[float], bare: Sequence[float]) -> Iterator[Row]:
    middle, most = took[len(took) // 2], took[len(took) * 95 // 100]
    yield Row(
        f"a prompt with {name}, median", middle, "ms", note=f"{middle / bare[len(bare) // 2]:.1f} × python -c pass"
    )
    yield Row(f"a prompt with {name}, p95", most, "ms", AIM)
