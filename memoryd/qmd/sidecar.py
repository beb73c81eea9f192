"""qmd as the search uses it: a query in, results or SidecarError out.

A warm `qmd mcp` answers; while that is down, each query runs as a process of its own.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from memoryd.config.qmd import QmdSection
from memoryd.errors import SidecarError
from memoryd.qmd.collections import Collection
from memoryd.qmd.index_writer import maintenance_rules
from memoryd.qmd.maintenance import MaintenanceState, QmdMaintenance, Supplies
from memoryd.qmd.program import Program, QmdHome, QmdInstallation
from memoryd.qmd.query import (
    Complaint,
    QmdHit,
    QmdQuestion,
    SubQuery,
    complaint_of,
    embedding_trouble,
    first_error,
    hits_in,
    hits_of,
)
from memoryd.qmd.server import QmdServer, ServerPhase, ServerTimes
from memoryd.retry import Retry
from memoryd.search.protocol import Fallback

AT_ONCE = 2
"""Number of concurrent queries; more processes would only slow each other down."""
WAITING = 16
"""Number of queries that may wait; further ones are refused, so that the builtin index answers them."""
Output = tuple[list[QmdHit], str]
"""The hits, best first, and the output on stderr."""
ABORTED = (134, -6)
"""llama.cpp may abort at the end of a run whose results were printed in full."""


class QmdAnswer(Struct, frozen=True):
    """The hits, best first; `vector_trouble` is set if the search by meaning failed."""

    hits: tuple[QmdHit, ...]
    vector_trouble: str | None = None


class QmdSidecar:
    """One agent's qmd. `maintenance.run` and `server.run` are its two loops."""

    def __init__(
        self,
        *,
        home: QmdHome,
        settings: QmdSection,
        supplies: Supplies,
        on_change: Callable[[], None],
        on_ready: Callable[[], None],
    ) -> None:
        self.settings = settings
        rules = maintenance_rules(settings)
        self.home = home
        self.installation = QmdInstallation(command=settings.command, home=home, query_seconds=settings.query_seconds)
        self.maintenance = QmdMaintenance(
            installation=self.installation,
            supplies=supplies,
            rules=rules,
            on_change=on_change,
            on_new_index=lambda: self.server.renew(),
        )
        self.server = QmdServer(
            spec=self.installation.server_spec,
            warm_up=self._warm_up,
            on_ready=on_ready,
            times=ServerTimes(start=rules.command_seconds, silence=0.75 * settings.query_seconds),
        )
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._queued = 0
        self._retry = Retry()
        """Back-off of queries that run as processes of their own."""
        self._failure = ""

    @property
    def state(self) -> MaintenanceState:
        """The state of its index; the maintenance loop keeps changing it."""
        return self.maintenance.state

    @property
    def collections(self) -> tuple[Collection, ...]:
        """The collections as currently configured."""
        return self.state.collections

    @property
    def names_of_notes(self) -> tuple[str, ...]:
        """The collections to name in a query for notes; empty means all, in one ranking."""
        names = tuple(collection.name for collection in self.collections if not collection.is_exported)
        return names if len(names) < len(self.collections) else ()

    @property
    def reranks(self) -> bool:
        """Whether results are reranked: configured, and the model is usable."""
        model = self.state.models.get("rerank")
        return self.settings.wants_reranking and model is not None and model.trouble is None

    @property
    def unavailable_because(self) -> str | None:
        """Why qmd cannot answer any query, None if it can."""
        state = self.state
        if self.installation.program is None or state.updated_at is None:
            return state.trouble or "qmd has not indexed the notes yet"
        return state.vector_trouble if self.settings.search_mode == "vsearch" else None

    async def query(self, question: QmdQuestion, *, seconds: float) -> QmdAnswer:
        """Run a query within `seconds`. Raises SidecarError for any failure."""
        if self._queued >= AT_ONCE + WAITING:
            raise SidecarError("qmd is busy with other questions")
        self._queued += 1
        end = time.monotonic() + seconds
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + seconds):
                # before a slot is taken, so that queries that wait for the first update occupy none
                if self.settings.update.wait_for_boot_sync:
                    await self.maintenance.booted.wait()
                if (unavailable_because := self.unavailable_because) is not None:
                    raise SidecarError(unavailable_because)
                async with self._slots:
                    return await self._ask(question, end)
        except TimeoutError as exc:
            raise SidecarError(f"qmd did not answer within {seconds:g} s") from exc
        finally:
            self._queued -= 1

    async def _ask(self, question: QmdQuestion, end: float) -> QmdAnswer:
        try:
            # if it goes down before the call, that fails, and the builtin index answers
            if self.server.is_available:
                hits, stderr = await self._ask_server(question, end)
            else:
                names = question.collections or [collection.name for collection in self.collections]
                hits, stderr = await self._ask_command(question, names, end)
        except SidecarError as exc:
            if complaint_of(str(exc)) is Complaint.COLLECTION:
                self.maintenance.demand()
            raise
        trouble = embedding_trouble(stderr) if question.has_meaning else None
        if trouble and not hits:
            raise SidecarError(f"qmd cannot embed the question: {trouble}")
        return QmdAnswer(tuple(hits), trouble)

    async def _ask_server(self, question: QmdQuestion, end: float) -> Output:
        # slightly less than the caller's time, so that a hanging server is detected here, and ended
        seconds = max(0.01, (end - time.monotonic()) * 0.98)
        content, stderr = await self.server.call(
            "query", question.tool_arguments(), seconds=seconds, needs_models=question.needs_models
        )
        results = content.get("results")
        if not isinstance(results, list):
            raise SidecarError("qmd mcp gave no list of results")
        return hits_of(results), stderr

    async def _ask_command(self, question: QmdQuestion, collections: Sequence[str], end: float) -> Output:
        """Query with a process of its own, until `end` (monotonic seconds); refuse for a while after failures."""
        if self._retry.wait() > 0:
            raise SidecarError(f"qmd is left alone for a while: {self._failure}")
        if not await self.maintenance.has_index():
            raise SidecarError("the index of qmd is gone and is made anew")
        self._retry.note_try()
        try:
            answer = await self._run_command(question, collections, end)
        except SidecarError as exc:
            self._retry.note_failure()
            self._failure = str(exc)
            raise
        self._retry.note_success()
        return answer

    async def _run_command(self, question: QmdQuestion, collections: Sequence[str], end: float) -> Output:
        """Run `query --json`; if this build does not know an option, run it again with the fewest options."""
        for arguments in question.command_lines(collections):
            left = max(0.01, end - time.monotonic())
            outcome = await self.installation.run(*arguments, seconds=left, is_background=False)
            if outcome.code == 0 or complaint_of(outcome.stderr) is not Complaint.REJECTED:
                break
        if outcome.code != 0 and outcome.code not in ABORTED:
            raise SidecarError(f"qmd failed: {first_error(outcome.stderr) or outcome.ending}")
        try:
            return hits_in(outcome.stdout), outcome.stderr
        except ValueError as exc:
            raise SidecarError(f"qmd {exc}") from exc

    def _warm_up(self) -> dict[str, object] | None:
        """Return the arguments of a query that loads the models of the search mode, None if there are no vectors."""
        if not self.settings.has_vectors or self.state.vector_trouble:
            return None
        # a new text each time: qmd would answer a repeated one from its cache, without a model
        search = SubQuery("vec", f"memory {time.time_ns()}")
        return QmdQuestion((search,), 1, self.reranks).tool_arguments()


class QmdState(Struct, frozen=True, kw_only=True):
    """The state of one agent's qmd; `program` is None until found, `export_trouble` is why exports fail."""

    program: Program | None
    search_mode: str
    home: Path
    server: ServerPhase
    pid: int | None
    restarts: int
    maintenance: MaintenanceState
    exported: int | None
    """Number of exported transcripts; None if none are to be exported."""
    export_trouble: str
    fallback: Fallback | None
    is_failing: bool = False
    """Whether its server failed so often that it is started only now and then."""
