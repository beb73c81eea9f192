"""The load test: many clients of all kinds, and a continuous editor, with one real daemon."""

import asyncio
import contextlib
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.corpus import notes
from bench.latency import CHUNK_BYTES
from bench.measurement import Aim, Row
from bench.timing import percentile
from tests.daemon import RunningDaemon, write_config
from tests.fault import check
from tests.fault.editing import SHORT, Editor, EditorThread
from tests.fault.model import new_marker
from tests.load import crowd, nuisances
from tests.load.crowd import Scene
from tests.load.held import PIECES, Held, held_by, most, sampling, slope_a_minute
from tests.load.judging import Judge
from tests.load.tally import Tally
from tests.waiting import eventually

CROWD: Mapping[crowd.Client, int] = {
    crowd.searching: 40,
    crowd.reading: 10,
    crowd.watching: 5,
    nuisances.reading_slowly: 5,
    nuisances.trickling: 2,
    nuisances.sending_garbage: 1,
    nuisances.coming_and_going: 1,
}
"""64 clients; the one that asks for health is added."""
CHUNKS_A_NOTE = 10
SAMPLE_SECONDS = 0.25
WARM_SECONDS, WARM_PACE = 4.0, 0.02
WARM_SHARE = 1 / 3
"""Share of the samples during which memory may grow."""
MORE_RSS_MIB = 96
"""How much more memory a daemon may use after the crowd than before."""
SETTLED_SECONDS, QUIET_SECONDS = 0.5, 60.0
HEALTH_AIM, SEARCH_AIM, SLOPE_AIM, NONE = Aim(50), Aim(200), Aim(1), Aim(0)


@dataclass(frozen=True, slots=True)
class Plan:
    """Parameters of a run; `pace` in seconds between two questions of a client, `rate` in edits a second."""

    seed: int
    seconds: float = 30.0
    chunks: int = 10_000
    files: int = 40
    rate: float = 50.0
    pace: float = 1.0
    rest: float = 5.0
    """Seconds for which the daemon is observed after the crowd."""
    sync: Mapping[str, object] = field(default_factory=dict)
    """Overrides the usual times of the index."""


@dataclass(slots=True)
class RoundResult:
    """The results of a run."""

    tally: Tally
    before: Held
    after: Held
    rested: Held
    """Some seconds after `after`, without questions and edits."""
    samples: list[Held] = field(default_factory=list)
    edits: int = 0

    @property
    def idle(self) -> float:
        """The share of a core, in per cent, that the idle daemon used."""
        return (self.rested.cpu - self.after.cpu) / (self.rested.at - self.after.at) * 100

    @property
    def missed(self) -> list[str]:
        """Violations that count on any machine."""
        found = self.tally.summary
        found += [f"{name} of a quiet daemon: {new}, before {old}" for name, old, new in self._more()]
        if (grown := self.after.resident - self.before.resident) > MORE_RSS_MIB:
            found.append(f"memory grew by {grown:.0f} MiB")
        return found

    def _more(self) -> Iterator[tuple[str, int, int]]:
        yield from ((name, old, new) for name, old, new in self._held() if new > most(name, old))

    def _held(self) -> Iterator[tuple[str, int, int]]:
        yield from ((name, getattr(self.before, name), getattr(self.after, name)) for name in PIECES)

    def rows(self) -> Iterator[Row]:
        """Yield the figures."""
        yield Row("wrong answers", self.tally.wrong_count, "", NONE)
        refused = ", ".join(f"{what} {count}" for what, count in sorted(self.tally.refused.items()))
        yield Row("refusals", self.tally.refused.total(), "", NONE, refused)
        yield from self.tally.rows()
        for kind, share, aim in (("health", 99, HEALTH_AIM), ("search", 50, None), ("search", 99, SEARCH_AIM)):
            yield Row(f"{kind}: p{share}", percentile(self.tally.took_ms[kind] or [0.0], share), "ms", aim)
        yield Row("edits", self.edits, "")
        yield from self._resources()

    def _resources(self) -> Iterator[Row]:
        warm = self.samples[int(len(self.samples) * WARM_SHARE) :]
        slope = slope_a_minute([sample.at for sample in warm], [sample.resident for sample in warm])
        yield Row("resident memory: slope after the first third", slope, "MiB/min", SLOPE_AIM)
        grown = f"{self.before.resident:.0f} MiB before, {self.after.resident:.0f} after"
        yield Row("resident memory: growth", self.after.resident - self.before.resident, "MiB", note=grown)
        for name, before, after in self._held():
            peak = max((getattr(sample, name) for sample in self.samples), default=after)
            yield Row(f"{name}: back to", after, "", Aim(most(name, before)), f"before {before}, at most {peak}")
        cpu, seconds = warm[-1].cpu - warm[0].cpu, warm[-1].at - warm[0].at
        yield Row("processor share of the daemon", cpu / seconds * 100, "%", note="of one core")
        yield Row("processor share when all have left", self.idle, "%")


@dataclass(frozen=True, slots=True)
class Staged:
    """A daemon with everything indexed, and the scene of its clients."""

    daemon: RunningDaemon
    scene: Scene


@contextlib.contextmanager
def staged(plan: Plan, folder: Path) -> Iterator[tuple[Staged, Editor]]:
    """Yield a daemon with notes in its own folder, which is kept, and the editor of some of them."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    editor = Editor(workspace, folder / "outside", random.Random(f"{plan.seed}-editor"), lambda _text: None, SHORT)
    still = _write_still(workspace, plan)
    editor.fill(plan.files)
    tally = Tally()
    config = write_config(folder, workspace, None, search={"sync": plan.sync} if plan.sync else None)
    daemon = RunningDaemon(folder, config, workspace, environment={"MEMORYD_LOG_LEVEL": "INFO"})
    sought = {text.split()[-1]: path for path, text in still.items()}
    scene = Scene(daemon.socket, tally, Judge(editor.oracle, still, tally), sought, plan.pace)
    with daemon:
        check.sync(daemon.client())
        yield Staged(daemon, scene), editor
    if "Traceback" in daemon.log.read_text(errors="replace"):
        tally.is_wrong(f"a traceback in {daemon.log}")


def run(plan: Plan, folder: Path) -> RoundResult:
    """Run a plan in its own folder, which is kept."""
    with staged(plan, folder) as (stage, editor):
        return _loaded(plan, stage.daemon, stage.scene, editor)


def _write_still(workspace: Path, plan: Plan) -> dict[str, str]:
    """Write the unchanged notes, each with a unique word at its end; return them by path."""
    rnd, written = random.Random(f"{plan.seed}-still"), {}
    count = max(1, plan.chunks // CHUNKS_A_NOTE)
    for path, text in notes(workspace / "memory/still", count=count, size=plan.chunks * CHUNK_BYTES, seed=plan.seed):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = f"{text}\n{new_marker(rnd)}\n"
        path.write_text(whole)
        written[str(path.relative_to(workspace))] = whole
    return written


def _loaded(plan: Plan, daemon: RunningDaemon, scene: Scene, editor: Editor) -> RoundResult:
    """Run a crowd to warm up, take a sample, run it again with edits, and take another sample."""
    asyncio.run(crowd.attend(CROWD, replace(scene, pace=WARM_PACE), "warm", min(WARM_SECONDS, plan.seconds / 3)))
    scene.tally.took_ms.clear()
    scene.tally.ends.clear()
    before = _settled(daemon.pid)
    samples: list[Held] = []
    editing = EditorThread(editor, random.Random(f"{plan.seed}-pace"), plan.rate)
    editing.start()
    editing.resume()
    try:
        sampler = sampling(daemon.pid, SAMPLE_SECONDS, samples)
        asyncio.run(crowd.attend(CROWD, scene, str(plan.seed), plan.seconds, [sampler]))
        editing.hold()
    finally:
        editing.end()
    check.sync(daemon.client())
    daemon.close_clients()
    after = _back(daemon.pid, before)
    time.sleep(plan.rest)
    return RoundResult(scene.tally, before, after, held_by(daemon.pid), samples, sum(editor.actions.values()))


def _settled(pid: int) -> Held:
    """Return a sample of a daemon once it has not changed for a moment."""
    samples = [held_by(pid)]

    def is_settled() -> bool:
        samples.append(held_by(pid))
        recent = [sample for sample in samples if sample.at > samples[-1].at - SETTLED_SECONDS]
        same = {(sample.descriptors, sample.threads) for sample in recent}
        return len(same) == 1 and samples[-1].at - samples[0].at > SETTLED_SECONDS

    eventually(is_settled, seconds=QUIET_SECONDS, step=0.1)
    return samples[-1]


def _back(pid: int, before: Held) -> Held:
    """Return a sample of a daemon once it is back at `before`, or after a long wait."""

    def is_back() -> bool:
        now = held_by(pid)
        return all(getattr(now, name) <= most(name, getattr(before, name)) for name in PIECES)

    with contextlib.suppress(AssertionError):
        eventually(is_back, seconds=QUIET_SECONDS, step=0.1)
    return held_by(pid)
