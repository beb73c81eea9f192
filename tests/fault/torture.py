"""The torture harness: kills, stops and file losses of the real daemon during edits and searches.

    python -m tests.fault.torture --rounds 500 --seed 1

Everything random comes from one seed. A failing run keeps its folder, with the notes, the index, the daemon's log
and `actions.log`, and says where. Modelled on RocksDB's db_crashtest: blackbox (kill at a random time) and whitebox
(kill at the n-th system call of a kind, by strace).
"""

import asyncio
import contextlib
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import psutil

from memoryd.config.paths import models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER, write_config
from tests.fault import check
from tests.fault.check import ViolationError
from tests.fault.editing import LENGTHS, SHORT, Editor, EditorThread
from tests.fault.faults import (
    EventCounter,
    FaultyDaemon,
    flip_byte,
    has_strace,
    injected,
    most_calls,
    overflow_events,
    spawned_traced,
)
from tests.fault.searching import SearchThread
from tests.waiting import eventually

SYNC = {"watchDebounceMs": 40, "settleMs": 20, "deleteGraceMs": 400, "rootGraceSeconds": 1, "reconcileSeconds": 1}
"""Short times, so that a round takes tenths of a second."""
QUESTIONS_PER_EDIT = 0.4
VERIFY_EVERY, DAEMON_EVERY = 5, 5
"""Rounds between two checks, and checks between two rebuilds by a second daemon."""
CALLS = ("pwrite64", "fdatasync", "ftruncate", "openat", "unlink")
"""Calls at which to kill; the kill is swept over their count in a start and a stop."""
RUNNING_CALLS = {"pwrite64": 40, "openat": 40, "fdatasync": 4, "ftruncate": 4}
"""The highest count of each call at which a working daemon is killed."""
MAX_UNLUCKY = 20
"""Number of impostors after which one must have reused the inode of a deleted file."""
MORE_FDS, MORE_RSS_MB = 16, 120
"""How much more than at first a quiet daemon may use later."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run."""

    seed: int
    rounds: int
    seconds: float = float("inf")
    watch: bool = True
    model: Path | None = None
    files: int = 40
    rate: float = 50.0


class Torture:
    """One run in `folder`; `run` raises ViolationError, and `fired` counts the faults that took effect."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.fired: Counter[str] = Counter()
        self.chosen: Counter[str] = Counter()
        self.verified = 0
        self.folder = folder
        self._plan = plan
        self._rnd = random.Random(f"{plan.seed}-faults")
        self._log_file = (folder / "actions.log").open("a", buffering=1)
        self._calls: Counter[str] = Counter()
        self._held: tuple[int, float] | None = None
        workspace = folder / "workspace"
        workspace.mkdir()
        self.editor = Editor(
            workspace,
            folder / "outside",
            random.Random(f"{plan.seed}-editor"),
            self._log,
            SHORT if plan.model else LENGTHS,
        )
        search = {"sync": SYNC | {"watch": plan.watch}}
        self.daemon = FaultyDaemon(folder, write_config(folder, workspace, plan.model, search=search), workspace)

    def run(self) -> None:
        """Do all rounds, then check everything once more."""
        rates = random.Random(f"{self._plan.seed}-pace")
        self.editor.fill(self._plan.files)
        if has_strace():
            self._learn_calls()
        self.daemon.start()
        editing = EditorThread(self.editor, rates, self._plan.rate)
        questions = random.Random(f"{self._plan.seed}-search")
        searching = SearchThread(self.daemon, self.editor.oracle, questions, self._plan.rate * QUESTIONS_PER_EDIT)
        editing.start()
        searching.start()
        try:
            self._rounds(editing, searching)
        finally:
            searching.end()
            editing.end()
            self._end()

    def _rounds(self, editing: EditorThread, searching: SearchThread) -> None:
        end = time.monotonic() + self._plan.seconds
        self._verify()
        for number in range(self._plan.rounds):
            if time.monotonic() > end:
                break
            editing.resume()
            time.sleep(min(2.0, self._rnd.expovariate(1 / 0.25)))
            self._fault(number)
            self._ensure_running()
            if number % VERIFY_EVERY == VERIFY_EVERY - 1:
                editing.hold()
                self._verify()
            if searching.wrong:
                raise ViolationError("; ".join(searching.wrong[:5]))
        editing.hold()
        self._verify()
        if not searching.answers:
            raise ViolationError("I5: no search was answered at all")
        self._check_fired()

    def _fault(self, number: int) -> None:
        faults = _faults(self._plan.model is not None)
        name = self._rnd.choices(list(faults), weights=[weight for weight, _ in faults.values()])[0]
        self._log(f"-- round {number}: {name}")
        self.chosen[name] += 1
        faults[name][1](self)

    def kill9(self) -> None:
        """Kill at a random time."""
        self.daemon.kill()
        self.fired["kill9"] += 1

    def term(self) -> None:
        """Stop by a signal, in the middle of work."""
        code = self.daemon.stop()
        if code != 0:
            raise ViolationError(f"SIGTERM ended with {code}")
        self.fired["term"] += 1

    def stop_cont(self) -> None:
        """Stop the process for a moment, like a suspended machine."""
        self.daemon.pause()
        eventually(lambda: psutil.Process(self.daemon.pid).status() == psutil.STATUS_STOPPED)
        time.sleep(self._rnd.uniform(0.05, 0.4))
        self.daemon.resume()
        self.fired["stop_cont"] += 1

    def kill_worker(self) -> None:
        """Kill the embedding worker."""
        worker = self.daemon.agent()["embedder"]["worker"]
        if worker is None or worker["pid"] is None:
            self.chosen["kill_worker"] -= 1
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(worker["pid"]).kill()
        self.fired["kill_worker"] += 1

    def strace_kill_running(self) -> None:
        """Kill at the n-th call of a kind while it works."""
        call = self._rnd.choice(list(RUNNING_CALLS))
        inject = f"{call}:signal=KILL:when={self._rnd.randint(1, RUNNING_CALLS[call])}"
        with injected(self.daemon.pid, self.folder / "strace.log", inject):
            _within(3.0, lambda: not self.daemon.is_running())
        if self.daemon.is_running():
            self._log(f"not reached: {inject}")
            self.daemon.kill()
        else:
            self._reap("strace_kill_running")

    def strace_kill_start(self) -> None:
        """Kill at the n-th call of a kind from the start on, and at the latest during the stop."""
        self.daemon.kill()
        call = self._rnd.choice([name for name in CALLS if self._calls[name]])
        # strace counts per thread, and the distribution of calls over threads varies
        inject = f"{call}:signal=KILL:when={self._rnd.randint(1, max(1, self._calls[call] // 3))}"
        with spawned_traced(self.daemon, self.folder / "strace.log", inject):
            ended = _within(20.0, lambda: not self.daemon.is_running() or self.daemon.answers())
            if ended and self.daemon.is_running():
                os.kill(self.daemon.pid, signal.SIGTERM)
            self._reap("strace_kill_start")

    def rm_socket(self) -> None:
        """Remove the socket, and restart the daemon."""
        self.daemon.socket.unlink()
        self.daemon.stop()
        self.fired["rm_socket"] += 1

    def rm_wal(self) -> None:
        """Remove the write-ahead log of a killed daemon."""
        self.daemon.kill()
        for suffix in ("-wal", "-shm"):
            for path in self._of_the_index(suffix):
                path.unlink()
        self.fired["rm_wal"] += 1

    def flip(self) -> None:
        """Change a byte of the index, or of its log, while the daemon is stopped."""
        self.daemon.kill() if self._rnd.random() < 0.5 else self.daemon.stop()
        found = [path for suffix in ("", "-wal") for path in self._of_the_index(suffix) if path.stat().st_size]
        if not found:
            self.chosen["flip"] -= 1
            return
        target = self._rnd.choice(found)
        at = self._rnd.randrange(target.stat().st_size)
        self._log(f"flip {target.name} at {at}")
        flip_byte(target, at)
        self.fired["flip"] += 1

    def _of_the_index(self, suffix: str) -> list[Path]:
        """Return the file of the index, or none: a kill may have come after setting it aside."""
        return list((self.daemon.state / "workspaces").glob(f"*/index.sqlite{suffix}"))

    def overflow(self) -> None:
        """Cause an overflow of events while the daemon is stopped, including those of a real edit."""
        self.daemon.pause()
        counter = EventCounter(self.daemon.workspace)
        overflow_events(self.daemon.workspace)
        self.daemon.resume()
        self.fired["overflow"] += counter.overflowed()

    def _learn_calls(self) -> None:
        """Count the calls of each kind in one start, sync and stop."""
        log = self.folder / "calls.log"
        with spawned_traced(self.daemon, log, calls=CALLS):
            eventually(self.daemon.answers)
            with self.daemon.client() as client:
                check.sync(client)
            self.daemon.stop()
        self._calls = Counter({call: most_calls(log, call) for call in CALLS})
        self._log(f"calls of the busiest thread in a start and a stop: {dict(self._calls)}")

    def _reap(self, name: str) -> None:
        code = self.daemon.reap()
        if code == -signal.SIGKILL:
            self.fired[name] += 1
        elif code == 0:
            self._log(f"not reached: {name}")
        else:
            raise ViolationError(f"{name} ended with {code}")

    def _ensure_running(self) -> None:
        if not self.daemon.is_running():
            self.daemon.process = None
            self.daemon.start()

    def _verify(self) -> None:
        """Check every invariant while editing is paused."""
        self._log("-- verify")
        rebuild = self.folder / f"rebuild{self.verified}"
        oracle, has_model = self.editor.oracle, self._plan.model is not None
        rebuilt = check.rebuilt_by_daemon if self.verified % DAEMON_EVERY == 1 else check.rebuilt_here
        lines = check.check_converged(self.daemon, rebuild, is_embedded=has_model, rebuilt=rebuilt)
        check.check_oracle(oracle, self.daemon.workspace, lines)
        check.check_secrets(oracle, self.daemon)
        live, dead = oracle.live(), sorted(oracle.dead())
        some = dict(self._rnd.sample(sorted(live.items()), min(25, len(live))))
        with self.daemon.client() as client:
            check.check_answers(client, some, set(self._rnd.sample(dead, min(15, len(dead)))))
        shutil.rmtree(rebuild)
        self._check_bounds()
        self.verified += 1

    def _check_bounds(self) -> None:
        """Check I8: compare a quiet daemon with its first check."""
        process = psutil.Process(self.daemon.pid)
        held = process.num_fds(), process.memory_info().rss / 2**20
        self._held = self._held or held
        if held[0] > self._held[0] + MORE_FDS or held[1] > self._held[1] + MORE_RSS_MB:
            raise ViolationError(f"I8: {held[0]} descriptors and {held[1]:.0f} MB, at first {self._held}")

    def _check_fired(self) -> None:
        """Check that the faults took effect: all of them, or a third of those that wait for a system call."""
        if self.editor.actions.get("impostor", 0) > MAX_UNLUCKY and not self.editor.reused:
            raise ViolationError("no new file ever reused the inode of a removed one")
        for name, chosen in self.chosen.items():
            least = chosen // 3 if name.startswith("strace") else chosen
            if self.fired[name] < least:
                raise ViolationError(f"{name} was chosen {chosen} times and fired {self.fired[name]} times")

    def _end(self) -> None:
        if self.daemon.is_running():
            self.daemon.stop()
        self._log(f"fired {dict(self.fired)}, verified {self.verified} times, inodes reused {self.editor.reused} times")
        self._log_file.close()
        log = self.daemon.log.read_text(errors="replace")
        if "Traceback" in log:
            raise ViolationError(f"a traceback in {self.daemon.log}")

    def _log(self, text: str) -> None:
        self._log_file.write(f"{time.monotonic():.3f} {text}\n")


_ALWAYS: dict[str, tuple[int, Callable[[Torture], None]]] = {
    "kill9": (6, Torture.kill9),
    "term": (2, Torture.term),
    "stop_cont": (2, Torture.stop_cont),
    "rm_socket": (1, Torture.rm_socket),
    "rm_wal": (2, Torture.rm_wal),
    "flip": (3, Torture.flip),
    "overflow": (1, Torture.overflow),
}
_WITH_STRACE: dict[str, tuple[int, Callable[[Torture], None]]] = {
    "strace_kill_running": (4, Torture.strace_kill_running),
    "strace_kill_start": (4, Torture.strace_kill_start),
}


def _faults(has_model: bool) -> dict[str, tuple[int, Callable[[Torture], None]]]:
    traced = _WITH_STRACE if has_strace() else {}
    return _ALWAYS | traced | ({"kill_worker": (4, Torture.kill_worker)} if has_model else {})


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    try:
        eventually(condition, seconds=seconds)
    except AssertionError:
        return False
    return True


def torture(plan: Plan, folder: Path) -> Torture:
    """Run a plan in a folder, which is kept."""
    run = Torture(plan, folder)
    run.run()
    return run


@click.command()
@click.option("--rounds", default=25, show_default=True)
@click.option("--seconds", default=float("inf"), help="Stop after this time.")
@click.option("--seed", type=int, default=None, help="Default: a new one, which is printed.")
@click.option("--model", type=click.Path(path_type=Path, exists=True), help="A GGUF file to embed with.")
@click.option("--embed", is_flag=True, help="Embed with the starter model.")
@click.option("--files", default=40, show_default=True)
@click.option("--rate", default=50.0, show_default=True, help="Edits a second.")
@click.option("--no-watch", is_flag=True, help="Scan only.")
def main(
    rounds: int,
    seconds: float,
    seed: int | None,
    model: Path | None,
    embed: bool,
    files: int,
    rate: float,
    no_watch: bool,
) -> None:
    """Torture the daemon; the exit code is 1 at the first violation."""
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    model = asyncio.run(ModelStore(models_dir()).fetch(STARTER, lambda _progress: None)) if embed else model
    folder = Path(tempfile.mkdtemp(prefix=f"torture-{seed}-", dir="/var/tmp"))
    click.echo(f"seed {seed}, {rounds} rounds, in {folder}")
    started = time.monotonic()
    try:
        run = torture(Plan(seed, rounds, seconds, not no_watch, model, files, rate), folder)
    except BaseException:
        click.echo(f"seed {seed} failed; the folder {folder} is kept", err=True)
        raise
    shutil.rmtree(folder)
    took = time.monotonic() - started
    click.echo(f"seed {seed}: {run.verified} checks, 0 violations in {took:.0f} s; fired {dict(run.fired)}")
    click.echo(f"edits {run.editor.actions}, inodes reused {run.editor.reused}")


if __name__ == "__main__":
    main()
