"""What a hook costs a prompt, from the start of its process to its end: with a daemon, one that hangs, and none.

And how many prompts are answered in time where the machine has much else to do.
"""

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.measurement import Aim, Bench, Row
from bench.memories.corpus import questions, write_memories
from bench.stage import prepared, settle
from bench.timing import Stopwatch, percentile
from memoryd.cli.local.hooks import HOOK_COMMAND

AIM = Aim(300)
"""What a prompt waits at most, in ms, on a machine with nothing else to do."""
ANSWERED = Aim(99, is_floor=True)
"""How many of a hundred prompts are answered within `LIMIT_MS` while so many processes are busy, others counted in."""
SPINNING, LIMIT_MS = 8, 1000.0
MEMORIES = 1_000
PROMPT = "Which error holds the lease of the gateway?"
NOTHING = (sys.executable, "-c", "pass")
HOOK = (*HOOK_COMMAND, "UserPromptSubmit")


class _Run(NamedTuple):
    """One hook: how long it took, the processor time of its process, and whether it got an answer; both in ms."""

    wall: float
    processor: float
    is_answered: bool


def rows(bench: Bench) -> Iterator[Row]:
    """Run the hook of a prompt, and beside it a Python that does nothing."""
    rounds = bench.pick(40, 8)
    bare = _runs(NOTHING, [PROMPT] * rounds, {})
    yield Row("python -c pass, median", _median(one.wall for one in bare), "ms")
    yield Row("python -c pass, processor time, median", _median(one.processor for one in bare), "ms")
    with prepared(bench, "hooks") as daemon:
        write_memories(daemon.workspace, lines=MEMORIES, chunks=MEMORIES)
        settle(daemon.client())
        _runs(HOOK, list(questions(4)), daemon.env)
        yield from _spread("a daemon that answers", _runs(HOOK, list(questions(rounds)), daemon.env), bare)
        with spinning(max(0, SPINNING - round(_running()))):
            yield from _under_load(_runs(HOOK, list(questions(bench.pick(250, 20))), daemon.env))
        environment = daemon.env
    with socket.socket(socket.AF_UNIX) as server:
        path = bench.folder / "hangs.sock"
        server.bind(str(path))
        server.listen(8 * rounds)
        yield from _spread("a daemon that hangs", _runs(HOOK, [PROMPT] * rounds, _at(environment, path)), bare)
    missing = _at(environment, bench.folder / "none.sock")
    yield from _spread("no daemon", _runs(HOOK, [PROMPT] * rounds, missing), bare)


def _running() -> float:
    """Return how many other processes want a processor on average, over a second; 0 where the system does not tell."""
    counts = []
    for _ in range(50):
        try:
            counts.append(int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]) - 1)
        except (OSError, ValueError):
            return 0.0
        time.sleep(0.02)
    return sum(counts) / len(counts)


@contextmanager
def spinning(count: int) -> Iterator[None]:
    """Keep so many processes of our own busy while the block lasts."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _at(environment: Mapping[str, str], path: Path) -> dict[str, str]:
    return {**environment, "MEMORYD_SOCKET": str(path)}


def _runs(command: Sequence[str], prompts: Sequence[str], environment: Mapping[str, str]) -> list[_Run]:
    """Run a command for each prompt; one run before them reads what the disk has."""
    here = {**environment, "PYTHONPATH": str(Path(__file__).parents[1])}
    return [_once(command, prompt, here) for prompt in (prompts[0], *prompts)][1:]


def _once(command: Sequence[str], prompt: str, environment: Mapping[str, str]) -> _Run:
    before, watch = resource.getrusage(resource.RUSAGE_CHILDREN), Stopwatch()
    done = subprocess.run(
        command,
        input=json.dumps({"session_id": "bench", "prompt": prompt}).encode(),
        env=environment,
        capture_output=True,
        check=True,
    )
    wall, after = watch.ms, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return _Run(wall, used * 1000, not done.stderr)


def _median(values: Iterator[float]) -> float:
    return percentile(list(values), 50)


def _spread(name: str, runs: Sequence[_Run], bare: Sequence[_Run]) -> Iterator[Row]:
    took = [one.wall for one in runs]
    middle, used = percentile(took, 50), _median(one.processor for one in runs)
    of_bare = middle / _median(one.wall for one in bare)
    yield Row(f"a prompt with {name}, median", middle, "ms", note=f"{of_bare:.1f} × python -c pass")
    # one that hangs is waited for as long as a person is let wait
    yield Row(f"a prompt with {name}, p95", percentile(took, 95), "ms", AIM if runs[0].is_answered else None)
    of_bare = used / _median(one.processor for one in bare)
    note = f"{of_bare:.1f} × python -c pass"
    yield Row(f"a prompt with {name}, processor time of the hook, median", used, "ms", note=note)


def _under_load(runs: Sequence[_Run]) -> Iterator[Row]:
    took = [one.wall for one in runs]
    name = f"a prompt at a load of {SPINNING}"
    for share in (50, 95, 99):
        yield Row(f"{name}, {'median' if share == 50 else f'p{share}'}", percentile(took, share), "ms")
    in_time = sum(one.is_answered and one.wall <= LIMIT_MS for one in runs)
    note = f"of {len(runs)}, on {os.cpu_count()} processors; the load was {os.getloadavg()[0]:.1f}"
    yield Row(f"{name}, answered within {LIMIT_MS / 1000:g} s", 100 * in_time / len(runs), "%", ANSWERED, note)
