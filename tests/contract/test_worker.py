"""The contract of the real embedding worker with a real model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from llama_cpp import llama_supports_gpu_offload

from memoryd.domain.vector import Vector
from memoryd.embed.local.local_model import LlamaWorker
from memoryd.embed.local.worker_process import WorkerPhase
from memoryd.embed.protocol import EmbedderIdentity, Passage, Unembeddable
from memoryd.errors import EmbedderUnavailable, EmbeddingError
from memoryd.models.families import ModelFamily
from tests.contract.background import in_background
from tests.sweeps import some, swept
from tests.waiting import eventually_async

PLAIN = ModelFamily("minilm", "{text}", "{text}", "mean", 512)
HOST = "Mac Studio gateway host"


def worker_for(
    model: Path,
    family: ModelFamily = PLAIN,
    idle_unload: timedelta = timedelta(minutes=5),
    context: int | None = None,
    gpu_layers: int | None = None,
) -> LlamaWorker:
    identity = EmbedderIdentity(
        "local", model.name, "", "", 384, family.pooling, family.query_prompt, family.document_prompt
    )
    return LlamaWorker(
        model=model,
        family=family,
        identity=identity,
        threads=1,
        idle_unload=idle_unload,
        query_timeout=timedelta(seconds=30),
        context=context,
        gpu_layers=gpu_layers,
    )


@asynccontextmanager
async def running(worker: LlamaWorker) -> AsyncIterator[LlamaWorker]:
    async with in_background(worker.run()):
        yield worker


@pytest.fixture
async def worker(starter_model: Path) -> AsyncIterator[LlamaWorker]:
    async with running(worker_for(starter_model)) as worker:
        yield worker


def cosine(first: Vector | Unembeddable, second: Vector | Unembeddable) -> float:
    assert not isinstance(first, Unembeddable)
    assert not isinstance(second, Unembeddable)
    return float(first @ second)


async def test_paraphrase_gives_the_published_similarity(worker: LlamaWorker) -> None:
    host = await worker.embed_query(HOST)
    assert cosine(host, await worker.embed_query("the machine running the gateway")) == pytest.approx(0.44, abs=0.01)
    assert cosine(host, await worker.embed_query("banana bread recipe")) == pytest.approx(0.09, abs=0.02)


async def test_no_documents_start_no_worker(worker: LlamaWorker) -> None:
    assert await worker.embed_documents([]) == []
    assert await worker.embed_documents([Passage(" ")]) == [Unembeddable("empty text")]
    assert worker.state()["pid"] is None


async def test_bad_passage_does_not_affect_the_others(worker: LlamaWorker) -> None:
    first, blank, control, last = await worker.embed_documents(
        [Passage("a"), Passage(" \n\t"), Passage("\x01\x02"), Passage("b")]
    )
    assert isinstance(blank, Unembeddable)
    assert isinstance(control, Unembeddable)
    assert "token" in control.reason
    assert cosine(first, last) > 0


async def test_long_text_is_cut_by_tokens(worker: LlamaWorker) -> None:
    opening = "the gateway runs on the studio machine "
    exactly, far_too_long, other_ending = await worker.embed_documents(
        [Passage(opening * 100), Passage(opening * 15_000), Passage(opening * 100 + "banana bread " * 500)]
    )
    assert cosine(exactly, far_too_long) == pytest.approx(1, abs=1e-6)
    assert cosine(exactly, other_ending) == pytest.approx(1, abs=1e-6)


async def test_lower_context_cuts_earlier(starter_model: Path) -> None:
    async with running(worker_for(starter_model, context=16)) as worker:
        head = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        short, long = await worker.embed_documents([Passage(head), Passage(head + " and then banana bread")])
        assert cosine(short, long) == pytest.approx(1, abs=1e-6)


async def test_special_tokens_in_a_text_are_plain_text(worker: LlamaWorker) -> None:
    written, spaced = await worker.embed_documents([Passage("[MASK] [SEP]"), Passage("[ mask ] [ sep ]")])
    assert cosine(written, spaced) == pytest.approx(1, abs=1e-6)


@swept(
    "text",
    [
        "🎉" * 100_000,
        "<|im_start|>system\n</s><eos>",
        "nul\x00inside",
        "\ud800 lone",
        "a" * 300_000,
        "ท" * 5_000,
        "{text}{0}",
    ],
    3,
    ids=some(["emoji", "marks", "nul", "surrogate", "one-word", "thai", "braces"], 3),
)
async def test_nasty_text_gives_a_vector(worker: LlamaWorker, text: str) -> None:
    question = await worker.embed_query(text)
    (document,) = await worker.embed_documents([Passage(text)])
    assert cosine(question, document) == pytest.approx(1, abs=1e-5)


async def test_prompts_of_the_family_are_applied(starter_model: Path) -> None:
    family = ModelFamily("made-up", "ask: {text}", "title: {title} | text: {text}", "mean", 512)
    async with running(worker_for(starter_model)) as plain, running(worker_for(starter_model, family)) as prompted:
        question = await prompted.embed_query("{title} of what")
        assert cosine(question, await plain.embed_query("ask: {title} of what")) == pytest.approx(1, abs=1e-5)
        (document,) = await prompted.embed_documents([Passage("some {text}", "a {text}")])
        expected = await plain.embed_query("title: a {text} | text: some {text}")
        assert cosine(document, expected) == pytest.approx(1, abs=1e-5)


async def test_pooling_of_the_family_is_used(starter_model: Path) -> None:
    first_token = ModelFamily("made-up", "{text}", "{text}", "cls", 512)
    async with running(worker_for(starter_model)) as mean, running(worker_for(starter_model, first_token)) as cls:
        assert cosine(await mean.embed_query(HOST), await cls.embed_query(HOST)) < 0.99


async def test_question_overtakes_queued_documents(worker: LlamaWorker) -> None:
    await worker.warm()
    passages = [Passage(f"passage {number} of a long backlog") for number in range(200)]
    backlog = asyncio.create_task(worker.embed_documents(passages))
    # one turn of the loop: the whole backlog is sent before the question
    await asyncio.sleep(0)
    await worker.embed_query(HOST)
    assert not backlog.done()
    assert len(await backlog) == 200


async def test_batches_of_two_callers_do_not_mix(worker: LlamaWorker) -> None:
    ours, theirs = ([Passage(f"{name} {number}") for number in range(10)] for name in ("apples", "gateways"))
    first, second = await asyncio.gather(worker.embed_documents(ours), worker.embed_documents(theirs))
    for passage, vector in zip([*ours, *theirs], [*first, *second], strict=True):
        assert cosine(vector, await worker.embed_query(passage.text)) == pytest.approx(1, abs=1e-5)


async def test_cancelled_calls_do_not_confuse_the_worker(worker: LlamaWorker) -> None:
    await worker.warm()
    for _ in range(5):
        backlog = asyncio.create_task(worker.embed_documents([Passage(f"{number} dropped") for number in range(30)]))
        question = asyncio.create_task(worker.embed_query("dropped as well"))
        await asyncio.sleep(0)
        backlog.cancel()
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await backlog
    vector = await worker.embed_query(HOST)
    (again,) = await worker.embed_documents([Passage(HOST)])
    assert cosine(vector, again) == pytest.approx(1, abs=1e-5)
    assert worker.state()["restarts"] == 0


async def test_idle_model_is_unloaded_and_comes_back(starter_model: Path) -> None:
    async with running(worker_for(starter_model, idle_unload=timedelta(milliseconds=50))) as worker:
        assert worker.phase is WorkerPhase.STOPPED
        await worker.embed_query(HOST)
        pid = worker.state()["pid"]
        assert pid is not None
        await eventually_async(lambda: worker.state()["pid"] is None)
        assert not psutil.pid_exists(pid)
        assert worker.state()["rssBytes"] == 0
        assert worker.state()["lastError"] is None
        await worker.embed_query(HOST)


async def test_state_shows_the_process(worker: LlamaWorker) -> None:
    await worker.warm()
    state = worker.state()
    assert worker.phase is WorkerPhase.READY
    assert state["rssBytes"] > 20e6
    assert psutil.Process(state["pid"]).ppid() == psutil.Process().pid


@pytest.mark.parametrize("layers", [None, 0, 12])
async def test_gpu_layers_are_harmless_without_gpu_support(starter_model: Path, layers: int | None) -> None:
    worker = worker_for(starter_model, gpu_layers=layers)
    async with running(worker):
        assert worker.state()["offloads"] is None
        assert cosine(await worker.embed_query(HOST), await worker.embed_query(HOST)) == pytest.approx(1)
        assert (worker.state()["gpuLayers"], worker.state()["offloads"]) == (layers, llama_supports_gpu_offload())
        assert worker.state()["lastError"] is None


async def test_stopped_worker_raises(starter_model: Path) -> None:
    worker = worker_for(starter_model)
    async with running(worker):
        await worker.warm()
        pid = worker.state()["pid"]
        assert pid is not None
        waiting = asyncio.create_task(worker.embed_documents([Passage(f"{number}") for number in range(500)]))
        await asyncio.sleep(0)
    with pytest.raises(EmbeddingError):
        await waiting
    assert not psutil.pid_exists(pid)
    with pytest.raises(EmbedderUnavailable):
        await worker.embed_query(HOST)
