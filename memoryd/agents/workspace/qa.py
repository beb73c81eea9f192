"""The questions and answers of one workspace: one store for all agents on it, opened in the background.

Messages that arrive while the store is being read are stored once it is open, in their order. Their senders get an
answer within their deadline, with the reason why the message was not stored at once.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import structlog

from memoryd.agents.events import NamedLoop
from memoryd.agents.workspace.settings import owners_time
from memoryd.config.agents import Agent
from memoryd.errors import Disabled, MemorydError, NotNow, StoreUnavailable
from memoryd.retry import wait_within
from memoryd.search.ranking import commonness
from memoryd.sessions.qa_store import QaMaintenance, QaStore

log = structlog.get_logger(__name__)

OPEN_SECONDS = 5.0
"""Seconds that a call waits for files that are still being read."""
MAINTENANCE_SECONDS = 30.0
"""The maximum delay in seconds until changes by other programs are seen."""
RETRY_SECONDS = 10.0
Result = TypeVar("Result")
QUEUE_WAIT_SECONDS = 1.0
LATE_MAX = 256
"""The maximum number of waiting messages; more are rejected."""
STORED_LATER = "the conversations are still being read: it is stored after that"
QUEUE_FULL = "the conversations are still being read, and too many messages wait: send it again"
LateStep = Callable[[], Awaitable[object]]


class WorkspaceQa:
    """Owns the store of a workspace. Writes are queued, so that at most one thread waits for its files."""

    def __init__(self, agents: Sequence[Agent], *, poll_seconds: float = MAINTENANCE_SECONDS) -> None:
        memory = agents[0].memory
        self.name = agents[0].id
        self.workspace = Path(os.path.realpath(agents[0].workspace))
        self._is_shared = len(agents) > 1
        self.is_read_only = memory.read_only
        self.now = owners_time(memory).now
        """Returns the current time in the time zone of the owner."""
        self.started = self.now()
        self._poll_seconds = poll_seconds
        self._maintenance = QaMaintenance(now=self.now)
        self._opened = asyncio.Event()
        self._turn = asyncio.Lock()
        self._trouble = ""
        self.store = QaStore(
            self.workspace,
            answer_retention=memory.qa.answer_retention(),
            max_bytes=memory.qa.max_bytes,
            commonness=commonness,
            is_read_only=memory.read_only,
            on_change=self._maintenance.note_change,
        )

    def loops(self) -> list[NamedLoop]:
        """Return the loops that read the files, and the one that does the maintenance after changes."""
        watching: NamedLoop = (f"qa {self.name}", self._watch)
        return [watching] if self.is_read_only else [watching, (f"qa upkeep {self.name}", self._maintain)]

    @property
    def is_opening(self) -> bool:
        """Whether the files are still being read and no problem is known."""
        return not self._opened.is_set() and not self._trouble

    async def until_open(self) -> None:
        """Wait until the list of sessions is known."""
        await self._opened.wait()

    async def read(self, step: Callable[[QaStore], Result], *, seconds: float = OPEN_SECONDS) -> Result:
        """Read from the store in a thread. Raises NotNow if opening it takes longer than `seconds`."""
        await self._ready(seconds)
        return await asyncio.to_thread(step, self.store)

    async def write(self, step: Callable[[QaStore], Result]) -> Result:
        """Change the store in a thread; concurrent writes run one after another in the order of the calls.

        Raises Denied if nothing may be written, and StoreUnavailable if the workspace folder is missing: the folder of
        an unmounted disk must not be created.
        """
        self.check_writable()
        await self._ready(OPEN_SECONDS)
        async with self._turn:
            return await asyncio.to_thread(self._write, step)

    def check_writable(self) -> None:
        """Raise Denied if nothing may be written."""
        self.store.sessions.check_writable()

    def problems(self, agent: str, *, names_all: bool = False) -> list[str]:
        """Return the problems of the files that this agent may see, and with `names_all` those for its owner.

        Files whose agent is unknown are only counted for the agent.
        """
        own, unknown = list[str](), list[str]()
        for name, problem, whose in self.store.sessions.session_problems():
            if whose in ("", agent):
                (own if whose else unknown).append(f"{name}: {problem}")
        if names_all or not self._is_shared:
            own, unknown = own + unknown, []
        files = "1 file" if len(unknown) == 1 else f"{len(unknown)} files"
        others = f"{files} of sessions cannot be read; the owner's `memoryctl qa stats` names what cannot"
        general = [self._trouble or self._maintenance.trouble, self._why_full(), *self.store.sessions.main_problems]
        return [*filter(None, general), *own, *([others] if unknown else [])]

    def _why_full(self) -> str:
        usage = self.store.archive.usage
        if not usage.is_full:
            return ""
        limit = "no turn is kept" if usage.is_closed else "questions alone are kept"
        return f"{limit}: the files have {usage.bytes:,} bytes, memory.qa.maxBytes is {usage.max_bytes:,}"

    async def _watch(self) -> None:
        """Open the store, then poll it for changes by others and learn the words of sessions, until cancelled."""
        while True:
            is_open = self._opened.is_set()
            sessions = self.store.sessions
            try:
                await asyncio.to_thread(sessions.scan if is_open else sessions.open)
                self._opened.set()
                # not part of `open`: a start would have to wait for an archive of a year
                await asyncio.to_thread(self.store.learn)
            except MemorydError as exc:
                self._trouble = str(exc)
            else:
                self._trouble = ""
            await asyncio.sleep(self._poll_seconds if self._opened.is_set() else RETRY_SECONDS)

    async def _maintain(self) -> None:
        await self._opened.wait()
        await self._maintenance.run(self.store)

    async def _ready(self, seconds: float) -> None:
        if not self._opened.is_set() and self._trouble:
            raise StoreUnavailable(self._trouble)
        try:
            async with asyncio.timeout(seconds):
                await self._opened.wait()
        except TimeoutError as exc:
            raise NotNow("the conversations are still being read", hint="try again in a moment") from exc

    def _write(self, step: Callable[[QaStore], Result]) -> Result:
        if not self.workspace.is_dir():
            raise StoreUnavailable(
                f"there is no folder {self.workspace}", hint="make the folder of the workspace first"
            )
        return step(self.store)


def require_qa(shared: WorkspaceQa | None) -> WorkspaceQa:
    """Return the questions and answers of a workspace. Raises Disabled if they are off."""
    if shared is None:
        raise Disabled("questions and answers are off", hint="set memory.qa.enabled: true")
    return shared


def workspace_qas(agents: Sequence[Agent]) -> dict[str, WorkspaceQa]:
    """Return the store of questions and answers of each agent, by its id; agents on the same folder share it."""
    groups: dict[str, list[Agent]] = {}
    for agent in agents:
        if agent.memory.qa.enabled:
            groups.setdefault(os.path.realpath(agent.workspace), []).append(agent)
    return {agent.id: qa for group in groups.values() for qa in [WorkspaceQa(group)] for agent in group}


class LateMessages:
    """The messages of one agent that wait for its store. Without `shared` they do not wait."""

    def __init__(self, shared: WorkspaceQa | None) -> None:
        self._shared = shared
        self._waiting: asyncio.Queue[LateStep] = asyncio.Queue(LATE_MAX)

    async def wait_until_stored(self, seconds: float) -> bool:
        """Wait until all earlier messages are stored, or it is known why they cannot be; return False on a timeout."""
        try:
            async with asyncio.timeout(seconds):
                await self._opened()
                await self._waiting.join()
        except TimeoutError:
            return False
        return True

    def put(self, step: LateStep) -> str:
        """Queue a step to run once the store is open; return the message for the sender."""
        try:
            self._waiting.put_nowait(step)
        except asyncio.QueueFull:
            return QUEUE_FULL
        return STORED_LATER

    async def run(self) -> None:
        """Run the queued steps until cancelled."""
        while True:
            step = await self._waiting.get()
            try:
                await self._opened()
                await step()
            except (MemorydError, OSError) as exc:
                log.warning("a message that came early is not kept", reason=str(exc))
            finally:
                # a failed step must not block the later ones
                self._waiting.task_done()

    async def _opened(self) -> None:
        """Wait until the store is open, or it is known why it cannot be opened."""
        while self._shared is not None and self._shared.is_opening:
            await wait_within(self._shared.until_open(), QUEUE_WAIT_SECONDS)
