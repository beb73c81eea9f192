"""Rows 61, 69 to 75, 77 to 80, 89, 91, 92 and 96 of the fault catalogue: a faulty embedding worker."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from memoryd.embed.local.local_model import EMBEDDING_COMMAND, LlamaWorker
from memoryd.embed.local.worker_process import WorkerPhase
from memoryd.embed.protocol import EmbedderIdentity, Passage, Unembeddable
from memoryd.errors import EmbedderUnavailable, EmbeddingError, ModelError, WorkerDied
from memoryd.models.families import ModelFamily
from memoryd.retry import BreakerRule, Retry
from tests.waiting import eventually_async

STANDIN = Path(__file__).parents[1] / "data" / "workers" / "standin.py"
FAMILY = ModelFamily("plain", "{text}", "{text}", "mean", 512)
QUICK = BreakerRule(first_delay=0.02, longest_delay=0.1)
SECOND = timedelta(seconds=1)

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def standin(mode: str) -> Callable[[int], tuple[str, ...]]:
    return lambda descriptor: (sys.executable, "-E", "-P", str(STANDIN), mode, str(descriptor))


def worker_for(
    model: Path,
    command: Callable[[int], tuple[str, ...]],
    *,
    dimensions: int,
    rule: BreakerRule = QUICK,
    query_timeout: timedelta = 20 * SECOND,
    document_timeout: timedelta = 20 * SECOND,
    load_timeout: timedelta = 20 * SECOND,
) -> LlamaWorker:
    return LlamaWorker(
        model=model,
        family=FAMILY,
        identity=EmbedderIdentity("local", model.name, "", "", dimensions, "mean", "{text}", "{text}"),
        threads=1,
        idle_unload=timedelta(minutes=5),
        query_timeout=query_timeout,
        document_timeout=document_timeout,
        load_timeout=load_timeout,
        command=command,
        retry=Retry(rule),
    )


@asynccontextmanager
async def running(worker: LlamaWorker) -> AsyncIterator[LlamaWorker]:
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def played(mode: str, *, document_timeout: timedelta = 20 * SECOND, rule: BreakerRule = QUICK) -> LlamaWorker:
    return worker_for(Path("/no/model"), standin(mode), dimensions=4, document_timeout=document_timeout, rule=rule)


def real(model: Path, *, document_timeout: timedelta = 20 * SECOND) -> LlamaWorker:
    return worker_for(model, EMBEDDING_COMMAND, dimensions=384, document_timeout=document_timeout)


async def comes_back(worker: LlamaWorker) -> None:
    """Ask until the back-off is over; fail if the worker never answers again."""
    async with asyncio.timeout(20):
        while True:
            try:
                await worker.embed_query("a good question")
            except EmbedderUnavailable:
                await asyncio.sleep(0.01)
            else:
                return


async def asks_until(worker: LlamaWorker, kind: type[Exception], but_not: str = "\0") -> Exception:
    """Ask again during the back-off, until it fails in this way."""
    async with asyncio.timeout(20):
        while True:
            try:
                await worker.warm()
            except (EmbedderUnavailable, ModelError) as exc:
                if isinstance(exc, kind) and but_not not in str(exc):
                    return exc
            await asyncio.sleep(0.01)


def pid_of(worker: LlamaWorker) -> int:
    pid = worker.state()["pid"]
    assert pid is not None
    return pid


GOOD_AND_POISON = [Passage("good"), Passage("poison"), Passage("also good")]


async def test_f069_abort_loses_only_the_batch() -> None:
    """An abort is WorkerDied with its signal; the next worker answers, and it counts one restart."""
    async with running(played("abort")) as worker:
        with pytest.raises(WorkerDied, match="SIGABRT"):
            await worker.embed_documents(GOOD_AND_POISON)
        await comes_back(worker)
        assert worker.state()["restarts"] == 1
        assert "SIGABRT" in str(worker.state()["lastError"])


async def test_f069_deadly_text_is_found_by_halving_the_batch() -> None:
    """The one text that kills is found by halving, and the others are embedded."""

    async def deadly(passages: list[Passage]) -> list[Passage]:
        try:
            await worker.embed_documents(passages)
        except WorkerDied:
            middle = len(passages) // 2
            return passages if middle == 0 else await deadly(passages[:middle]) + await deadly(passages[middle:])
        return []

    async with running(played("abort")) as worker:
        assert await deadly([*[Passage("good")] * 5, Passage("poison"), Passage("good")]) == [Passage("poison")]


async def test_f069_question_during_back_off_is_refused() -> None:
    """During the back-off a question is refused with the time, and the waiting documents are embedded."""
    rule = BreakerRule(first_delay=1, jitter=0)
    async with running(played("abort", rule=rule)) as worker:
        with pytest.raises(WorkerDied):
            await worker.embed_documents(GOOD_AND_POISON)
        waiting = asyncio.create_task(worker.embed_documents([Passage("good")]))
        await asyncio.sleep(0)
        with pytest.raises(EmbedderUnavailable, match="next try within a minute"):
            await worker.embed_query("anything")
        assert len(await waiting) == 1


async def test_f069_question_in_flight_is_unavailable() -> None:
    """A question in flight is unavailable with the signal, not a bad text."""
    async with running(played("abort")) as worker:
        with pytest.raises(EmbedderUnavailable, match="SIGABRT"):
            await worker.embed_query("poison")


async def test_f069_error_has_exit_status_and_last_line() -> None:
    """The error holds the exit status and the last line of the worker."""
    async with running(played("exit")) as worker:
        with pytest.raises(WorkerDied, match="exit status 1: out of luck"):
            await worker.embed_documents(GOOD_AND_POISON)


@pytest.mark.parametrize("mode", ["hang", "stop"])
async def test_f070_hung_worker_is_killed_at_the_deadline(mode: str) -> None:
    """A worker that hangs or stops moving is killed at the deadline, and another one answers."""
    async with running(played(mode, document_timeout=0.3 * SECOND)) as worker:
        await worker.warm()
        pid = pid_of(worker)
        with pytest.raises(WorkerDied, match="hangs"):
            await worker.embed_documents(GOOD_AND_POISON)
        await eventually_async(lambda: not psutil.pid_exists(pid))
        await comes_back(worker)


async def test_f070_stopped_real_worker_is_killed_at_the_deadline(starter_model: Path) -> None:
    """A stopped real worker is killed at the deadline, and another one answers."""
    async with running(real(starter_model, document_timeout=0.5 * SECOND)) as worker:
        await worker.warm()
        pid = pid_of(worker)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(WorkerDied, match="hangs"):
            await worker.embed_documents([Passage("good")] * 3)
        await eventually_async(lambda: not psutil.pid_exists(pid))
        await comes_back(worker)


async def test_f070_slow_batch_with_progress_is_not_killed() -> None:
    """A batch slower than the deadline that moves is finished without a restart."""
    async with running(played("slow", document_timeout=0.6 * SECOND)) as worker:
        vectors = await worker.embed_documents([Passage("poison")] * 10)
        assert len(vectors) == 10
        assert worker.state()["restarts"] == 0


async def test_f070_one_unanswered_question_kills_a_hung_worker() -> None:
    """One unanswered question gets the hung worker killed."""
    hung = worker_for(
        Path("/no/model"),
        standin("hang"),
        dimensions=4,
        query_timeout=0.2 * SECOND,
        document_timeout=0.4 * SECOND,
    )
    async with running(hung) as worker:
        with suppress(EmbedderUnavailable):
            await worker.warm()
        with pytest.raises(EmbedderUnavailable, match=r"no answer within 0\.2 s"):
            await worker.embed_query("poison")
        await eventually_async(lambda: worker.phase is WorkerPhase.WAITING)


async def test_f071_killed_real_worker_is_restarted(starter_model: Path) -> None:
    """The real worker killed inside a batch is WorkerDied with SIGKILL, and another one answers."""
    async with running(real(starter_model)) as worker:
        await worker.warm()
        batch = asyncio.create_task(worker.embed_documents([Passage("the gateway " * 50)] * 200))
        await asyncio.sleep(0)
        os.kill(pid_of(worker), signal.SIGKILL)
        with pytest.raises(WorkerDied, match="SIGKILL"):
            await batch
        await comes_back(worker)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "no such file"),
        (b"", "read"),
        (b"<!DOCTYPE html><html>404</html>", "magic"),
        (b"GGUF\x03\x00\x00\x00", "header"),
    ],
)
async def test_f072_unfit_file_is_one_line_of_reason(tmp_path: Path, content: bytes | None, reason: str) -> None:
    """Each unfit file is one line of reason, the same for documents, questions and status."""
    model = tmp_path / "model.gguf"
    if content is not None:
        model.write_bytes(content)
    async with running(real(model)) as worker:
        with pytest.raises(ModelError, match=rf"cannot load model {model}: .*{reason}") as caught:
            await worker.warm()
        with pytest.raises(EmbedderUnavailable, match="cannot load model"):
            await worker.embed_query("anything")
        assert worker.state()["lastError"] == str(caught.value)
        assert "\n" not in str(caught.value)


async def test_f072_truncated_model_is_refused(tmp_path: Path, starter_model: Path) -> None:
    """A cut model is an error of the model."""
    model = tmp_path / "model.gguf"
    model.write_bytes(starter_model.read_bytes()[:5_000_000])
    async with running(real(model)) as worker:
        with pytest.raises(ModelError, match="cannot load model"):
            await worker.warm()


async def test_f072_wrong_dimensions_are_refused() -> None:
    """A model with other dimensions is refused with both numbers."""
    async with running(played("wrong-dimensions")) as worker:
        with pytest.raises(ModelError, match="8 dimensions, not 4"):
            await worker.warm()


async def test_f072_replaced_file_is_loaded_during_back_off(tmp_path: Path) -> None:
    """A replaced file is loaded though the back-off had an hour to go."""
    model = tmp_path / "model.gguf"
    model.write_bytes(b"nonsense")
    patient = BreakerRule(first_delay=3600, longest_delay=3600)
    async with running(worker_for(model, standin("picky"), dimensions=4, rule=patient)) as worker:
        with pytest.raises(ModelError):
            await worker.warm()
        with pytest.raises(EmbedderUnavailable):
            await worker.embed_query("too early")
        model.write_bytes(b"GGUF, this time")
        await comes_back(worker)


@needs_proc
async def test_f073_model_truncated_while_loaded_kills_only_worker(tmp_path: Path, starter_model: Path) -> None:
    """The cut model kills the worker by SIGBUS, and loading it again is an error of the model."""
    model = tmp_path / "model.gguf"
    shutil.copy(starter_model, model)
    async with running(real(model)) as worker:
        await worker.warm()
        os.truncate(model, 1_000_000)
        with pytest.raises(WorkerDied, match="SIGBUS"):
            await worker.embed_documents([Passage("the gateway")])
        await asks_until(worker, ModelError)


@pytest.mark.parametrize("mode", ["nan", "infinite", "zero", "long", "refuse"])
async def test_f074_unusable_vector_is_rejected_alone(mode: str) -> None:
    """The unusable vector alone is rejected, without a restart."""
    async with running(played(mode)) as worker:
        good, poison, also_good = await worker.embed_documents(GOOD_AND_POISON)
        assert isinstance(poison, Unembeddable)
        assert not isinstance(good, Unembeddable)
        assert not isinstance(also_good, Unembeddable)
        with pytest.raises(EmbeddingError):
            await worker.embed_query("poison")
        assert worker.state()["restarts"] == 0


async def test_f075_prints_of_native_code_do_not_disturb_replies() -> None:
    """With prints on stdout from native code, all vectors arrive."""
    async with running(played("loud")) as worker:
        vectors = await worker.embed_documents([Passage("good")] * 3)
        assert not any(isinstance(vector, Unembeddable) for vector in vectors)


async def test_f077_question_while_model_loads_is_refused_in_time() -> None:
    """A question during loading gets that as the reason within its time."""
    loading = worker_for(Path("/no/model"), standin("hang-on-load"), dimensions=4, query_timeout=0.2 * SECOND)
    async with running(loading) as worker:
        with pytest.raises(EmbedderUnavailable, match="warming"):
            await worker.embed_query("anything")
        assert worker.phase is WorkerPhase.STARTING


async def test_f077_endless_load_is_given_up() -> None:
    """A load that does not end is given up at its deadline, with the reason."""
    loading = worker_for(Path("/no/model"), standin("hang-on-load"), dimensions=4, load_timeout=0.5 * SECOND)
    async with running(loading) as worker:
        with pytest.raises(EmbedderUnavailable):
            await worker.warm()
        await eventually_async(lambda: "not loaded within 0.5 s" in str(worker.state()["lastError"]))


@pytest.mark.parametrize(
    ("mode", "phase"),
    [
        ("", WorkerPhase.STOPPED),
        ("hang-on-load", WorkerPhase.STARTING),
        ("hang", WorkerPhase.READY),
        ("abort", WorkerPhase.WAITING),
    ],
)
async def test_cancelled_loop_stops_the_worker_in_every_phase(mode: str, phase: WorkerPhase) -> None:
    slow = BreakerRule(first_delay=60.0, longest_delay=60.0)
    async with running(played(mode, rule=slow)) as worker:
        asked = asyncio.ensure_future(worker.embed_documents(GOOD_AND_POISON if mode else []))
        await eventually_async(lambda: worker.phase is phase)
    await asyncio.gather(asked, return_exceptions=True)
    assert worker.phase is WorkerPhase.STOPPED


@pytest.mark.parametrize(
    "mode",
    ["disorder", "twice", "unknown-id", "short", "garbage", "nested", "oversize", "half", "second-ready"],
)
async def test_f078_broken_protocol_ends_the_connection(mode: str) -> None:
    """Each break of the protocol ends the worker, and the next one's vectors are good."""
    async with running(played(mode)) as worker:
        with pytest.raises(WorkerDied):
            await worker.embed_documents([Passage("poison"), Passage("good")])
        await comes_back(worker)
        good, also_good = await worker.embed_documents([Passage("good"), Passage("also good")])
        assert not isinstance(good, Unembeddable)
        assert not isinstance(also_good, Unembeddable)


async def test_f079_flood_of_long_texts_is_survived(starter_model: Path) -> None:
    """Texts of a million signs are embedded without a restart."""
    flood = [Passage("🎉" * 1_000_000), Passage("word " * 100_000), Passage("漢" * 300_000), Passage("x\x00" * 100_000)]
    async with running(real(starter_model)) as worker:
        vectors = await worker.embed_documents(flood)
        assert not any(isinstance(vector, Unembeddable) for vector in vectors)
        assert worker.state()["restarts"] == 0


@needs_proc
async def test_f080_worker_is_nice_and_has_two_threads(starter_model: Path) -> None:
    """The worker is ten steps nicer than we are and has two threads."""
    async with running(real(starter_model)) as worker:
        await worker.embed_documents([Passage("the gateway")] * 5)
        process = psutil.Process(pid_of(worker))
        assert process.nice() == min(19, os.nice(0) + 10)
        # the computing thread and the reading thread
        assert process.num_threads() == 2


async def test_f089_worker_that_dies_at_once_is_restarted_slowly() -> None:
    """After five deaths at once the next try is half a minute away, with the reason."""
    rule = BreakerRule(first_delay=0.01, longest_delay=30)
    async with running(played("crash-on-load", rule=rule)) as worker:
        for _ in range(5):
            failure = await asks_until(worker, EmbedderUnavailable, but_not="next try")
            assert "cannot allocate memory" in str(failure)
        assert worker.state()["restarts"] == 4
        with pytest.raises(EmbedderUnavailable, match="next try within a minute"):
            await worker.warm()
        assert worker.phase is WorkerPhase.WAITING


async def test_f089_circuit_closes_after_a_good_probe() -> None:
    """After six deaths and a good probe the worker answers."""
    async with running(played("abort")) as worker:
        for _ in range(6):
            await comes_back(worker)
            with pytest.raises(WorkerDied):
                await worker.embed_documents(GOOD_AND_POISON)
        await comes_back(worker)
        assert worker.state()["restarts"] == 6


PARENT = """
import asyncio, os, signal, sys
from datetime import timedelta
from pathlib import Path
from memoryd.models.families import ModelFamily
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.embed.local.local_model import LlamaWorker

async def main():
    worker = LlamaWorker(
        model=Path(sys.argv[1]),
        family=ModelFamily("plain", "{text}", "{text}", "mean", 512),
        identity=EmbedderIdentity("local", "m", "", "", 384, "mean", "{text}", "{text}"),
        threads=1,
        idle_unload=timedelta(minutes=5),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        await worker.warm()
        if sys.argv[2] == "stopped":
            os.kill(worker.state()["pid"], signal.SIGSTOP)
        print("worker", worker.state()["pid"], flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@needs_proc
@pytest.mark.parametrize("child", ["running", "stopped"])
async def test_f091_worker_ends_when_the_daemon_is_killed(starter_model: Path, child: str) -> None:
    """No worker lives on when its daemon is killed, even one that is computing."""
    command = [sys.executable, "-c", textwrap.dedent(PARENT), str(starter_model), child]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:  # noqa: ASYNC220 - one line is read
        assert parent.stdout is not None
        pid = next(int(line.split()[1]) for line in parent.stdout if line.startswith("worker"))
        assert psutil.pid_exists(pid)
        parent.kill()
    await eventually_async(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


async def test_f092_dead_workers_are_reaped() -> None:
    """Ten dead workers leave no zombie."""
    async with running(played("abort", rule=BreakerRule(first_delay=0, longest_delay=0))) as worker:
        for _ in range(10):
            with pytest.raises(WorkerDied):
                await worker.embed_documents(GOOD_AND_POISON)
        assert worker.state()["restarts"] == 9
        await eventually_async(lambda: worker.state()["pid"] is None)
        children = psutil.Process().children()
        assert [child.pid for child in children if child.status() == psutil.STATUS_ZOMBIE] == []


@needs_proc
async def test_f061_f096_worker_inherits_neither_descriptors_nor_secrets(
    starter_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker holds no descriptor of a database, one socket, and no secret."""
    monkeypatch.setenv("OPENAI_API_KEY", "very secret")
    database = os.open(tmp_path / "index.sqlite", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(database, True)
    try:
        async with running(real(starter_model)) as worker:
            await worker.embed_query("the gateway")
            proc = Path("/proc", str(pid_of(worker)))
            opened = {int(entry.name): str(entry.readlink()) for entry in (proc / "fd").iterdir()}
            assert opened[0] == "/dev/null"
            assert opened[1] == opened[2]
            # llama-cpp-python opens /dev/null for itself
            others = [opened[number] for number in opened if number > 2 and opened[number] != "/dev/null"]
            assert len(others) == 1
            assert others[0].startswith("socket:")
            assert b"very secret" not in (proc / "environ").read_bytes()
            assert str((proc / "cwd").readlink()) == "/"
    finally:
        os.close(database)


async def test_worker_that_ignores_signals_is_stopped() -> None:
    worker = played("deaf")
    async with running(worker):
        await worker.warm()
        pid = pid_of(worker)
    assert not psutil.pid_exists(pid)
