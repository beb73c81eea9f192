"""Embedding through a provider's batch interface: cheaper and slower, for the first run over many notes.

Every job is stored before it is submitted, and until its vectors are surely in the index, so that no text is paid for
twice after a restart or a lost index. Texts that a job fails on are embedded by direct calls, and so are all texts
while batches do not work.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.vector import Vector
from memoryd.embed.protocol import EmbedderIdentity, Passage, Purpose, Unembeddable
from memoryd.embed.remote.batch_api import BatchJob, BatchRequest, JobFolder, JobState, Stage, batch_api
from memoryd.embed.remote.breaker import CallError, FailureKind
from memoryd.embed.remote.embedder import Answers, RemoteEmbedder, unavailable
from memoryd.embed.remote.http import Decode, Decoded, decode_json
from memoryd.embed.remote.providers import Input, vector_of
from memoryd.errors import EmbedderUnavailable

log = structlog.get_logger(__name__)

TEXTS_PER_JOB = 1000
"""Bounds the answers of a job in memory: about 60 MB of JSON at 3072 dimensions."""
FAILURES_TO_STOP = 2
STOP_SECONDS = 3600.0
"""How long no batches are tried after FAILURES_TO_STOP failures in a row."""
KEEP_SECONDS = 86_400.0
"""How long a finished job stays stored, in case its vectors are lost before they are in the index."""
CANCEL_SECONDS = 900.0
"""How long a cancelled job may take to end before it is abandoned."""


class BatchSettings(Struct, frozen=True):
    """`wait`: calls return when their jobs are over, else they raise while jobs run. `timeout`: from submission."""

    wait: bool = True
    concurrency: int = 2
    poll: timedelta = timedelta(seconds=2)
    timeout: timedelta = timedelta(minutes=60)
    fewest: int = 64
    """The least number of texts for a job."""
    doubt: timedelta = timedelta(minutes=1)
    """How long a job whose submission got no answer may still appear at the provider."""


class BatchEmbedder:
    """Embedder that sends many texts to the provider's batch interface, and few texts, and all questions, to `inner`.

    `folder` has one file per job.
    """

    def __init__(self, inner: RemoteEmbedder, folder: Path, settings: BatchSettings) -> None:
        self._inner = inner
        self._folder = JobFolder(folder)
        self._settings = settings
        self._api = batch_api(inner.channel.wire, inner.channel.endpoint.base)
        self._ready: dict[str, Vector | Unembeddable] = {}
        self._failures = 0
        self._stopped_until = 0.0
        self._lock = asyncio.Lock()
        self.running_texts = 0
        """Number of texts in running jobs, at the last check."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of `inner`: both ways give the same vectors."""
        return self._inner.identity

    async def aclose(self) -> None:
        """Close the connections. Jobs go on at the provider."""
        await self._inner.aclose()

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question as RemoteEmbedder does."""
        return await self._inner.embed_query(text)

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Return a vector or a reason for each passage, in order.

        Raises EmbedderUnavailable, also while jobs run if the settings say not to wait; a later call with the same
        passages then gets the results. A batch with pictures or sounds is embedded by direct calls.
        """
        if any(passage.attachment is not None for passage in passages):
            return await self._inner.embed_documents(passages)
        inputs = [self._inner.input_of(passage) for passage in passages]
        wanted = {self._key(item): item for item in inputs if item is not None}
        async with self._lock:
            try:
                await self._fetch(wanted)
            except CallError as error:
                raise unavailable(error) from error
            answers = {key: self._ready.pop(key) for key in wanted}
        return [Unembeddable("empty text") if item is None else answers[self._key(item)] for item in inputs]

    def _key(self, item: Input) -> str:
        return sha256(
            f"{self.identity.fingerprint}\x1f{item.title}\x1f{item.text}".encode("utf-8", "replace")
        ).hexdigest()

    async def _fetch(self, wanted: Mapping[str, Input]) -> None:
        """Put a result for every wanted text into `_ready`."""
        jobs, taken = await self._known_jobs(), set[str]()
        while True:
            jobs = await self._submit(self._free(wanted, jobs), jobs)
            free = self._free(wanted, jobs)
            # too few texts for a job, or no jobs are possible now
            await self._embed_directly(free if len(free) < self._settings.fewest or self._is_stopped() else {})
            jobs = [await self._check(job) if job.stage is not Stage.OVER else job for job in jobs]
            await self._collect(wanted, jobs, taken)
            needed = [job for job in jobs if job.stage is not Stage.OVER and self._missing(wanted, job)]
            self.running_texts = sum(len(job.keys) for job in needed)
            if not needed and not self._free(wanted, jobs):
                break
            if needed and not self._settings.wait:
                raise EmbedderUnavailable(
                    f"{self._inner.destination} works on {self.running_texts} texts in batch jobs"
                )
            await asyncio.sleep(self._settings.poll.total_seconds() if needed else 0)
        await self._embed_directly({key: item for key, item in wanted.items() if key not in self._ready})

    def _missing(self, wanted: Mapping[str, Input], job: BatchJob) -> bool:
        return any(key in wanted and key not in self._ready for key in job.keys)

    def _free(self, wanted: Mapping[str, Input], jobs: Sequence[BatchJob]) -> dict[str, Input]:
        """Return the wanted texts that are in no job and have no result."""
        submitted = {key for job in jobs for key in job.keys}
        return {key: item for key, item in wanted.items() if key not in submitted and key not in self._ready}

    def _is_stopped(self) -> bool:
        return time.monotonic() < self._stopped_until

    async def _embed_directly(self, texts: Mapping[str, Input]) -> None:
        if texts:
            answers: Answers = await self._inner.answers_for(list(texts.values()))
            self._ready |= {key: answers[item] for key, item in texts.items()}

    async def _known_jobs(self) -> list[BatchJob]:
        """Return the stored jobs of this vector space, also of earlier processes; delete expired ones."""
        jobs = []
        for job in await asyncio.to_thread(self._folder.load):
            if job.stage is Stage.OVER and time.time() - job.ended > KEEP_SECONDS:
                await asyncio.to_thread(self._folder.remove, job)
            elif job.fingerprint == self.identity.fingerprint:
                known = await self._find_job(job) if job.stage is Stage.SUBMITTING else job
                jobs += [known] if known else []
        return jobs

    async def _find_job(self, job: BatchJob) -> BatchJob | None:
        """Return a job that may not have been submitted, if the provider knows it; else delete it and return None.

        Raises EmbedderUnavailable if the job is so young that it may still appear at the provider.
        """
        try:
            states = await self._ask(self._api.latest(), lambda body: self._api.states(decode_json(body)))
        except CallError as error:
            if error.kind is not FailureKind.MISSING:
                raise
            states = []
        for state in states:
            if state.name == job.name:
                return await self._note(replace(job, id=state.id, stage=Stage.RUNNING))
        if time.time() - job.created < self._settings.doubt.total_seconds():
            raise EmbedderUnavailable(f"{self._inner.destination} has not said whether it took a batch job")
        await asyncio.to_thread(self._folder.remove, job)
        return None

    async def _submit(self, free: Mapping[str, Input], jobs: Sequence[BatchJob]) -> list[BatchJob]:
        """Submit jobs up to the allowed concurrency; return all jobs."""
        started = list(jobs)
        keys = list(free)
        while len(keys) >= self._settings.fewest and not self._is_stopped():
            if sum(job.stage is not Stage.OVER for job in started) >= self._settings.concurrency:
                break
            part, keys = keys[:TEXTS_PER_JOB], keys[TEXTS_PER_JOB:]
            job = await self._start({key: free[key] for key in part})
            started += [job] if job else []
        return started

    async def _start(self, requests: Mapping[str, Input]) -> BatchJob | None:
        name = secrets.token_hex(8)
        job = BatchJob(name, self.identity.fingerprint, tuple(requests), time.time())
        try:
            upload = await asyncio.to_thread(self._api.upload, requests, name)
            file = await self._ask(upload, lambda body: self._api.uploaded_id(decode_json(body)))
            await self._note(job)
            # a single attempt: a second one could make a second job, and both would be paid for
            state = await self._ask(self._api.create(file, name), self._state, attempts=1)
        except CallError as error:
            if error.kind in {FailureKind.UNAVAILABLE, FailureKind.BUSY, FailureKind.FAILING}:
                raise
            await asyncio.to_thread(self._folder.remove, job)
            self._note_failure(error.reason)
            return None
        log.info("batch job submitted", provider=self.identity.provider, job=state.id, texts=len(requests))
        return await self._note(replace(job, id=state.id, stage=Stage.RUNNING))

    async def _check(self, job: BatchJob) -> BatchJob:
        """Ask the provider for the state of a job; cancel or abandon it if it takes too long."""
        try:
            state = await self._ask(self._api.status(job.id), self._state)
        except CallError as error:
            if error.kind is not FailureKind.MISSING:
                raise
            return await self._end(job, (), "the provider does not know it any more")
        if state.is_over:
            return await self._end(job, state.files, state.status)
        age = time.time() - job.created - self._settings.timeout.total_seconds()
        if age > CANCEL_SECONDS:
            return await self._end(job, (), "it does not end")
        return await self._cancel(job) if age > 0 and job.stage is Stage.RUNNING else job

    async def _cancel(self, job: BatchJob) -> BatchJob:
        """Cancel a job to get its results so far; the other texts are embedded directly."""
        log.warning("batch job takes too long and is cancelled", job=job.id, texts=len(job.keys))
        try:
            await self._ask(self._api.cancel(job.id), bytes)
        except CallError as error:
            log.warning("cannot cancel a batch job", job=job.id, reason=error.reason)
        return await self._note(replace(job, stage=Stage.CANCELLING))

    async def _end(self, job: BatchJob, files: tuple[str, ...], status: str) -> BatchJob:
        if files:
            self._failures = 0
            log.info("batch job is over", job=job.id, status=status, texts=len(job.keys))
        else:
            self._note_failure(f"job {job.id}: {status}")
        return await self._note(replace(job, stage=Stage.OVER, files=files, ended=time.time()))

    def _note_failure(self, reason: str) -> None:
        self._failures += 1
        log.warning("batch job failed; its texts are embedded by direct calls", reason=reason, times=self._failures)
        if self._failures >= FAILURES_TO_STOP:
            self._failures = 0
            self._stopped_until = time.monotonic() + STOP_SECONDS

    async def _collect(self, wanted: Mapping[str, Input], jobs: Sequence[BatchJob], taken: set[str]) -> None:
        """Read the wanted vectors from the files of finished jobs; `taken` has the names of jobs already read."""
        for job in jobs:
            if job.stage is Stage.OVER and job.name not in taken and self._missing(wanted, job):
                taken.add(job.name)
                for file in job.files:
                    vectors = await self._file(file)
                    self._ready |= {key: vectors[key] for key in job.keys if key in wanted and key in vectors}

    async def _file(self, file: str) -> dict[str, Vector | Unembeddable]:
        try:
            return await self._ask(self._api.content(file), self._answers)
        except CallError as error:
            if error.kind is not FailureKind.MISSING:
                raise
            return {}

    def _answers(self, body: bytes) -> dict[str, Vector | Unembeddable]:
        """Return key → vector of an answer file; lines without a vector, or that cannot be read, are skipped."""
        vectors: dict[str, Vector | Unembeddable] = {}
        for line in body.splitlines():
            try:
                key, row = self._api.line(json.loads(line))
            except (ValueError, RecursionError):
                continue
            if row is not None and len(row) == self.identity.dimensions:
                vectors[key] = vector_of(row)
        return vectors

    def _state(self, body: bytes) -> JobState:
        return self._api.state(decode_json(body))

    async def _note(self, job: BatchJob) -> BatchJob:
        await asyncio.to_thread(self._folder.save, job)
        return job

    async def _ask(self, step: BatchRequest, decode: Decode[Decoded], *, attempts: int | None = None) -> Decoded:
        endpoint = self._inner.channel.endpoint
        return await endpoint.ask(
            step.method, step.url, Purpose.DOCUMENT, decode, json_body=step.json_body, attempts=attempts, **step.content
        )
