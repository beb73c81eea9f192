"""Reading the configuration again while the daemon works: one reload after the other, and none that breaks anything."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from memoryd.api.daemon_state import ConfigState, ReloadOutcome
from memoryd.config.loading.load import Loaded
from memoryd.config.reload_effects import Effect, changed_keys, of_effect
from memoryd.daemon.notify import Notifier
from memoryd.errors import ConfigError, MemorydError, ShuttingDown

log = structlog.get_logger(__name__)

READING: Final = timedelta(seconds=20)
"""How long the file may take to be read: its disk may hang."""
UNREAD: Final = "the file cannot be read: its disk does not answer"


class Reloading:
    """Reloads when asked; `run` loops until cancelled.

    `read` loads the configuration, blocking; `apply` is given it with the keys that changed, and brings it to bear or
    raises and leaves all as it was.
    """

    def __init__(
        self,
        loaded: Loaded,
        *,
        read: Callable[[], Loaded],
        apply: Callable[[Loaded, Sequence[str]], Awaitable[None]],
        notifier: Notifier,
    ) -> None:
        self.state = _state(loaded)
        self._config = loaded.config
        self._read = read
        self._apply = apply
        self._notifier = notifier
        self._at_start = loaded.config
        self._waiting: list[asyncio.Future[ReloadOutcome]] = []
        self._is_wanted = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._is_ended = False

    def demand(self) -> None:
        """Reload soon."""
        self._is_wanted.set()

    async def reload(self) -> ReloadOutcome:
        """Reload, from the file as it is now or later; who asks while a reload runs waits for the next one.

        Raises ShuttingDown.
        """
        if self._is_ended:
            raise ShuttingDown("the daemon is stopping")
        waiting: asyncio.Future[ReloadOutcome] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self.demand()
        return await waiting

    async def look(self) -> ReloadOutcome:
        """Say what a reload would do, and do nothing of it; what is wrong with the file is not kept as a failure."""
        try:
            loaded = await self._loaded()
        except ConfigError as exc:
            return ReloadOutcome(False, problems=exc.problems, notices=exc.notices)
        except TimeoutError:
            return ReloadOutcome(False, problems=[UNREAD])
        owed = of_effect(changed_keys(self._at_start, loaded.config), Effect.RESTART)
        return ReloadOutcome(False, changed_keys(self._config, loaded.config), owed, notices=loaded.notices)

    async def run(self) -> None:
        """Reload whenever somebody wants it."""
        while not self._is_ended:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            # who asks from here on may have edited the file since it was read
            waiting, self._waiting = self._waiting, []
            outcome = await self._reload()
            for one in waiting:
                # one that nobody waits for any more is cancelled
                if not one.done():
                    one.set_result(outcome)

    def end(self) -> None:
        """Begin no other reload, and tell who waits for one that has not begun."""
        self._is_ended = True
        for one in self._waiting:
            if not one.done():
                one.set_exception(ShuttingDown("the daemon is stopping"))

    async def rested(self, seconds: float) -> None:
        """Wait until no reload is under way, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._at_rest.wait()

    async def _reload(self) -> ReloadOutcome:
        self._at_rest.clear()
        self._notifier.reloading()
        try:
            outcome = await self._tried()
        finally:
            self._notifier.ready()
            self._at_rest.set()
        if outcome.problems:
            log.warning("the configuration was not reloaded", problems=list(outcome.problems))
        else:
            log.info("reloaded", changed=list(outcome.changed), needs_restart=list(outcome.needs_restart))
        return outcome

    async def _tried(self) -> ReloadOutcome:
        try:
            loaded = await self._loaded()
            changed = changed_keys(self._config, loaded.config)
            await self._apply(loaded, changed)
        except ConfigError as exc:
            return self._failed(exc.problems)
        except TimeoutError:
            return self._failed([UNREAD])
        except (MemorydError, OSError) as exc:
            return self._failed([f"{exc}; {exc.hint}" if isinstance(exc, MemorydError) and exc.hint else str(exc)])
        except Exception as exc:
            # a fault of ours, which the old configuration does without
            log.exception("reload failed")
            return self._failed([f"{type(exc).__name__}: {exc}"])
        owed = of_effect(changed_keys(self._at_start, loaded.config), Effect.RESTART)
        self._config = loaded.config
        self.state = replace(_state(loaded), needs_restart=owed)
        return ReloadOutcome(True, changed, owed, notices=loaded.notices)

    async def _loaded(self) -> Loaded:
        async with asyncio.timeout(READING.total_seconds()):
            loaded = await asyncio.to_thread(self._read)
        was = self.state.source
        if was is not None and loaded.source is None:
            # it may lie elsewhere for a moment only, and the defaults know none of its rules
            raise ConfigError(
                [f"{was}: there is no file any more; memoryd goes back to the defaults when it is restarted"]
            )
        return loaded

    def _failed(self, problems: Sequence[str]) -> ReloadOutcome:
        self.state = replace(self.state, problems=problems, failed_at=datetime.now(UTC))
        return ReloadOutcome(
            False, needs_restart=self.state.needs_restart, problems=problems, notices=self.state.notices
        )


def _state(loaded: Loaded) -> ConfigState:
    return ConfigState(source=loaded.source, notices=loaded.notices, loaded_at=datetime.now(UTC))
