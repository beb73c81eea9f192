"""Embedding through batch jobs: what arrives, what is paid for once, and what happens when jobs do not work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memoryd.domain.vector import Vector
from memoryd.embed.protocol import Attachment, Passage, Unembeddable
from memoryd.embed.remote.batch_embedder import BatchEmbedder, BatchSettings
from memoryd.embed.remote.breaker import EndpointBreaker
from memoryd.embed.remote.settings import CallTimeouts
from memoryd.errors import EmbedderUnavailable
from memoryd.retry import BreakerRule, Retry
from tests.contract.batch_server import BatchBackend
from tests.contract.embedding_server import DIALECTS, Asked, EmbeddingServer, Reply, numbers_for, opened_at
from tests.waiting import eventually_async

MODELS = {"openai": "text-embedding-3-small", "gemini": "gemini-embedding-001", "voyage": "voyage-4-large"}
KEY = "sk-test-9f8e7d6c5b4a3f2e1d0c"
QUICK = CallTimeouts(bulk=timedelta(seconds=2), hold=timedelta(seconds=2))
RULE = BreakerRule(first_delay=0.01, longest_delay=0.05, jitter=0.0, failures_to_open=50)
SETTINGS = BatchSettings(poll=timedelta(milliseconds=5), fewest=4, doubt=timedelta())
NOTES = [f"note number {number}" for number in range(8)]
PASSAGES = [Passage(text) for text in NOTES]


@pytest.fixture(params=sorted(MODELS))
async def backend(request: pytest.FixtureRequest) -> AsyncIterator[BatchBackend]:
    async with EmbeddingServer(DIALECTS[request.param]).running() as server:
        backend = BatchBackend(server)
        server.behaviour = backend
        yield backend


@contextlib.asynccontextmanager
async def opened(backend: BatchBackend, folder: Path, **changes: Any) -> AsyncIterator[BatchEmbedder]:
    provider = backend.server.dialect.provider
    breaker = changes.pop("breaker", None) or EndpointBreaker(Retry(RULE))
    inner = await opened_at(
        provider, backend.server.url, api_key=KEY, model=MODELS[provider], timeouts=QUICK, breaker=breaker
    )
    embedder = BatchEmbedder(inner, folder, replace(SETTINGS, **changes))
    backend.server.asked.clear()
    try:
        yield embedder
    finally:
        await embedder.aclose()


def are_right(got: list[Vector | Unembeddable], texts: list[str]) -> bool:
    wanted = [np.asarray(numbers_for(text)) for text in texts]
    pairs = zip(got, wanted, strict=True)
    return all(not isinstance(g, Unembeddable) and np.allclose(g, w / np.linalg.norm(w), atol=1e-6) for g, w in pairs)


def submissions(backend: BatchBackend) -> int:
    return len(backend.jobs)


async def test_many_texts_go_through_a_job_and_come_back_in_order(backend: BatchBackend, tmp_path: Path) -> None:
    async with opened(backend, tmp_path) as embedder:
        got = await embedder.embed_documents([*PASSAGES, Passage(" ")])
    assert are_right(got[:-1], NOTES)
    assert isinstance(got[-1], Unembeddable)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_few_texts_and_questions_are_asked_directly(backend: BatchBackend, tmp_path: Path) -> None:
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES[:3]), NOTES[:3])
        assert are_right([await embedder.embed_query("boiler")], ["boiler"])
    assert submissions(backend) == 0


async def test_pictures_never_go_through_a_job(backend: BatchBackend, tmp_path: Path) -> None:
    pictures = [Passage("a", attachment=Attachment("image/png", bytes([number]), b"x")) for number in range(8)]
    async with opened(backend, tmp_path) as embedder:
        got = await embedder.embed_documents(pictures)
    assert all(isinstance(answer, Unembeddable) for answer in got), "these models embed text only"
    assert submissions(backend) == 0


async def test_note_of_a_job_holds_no_text_and_no_key_and_is_private(backend: BatchBackend, tmp_path: Path) -> None:
    async with opened(backend, tmp_path / "jobs") as embedder:
        await embedder.embed_documents(PASSAGES)
    (note,) = (tmp_path / "jobs").iterdir()
    assert "note number" not in note.read_text()
    assert KEY not in note.read_text()
    assert note.stat().st_mode & 0o077 == 0


async def test_restart_while_a_job_runs_pays_once(backend: BatchBackend, tmp_path: Path) -> None:
    backend.polls = None
    async with opened(backend, tmp_path) as embedder:
        asked = asyncio.ensure_future(embedder.embed_documents(PASSAGES))
        await eventually_async(lambda: submissions(backend) == 1)
        # its answer is on its way, and nobody waits for the job any more
        await asyncio.sleep(0.1)
        asked.cancel()
    assert submissions(backend) == 1
    backend.polls = 1
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
        # killed before the vectors were stored: asked for again, paid for once
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_submission_whose_answer_was_lost_is_found_again(backend: BatchBackend, tmp_path: Path) -> None:
    backend.after_create = Reply(reset=True)
    async with opened(backend, tmp_path) as embedder:
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_documents(PASSAGES)
        backend.after_create = None
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_submission_that_never_arrived_is_made_again_when_the_doubt_is_over(
    backend: BatchBackend, tmp_path: Path
) -> None:
    def lost(asked: Asked) -> Reply | None:
        return Reply(reset=True) if b'"displayName"' in asked.raw[:40] or b'"metadata"' in asked.raw else None

    backend.odd = lost
    async with opened(backend, tmp_path, doubt=timedelta(minutes=1)) as embedder:
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_documents(PASSAGES)
        backend.odd = lambda _: None
        with pytest.raises(EmbedderUnavailable, match="has not said"):
            await embedder.embed_documents(PASSAGES)
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert submissions(backend) == 1


async def test_text_that_a_job_fails_on_is_asked_for_directly(backend: BatchBackend, tmp_path: Path) -> None:
    backend.broken = {NOTES[2], NOTES[5]}
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), sorted(backend.direct)) == (1, [NOTES[2], NOTES[5]])


async def test_failed_job_falls_back_to_direct_calls_and_two_stop_batches(
    backend: BatchBackend, tmp_path: Path
) -> None:
    backend.outcome = "failed"
    async with opened(backend, tmp_path) as embedder:
        for start in range(4):
            texts = [f"round {start} {text}" for text in NOTES]
            assert are_right(await embedder.embed_documents([Passage(text) for text in texts]), texts)
    assert submissions(backend) == 2
    assert len(backend.direct) == 32


async def test_endpoint_without_batches_is_asked_directly(backend: BatchBackend, tmp_path: Path) -> None:
    backend.odd = lambda asked: Reply(404, b"") if asked.path.partition("?")[0].endswith("/files") else None
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert sorted(backend.direct) == NOTES


async def test_job_that_takes_too_long_is_cancelled_and_the_rest_asked_for(
    backend: BatchBackend, tmp_path: Path
) -> None:
    backend.polls = None
    async with opened(backend, tmp_path, timeout=timedelta()) as embedder:
        async with asyncio.timeout(60):
            assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    (job,) = backend.jobs.values()
    assert job.is_cancelled


async def test_without_waiting_the_call_says_that_jobs_run(backend: BatchBackend, tmp_path: Path) -> None:
    backend.polls = 3
    breaker = EndpointBreaker(Retry(replace(RULE, failures_to_open=1)))
    async with opened(backend, tmp_path, wait=False, breaker=breaker) as embedder:
        for _ in range(2):
            with pytest.raises(EmbedderUnavailable, match="8 texts in batch jobs"):
                await embedder.embed_documents(PASSAGES)
            assert breaker.trouble is None, "work that is still under way is no failure"
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_no_more_jobs_at_once_than_allowed(
    backend: BatchBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryd.embed.remote.batch_embedder.TEXTS_PER_JOB", 4)
    most = 0

    def count(_asked: Asked) -> None:
        nonlocal most
        most = max(most, sum(job.polls < 3 for job in backend.jobs.values()))

    backend.odd, backend.polls = count, 3
    texts = [f"text {number}" for number in range(20)]
    async with opened(backend, tmp_path, concurrency=2) as embedder:
        assert are_right(await embedder.embed_documents([Passage(text) for text in texts]), texts)
    assert submissions(backend) == 5
    assert most == 2


async def test_broken_note_of_a_job_stops_nothing(backend: BatchBackend, tmp_path: Path) -> None:
    (tmp_path / "0000.batch.json").write_text('{"name": ')
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)


async def test_answers_that_lie_elsewhere_are_fetched_without_the_key(backend: BatchBackend, tmp_path: Path) -> None:
    seen: list[Asked] = []
    async with EmbeddingServer(backend.server.dialect).running() as storage:

        def stored(asked: Asked) -> Reply | None:
            seen.append(asked)
            return backend(replace_path(asked))

        def replace_path(asked: Asked) -> Asked:
            return Asked(asked.method, asked.path.removeprefix("/signed"), asked.headers, asked.raw)

        def redirected(asked: Asked) -> Reply | None:
            is_file = asked.path.partition("?")[0].endswith(("/content", ":download"))
            is_here = asked.headers["host"] == f"127.0.0.1:{backend.server.port}"
            return (
                Reply(302, b"", {"Location": f"{storage.origin}/signed{asked.path}"}) if is_file and is_here else None
            )

        storage.behaviour, backend.odd = stored, redirected
        async with opened(backend, tmp_path) as embedder:
            assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert seen
    assert not any(KEY in value for asked in seen for value in asked.headers.values())
    assert backend.direct == []
