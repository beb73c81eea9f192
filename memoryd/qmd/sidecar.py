"""qmd as the search sees it: a question in, results out, or one error that says why not.

A warm `qmd mcp` answers; while that is down, each question is a process of its own.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memoryd.domain.breaker import Breaker
from memoryd.errors import SidecarError
from memoryd.qmd.collections import Collection
from memoryd.qmd.home import QmdHome
from memoryd.qmd.index_writer import CommandSeconds
from memoryd.qmd.installation import QmdInstallation
from memoryd.qmd.mcp_server import QmdServer, ServerTimes
from memoryd.qmd.output import Complaint, QmdHit, complaint_of, embedding_trouble, first_error, hits_in, hits_of
from memoryd.qmd.subqueries import QmdMode, SubQuery, document
from memoryd.qmd.upkeep import QmdUpkeep, Supplies
from memoryd.qmd.upkeep_plan import UpkeepRules

AT_ONCE = 2
"""Questions that qmd works on; more processes than that only slow each other down."""
WAITING = 16
"""Questions that may queue for their turn; the rest is refused, so that the builtin index answers it."""
ABORTED = (134, -6)
"""llama.cpp may abort at the end of a run whose results were printed whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QmdSettings:
    """What a person chose; `query` is in seconds."""

    command: str = "qmd"
    mode: QmdMode = "search"
    reranks: bool = True
    waits_for_boot: bool = False
    query: float = 4.0
    idle: float = 600.0
    rules: UpkeepRules
    seconds: CommandSeconds

    @property
    def has_vectors(self) -> bool:
        """Whether questions are asked by meaning."""
        return self.rules.makes_vectors


@dataclass(frozen=True, slots=True)
class QmdAnswer:
    """Results, best first, and why the vector part of the question found nothing, if it was in trouble."""

    hits: tuple[QmdHit, ...]
    vector_trouble: str | None = None


class QmdSidecar:
    """One agent's qmd. `upkeep.run` and `server.run` are its two loops."""

    def __init__(
        self,
        *,
        home: QmdHome,
        settings: QmdSettings,
        supplies: Supplies,
        on_change: Callable[[], None],
        on_ready: Callable[[], None],
    ) -> None:
        self.settings = settings
        self.home = home
        self.installation = QmdInstallation(command=settings.command, home=home, query_seconds=settings.query)
        self.upkeep = QmdUpkeep(
            installation=self.installation,
            supplies=supplies,
            rules=settings.rules,
            seconds=settings.seconds,
            on_change=on_change,
            on_new_index=lambda: self.server.renew(),
        )
        self.server = QmdServer(
            spec=self.installation.server_spec,
            warm_up=self._warm_up,
            on_ready=on_ready,
            times=ServerTimes(start=settings.seconds.command, idle=settings.idle, patience=0.75 * settings.query),
        )
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._queued = 0
        self._breaker = Breaker()
        self._last_error = ""

    @property
    def collections(self) -> tuple[Collection, ...]:
        """The collections as they are configured now."""
        return self.upkeep.state.collections

    @property
    def reranks(self) -> bool:
        """Whether results are reranked: it is wanted, and the model is there."""
        models = self.upkeep.state.models
        is_there = models is not None and models.rerank.trouble is None
        return self.settings.mode == "query" and self.settings.reranks and is_there

    @property
    def outage(self) -> str | None:
        """Why no question can be asked of it at all, None if one can."""
        state = self.upkeep.state
        if self.installation.program is None or state.updated_at is None:
            return state.trouble or "qmd has not indexed the notes yet"
        return state.vector_trouble if self.settings.mode == "vsearch" else None

    async def query(self, searches: Sequence[SubQuery], *, limit: int, reranks: bool, seconds: float) -> QmdAnswer:
        """Ask within all collections, at most `seconds`. Raises SidecarError for whatever goes wrong."""
        if self._queued >= AT_ONCE + WAITING:
            raise SidecarError("qmd is busy with other questions")
        self._queued += 1
        end = time.monotonic() + seconds
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + seconds):
                await self._wait_for_boot()
                async with self._slots:
                    return await self._ask(searches, limit, reranks, end)
        except TimeoutError as exc:
            raise SidecarError(f"qmd did not answer within {seconds:g} s") from exc
        finally:
            self._queued -= 1

    async def _wait_for_boot(self) -> None:
        if self.settings.waits_for_boot:
            await self.upkeep.booted.wait()
        if (outage := self.outage) is not None:
            raise SidecarError(outage)

    async def _ask(self, searches: Sequence[SubQuery], limit: int, reranks: bool, end: float) -> QmdAnswer:
        try:
            if self.server.is_available:
                hits, stderr = await self._ask_server(searches, limit, reranks, end)
            else:
                hits, stderr = await self._ask_command(searches, limit, reranks, end)
        except SidecarError as exc:
            if complaint_of(str(exc)) is Complaint.COLLECTION:
                self.upkeep.demand()
            raise
        trouble = embedding_trouble(stderr) if any(one.type == "vec" for one in searches) else None
        if trouble and not hits:
            raise SidecarError(f"qmd cannot embed the question: {trouble}")
        return QmdAnswer(tuple(hits), trouble)

    async def _ask_server(
        self, searches: Sequence[SubQuery], limit: int, reranks: bool, end: float
    ) -> tuple[list[QmdHit], str]:
        needs_models = reranks or any(one.type == "vec" for one in searches)
        # a little less than the caller's time, so that a server that hangs is found out here and ended
        seconds = max(0.01, (end - time.monotonic()) * 0.98)
        arguments = self._arguments(searches, limit, reranks)
        called = await self.server.call("query", arguments, seconds=seconds, needs_models=needs_models)
        results = called.content.get("results")
        if not isinstance(results, list):
            raise SidecarError("qmd mcp gave no list of results")
        return hits_of(results), called.stderr

    def _arguments(self, searches: Sequence[SubQuery], limit: int, reranks: bool) -> dict[str, object]:
        return {
            "searches": [{"type": one.type, "query": one.query} for one in searches],
            # none means all of them in one ranking; named ones are ranked each alone
            "collections": [],
            "limit": limit,
            # without reranking it only bounds what is told, at 40
            **({} if reranks else {"candidateLimit": limit}),
            "minScore": 0,
            "rerank": reranks,
        }

    def _warm_up(self) -> dict[str, object] | None:
        """Return a question that loads what this mode needs, None while there are no vectors to ask."""
        if not self.settings.has_vectors or self.upkeep.state.vector_trouble:
            return None
        # one that was asked before would be ranked from the cache of qmd, without a model
        return self._arguments((SubQuery("vec", f"memory {time.time_ns()}"),), 1, self.reranks)

    async def _ask_command(
        self, searches: Sequence[SubQuery], limit: int, reranks: bool, end: float
    ) -> tuple[list[QmdHit], str]:
        if not self._breaker.allows(time.monotonic()):
            raise SidecarError(f"qmd is left alone for a while: {self._last_error}")
        if not await self.upkeep.has_index():
            raise SidecarError("the index of qmd is gone and is made anew")
        self._breaker = self._breaker.tried(time.monotonic())
        try:
            answer = await self._run_query(searches, limit, reranks, end)
        except SidecarError as exc:
            self._breaker = self._breaker.failed(time.monotonic(), random.random())
            self._last_error = str(exc)
            raise
        self._breaker = self._breaker.succeeded()
        return answer

    async def _run_query(
        self, searches: Sequence[SubQuery], limit: int, reranks: bool, end: float
    ) -> tuple[list[QmdHit], str]:
        """Run `query --json`; if an option is not known to this build, once more with the fewest that will do."""
        names = [part for one in self.collections for part in ("-c", one.name)]
        fewest = ("query", "--json", "-n", str(limit), *names, "--", document(searches))
        wanted = fewest if reranks else (*fewest[:2], "--no-rerank", "-C", str(limit), *fewest[2:])
        for arguments in dict.fromkeys((wanted, fewest)):
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
