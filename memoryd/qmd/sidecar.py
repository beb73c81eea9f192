"""qmd as the search uses it: a question in, results out, or one error that says why not.

A warm `qmd mcp` answers; while that is down, each question is a process of its own.
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
"""Questions that qmd works on; more processes than that only slow each other down."""
WAITING = 16
"""Questions that may wait for one of these places; the rest is refused, so that the builtin index answers it."""
Output = tuple[list[QmdHit], str]
"""What qmd finds, best first, and what it wrote to stderr meanwhile."""
ABORTED = (134, -6)
"""llama.cpp may abort at the end of a run whose results were printed whole."""


class QmdAnswer(Struct, frozen=True):
    """Results, best first, and why the vector part of the question found nothing, if it was in trouble."""

    hits: tuple[QmdHit, ...]
    vector_trouble: str | None = None


class QmdSidecar:
    """One agent's qmd. `upkeep.run` and `server.run` are its two loops."""

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
        """Of questions that are processes of their own."""
        self._failure = ""

    @property
    def state(self) -> MaintenanceState:
        """What is known of its index; the upkeep goes on writing it."""
        return self.maintenance.state

    @property
    def collections(self) -> tuple[Collection, ...]:
        """The collections as they are configured now."""
        return self.state.collections

    @property
    def names_of_notes(self) -> tuple[str, ...]:
        """The collections to name in a question that is not about conversations; nothing means all, in one ranking."""
        names = tuple(one.name for one in self.collections if not one.is_exported)
        return names if len(names) < len(self.collections) else ()

    @property
    def reranks(self) -> bool:
        """Whether results are reranked: it is wanted, and the model is there."""
        model = self.state.models.get("rerank")
        return self.settings.wants_reranking and model is not None and model.trouble is None

    @property
    def unavailable_because(self) -> str | None:
        """Why no question can be asked of it at all, None if one can."""
        state = self.state
        if self.installation.program is None or state.updated_at is None:
            return state.trouble or "qmd has not indexed the notes yet"
        return state.vector_trouble if self.settings.search_mode == "vsearch" else None

    async def query(self, question: QmdQuestion, *, seconds: float) -> QmdAnswer:
        """Ask, at most `seconds`. Raises SidecarError for whatever goes wrong."""
        if self._queued >= AT_ONCE + WAITING:
            raise SidecarError("qmd is busy with other questions")
        self._queued += 1
        end = time.monotonic() + seconds
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + seconds):
                # before a slot is taken: whoever waits for the first update must not hold one
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
            # it may go down between this look and the call, which then fails: the builtin index answers
            if self.server.is_available:
                hits, stderr = await self._ask_server(question, end)
            else:
                names = question.collections or [one.name for one in self.collections]
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
        # a little less than the caller's time, so that a server that hangs is found out here and ended
        seconds = max(0.01, (end - time.monotonic()) * 0.98)
        content, stderr = await self.server.call(
            "query", question.tool_arguments(), seconds=seconds, needs_models=question.needs_models
        )
        results = content.get("results")
        if not isinstance(results, list):
            raise SidecarError("qmd mcp gave no list of results")
        return hits_of(results), stderr

    async def _ask_command(self, question: QmdQuestion, collections: Sequence[str], end: float) -> Output:
        """Ask by a process of its own, which ends by `end` (monotonic seconds); none for a while after failures."""
        if self._retry.wait() > 0:
            raise SidecarError(f"qmd is left alone for a while: {self._failure}")
        if not await self.maintenance.has_index():
            raise SidecarError("the index of qmd is gone and is made anew")
        self._retry.tried()
        try:
            answer = await self._run_command(question, collections, end)
        except SidecarError as exc:
            self._retry.failed()
            self._failure = str(exc)
            raise
        self._retry.succeeded()
        return answer

    async def _run_command(self, question: QmdQuestion, collections: Sequence[str], end: float) -> Output:
        """Run `query --json`; if an option is not known to this build, once more with the fewest that will do."""
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
        """Return a question that loads what this mode needs, None while there are no vectors to ask."""
        if not self.settings.has_vectors or self.state.vector_trouble:
            return None
        # one that was asked before would be ranked from the cache of qmd, without a model
        unheard = SubQuery("vec", f"memory {time.time_ns()}")
        return QmdQuestion((unheard,), 1, self.reranks).tool_arguments()


class QmdState(Struct, frozen=True, kw_only=True):
    """One agent's qmd; `program` is None until it has been found, `export_trouble` says what is not exported."""

    program: Program | None
    search_mode: str
    home: Path
    server: ServerPhase
    pid: int | None
    restarts: int
    maintenance: MaintenanceState
    exported: int | None
    """Transcripts that are exported for it; None where they are not to be."""
    export_trouble: str
    fallback: Fallback | None
    is_given_up: bool = False
    """Whether its server failed so often that it is tried only now and then."""
