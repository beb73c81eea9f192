"""Embedding with batch jobs: results, jobs that are paid for once, and failing jobs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memoryd.embed.protocol import Attachment, Passage, Unembeddable
from memoryd.embed.remote.batch_embedder import BatchEmbedder, BatchSettings
from memoryd.embed.remote.breaker import EndpointBreaker
from memoryd.embed.remote.settings import CallTimeouts
from memoryd.errors import EmbedderUnavailable
from memoryd.retry import BreakerRule, Retry
from tests.contract.batch_server import BatchBackend
from tests.contract.embedding_server import DIALECTS, Asked, EmbeddingServer, Reply, are_right, opened_at
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


def submissions(backend: BatchBackend) -> int:
    return len(backend.jobs)


async def test_many_texts_are_embedded_by_a_job_in_order(backend: BatchBackend, tmp_path: Path) -> None:
    async with opened(backend, tmp_path) as embedder:
        got = await embedder.embed_documents([*PASSAGES, Passage(" ")])
    assert are_right(got[:-1], NOTES)
    assert isinstance(got[-1], Unembeddable)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_few_texts_and_questions_are_embedded_directly(backend: BatchBackend, tmp_path: Path) -> None:
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES[:3]), NOTES[:3])
        assert are_right([await embedder.embed_query("boiler")], ["boiler"])
    assert submissions(backend) == 0


async def test_pictures_are_never_sent_to_a_job(backend: BatchBackend, tmp_path: Path) -> None:
    pictures = [Passage("a", attachment=Attachment("image/png", bytes([number]), b"x")) for number in range(8)]
    async with opened(backend, tmp_path) as embedder:
        got = await embedder.embed_documents(pictures)
    assert all(isinstance(answer, Unembeddable) for answer in got), "these models embed text only"
    assert submissions(backend) == 0


async def test_file_of_a_job_is_private_without_texts_and_key(backend: BatchBackend, tmp_path: Path) -> None:
    async with opened(backend, tmp_path / "jobs") as embedder:
        await embedder.embed_documents(PASSAGES)
    (note,) = (tmp_path / "jobs").iterdir()
    assert "note number" not in note.read_text()
    assert KEY not in note.read_text()
    assert note.stat().st_mode & 0o077 == 0


async def test_job_is_paid_for_once_despite_a_restart(backend: BatchBackend, tmp_path: Path) -> None:
    backend.polls = None
    async with opened(backend, tmp_path) as embedder:
        asked = asyncio.ensure_future(embedder.embed_documents(PASSAGES))
        await eventually_async(lambda: submissions(backend) == 1)
        # its answer is on its way
        await asyncio.sleep(0.1)
        asked.cancel()
    assert submissions(backend) == 1
    backend.polls = 1
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
        # the vectors were not stored: embedded again, paid for once
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_submission_with_a_lost_answer_is_found_again(backend: BatchBackend, tmp_path: Path) -> None:
    backend.after_create = Reply(reset=True)
    async with opened(backend, tmp_path) as embedder:
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_documents(PASSAGES)
        backend.after_create = None
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_lost_submission_is_repeated_after_the_doubt_time(backend: BatchBackend, tmp_path: Path) -> None:
    def lost(request: Asked) -> Reply | None:
        return Reply(reset=True) if b'"displayName"' in request.raw[:40] or b'"metadata"' in request.raw else None

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


async def test_text_that_fails_in_a_job_is_embedded_directly(backend: BatchBackend, tmp_path: Path) -> None:
    backend.broken = {NOTES[2], NOTES[5]}
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), sorted(backend.direct)) == (1, [NOTES[2], NOTES[5]])


async def test_failed_job_falls_back_to_direct_calls_and_two_end_batches(backend: BatchBackend, tmp_path: Path) -> None:
    backend.outcome = "failed"
    async with opened(backend, tmp_path) as embedder:
        for start in range(4):
            texts = [f"round {start} {text}" for text in NOTES]
            assert are_right(await embedder.embed_documents([Passage(text) for text in texts]), texts)
    assert submissions(backend) == 2
    assert len(backend.direct) == 32


async def test_endpoint_without_batches_is_called_directly(backend: BatchBackend, tmp_path: Path) -> None:
    backend.odd = lambda request: Reply(404, b"") if request.path.partition("?")[0].endswith("/files") else None
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert sorted(backend.direct) == NOTES


async def test_slow_job_is_cancelled_and_the_texts_embedded_directly(backend: BatchBackend, tmp_path: Path) -> None:
    backend.polls = None
    async with opened(backend, tmp_path, timeout=timedelta()) as embedder:
        async with asyncio.timeout(60):
            assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    (job,) = backend.jobs.values()
    assert job.is_cancelled


async def test_call_without_waiting_reports_running_jobs(backend: BatchBackend, tmp_path: Path) -> None:
    backend.polls = 3
    breaker = EndpointBreaker(Retry(replace(RULE, failures_to_open=1)))
    async with opened(backend, tmp_path, wait=False, breaker=breaker) as embedder:
        for _ in range(2):
            with pytest.raises(EmbedderUnavailable, match="8 texts in batch jobs"):
                await embedder.embed_documents(PASSAGES)
            assert breaker.trouble is None, "a running job is no failure"
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert (submissions(backend), backend.direct) == (1, [])


async def test_concurrent_jobs_are_limited(
    backend: BatchBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryd.embed.remote.batch_embedder.TEXTS_PER_JOB", 4)
    most = 0

    def count(_request: Asked) -> None:
        nonlocal most
        most = max(most, sum(job.polls < 3 for job in backend.jobs.values()))

    backend.odd, backend.polls = count, 3
    texts = [f"text {number}" for number in range(20)]
    async with opened(backend, tmp_path, concurrency=2) as embedder:
        assert are_right(await embedder.embed_documents([Passage(text) for text in texts]), texts)
    assert submissions(backend) == 5
    assert most == 2


async def test_broken_file_of_a_job_is_ignored(backend: BatchBackend, tmp_path: Path) -> None:
    (tmp_path / "0000.batch.json").write_text('{"name": ')
    async with opened(backend, tmp_path) as embedder:
        assert are_right(await embedder.embed_documents(PASSAGES), NOTES)


async def test_redirected_results_are_fetched_without_the_key(backend: BatchBackend, tmp_path: Path) -> None:
    seen: list[Asked] = []
    async with EmbeddingServer(backend.server.dialect).running() as storage:

        def stored(request: Asked) -> Reply | None:
            seen.append(request)
            return backend(replace_path(request))

        def replace_path(request: Asked) -> Asked:
            return Asked(request.method, request.path.removeprefix("/signed"), request.headers, request.raw)

        def redirected(request: Asked) -> Reply | None:
            is_file = request.path.partition("?")[0].endswith(("/content", ":download"))
            is_here = request.headers["host"] == f"127.0.0.1:{backend.server.port}"
            return (
                Reply(302, b"", {"Location": f"{storage.origin}/signed{request.path}"}) if is_file and is_here else None
            )

        storage.behaviour, backend.odd = stored, redirected
        async with opened(backend, tmp_path) as embedder:
            assert are_right(await embedder.embed_documents(PASSAGES), NOTES)
    assert seen
    assert not any(KEY in value for request in seen for value in request.headers.values())
    assert backend.direct == []
