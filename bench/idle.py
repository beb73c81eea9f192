"""What a daemon costs while no one asks: memory before, with and after the model, and processor time."""

import time
from collections.abc import Iterator

import psutil

from bench.corpus import write_notes
from bench.measurement import Aim, Bench, Row
from bench.stage import MIB, agent, cpu_seconds, resident, running, settle
from bench.timing import Stopwatch, poll
from memoryd.replies.models import WorkerReply
from tests.daemon import RunningDaemon

CPU_AIM = Aim(0.5)
WAIT_SECONDS = 60.0


def rows(bench: Bench) -> Iterator[Row]:
    """Follow one daemon from its start through the life of its model."""
    count = bench.pick(500, 100)
    local = {"modelPath": str(bench.model), "threads": 1, "idleUnloadMinutes": bench.pick(15, 9) / 60}
    with running(bench, "idle", model=bench.model, search={"local": local}) as daemon:
        client = daemon.client()
        yield _memory("resident: daemon just started, nothing indexed", daemon)
        write_notes(daemon.workspace / "memory", count=count, size=count * 60)
        settle(client, embedded=True)
        settle(client)
        yield _memory(f"resident: daemon, {count} small notes embedded", daemon)
        yield Row("resident: worker with the model", _worker(daemon)["rssBytes"] / MIB, "MiB", note="starter model")
        yield _cpu(daemon, bench.pick(10, 3))
        poll(lambda: _worker(daemon)["pid"] is None, seconds=WAIT_SECONDS, step=0.5)
        yield _memory("resident: daemon after the model is unloaded", daemon, "the worker has ended")
        total = sum(resident(process.pid) for process in _family(daemon))
        yield Row("resident: all processes after unload", total, "MiB", note=f"{len(_family(daemon))} processes")


def _cpu(daemon: RunningDaemon, seconds: int) -> Row:
    """Measure in a quiet stretch: the scans that follow fresh files are over after two seconds."""
    time.sleep(2.5)
    before, watch = _cpu_seconds(daemon), Stopwatch()
    time.sleep(seconds)
    share = (_cpu_seconds(daemon) - before) / watch.seconds * 100
    note = f"daemon and worker over {seconds} s, files watched, model loaded"
    return Row("processor share, idle", share, "%", CPU_AIM, note)


def _memory(name: str, daemon: RunningDaemon, note: str = "") -> Row:
    own = psutil.Process(daemon.pid).memory_full_info().uss / MIB
    return Row(name, resident(daemon.pid), "MiB", note="; ".join(filter(None, (f"unique {own:.0f} MiB", note))))


def _worker(daemon: RunningDaemon) -> WorkerReply:
    worker = agent(daemon.client())["embedder"]["worker"]
    if worker is None:
        raise RuntimeError("there is no worker")
    return worker


def _family(daemon: RunningDaemon) -> list[psutil.Process]:
    parent = psutil.Process(daemon.pid)
    return [parent, *parent.children(recursive=True)]


def _cpu_seconds(daemon: RunningDaemon) -> float:
    return sum(cpu_seconds(process.pid) for process in _family(daemon))
