"""Events of the daemon: a bus that hands each to every subscriber; and the names of loops that run beside questions.

The owner of the event loop makes tasks of these loops.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct

from memoryd.errors import NotNow, ShuttingDown
from memoryd.wire import Event


class Happening(Struct, frozen=True):
    """One event; `dropped` counts the older ones that this subscriber was too slow for."""

    event: Event
    data: Mapping[str, object]
    dropped: int = 0


class Subscription:
    """The events of one subscriber that it has not read yet; the oldest go first when there are too many."""

    def __init__(self, *, agent: str | None, size: int) -> None:
        self.agent = agent
        self._waiting: deque[Happening] = deque(maxlen=size)
        self._dropped = 0
        self._is_closed = False
        self._changed = asyncio.Event()

    async def next(self) -> Happening | None:
        """Return the oldest unread event, when there is one; None once the bus is closed and all is read."""
        while not self._waiting:
            if self._is_closed:
                return None
            # nothing runs between the look at the queue and the wait, so no event is offered unseen
            self._changed.clear()
            await self._changed.wait()
        found = self._waiting.popleft()
        dropped, self._dropped = self._dropped, 0
        return Happening(found.event, found.data, dropped)

    def offer(self, happening: Happening) -> None:
        """Keep `happening` unless it is about another agent."""
        about = happening.data.get("agent")
        if self.agent is not None and about is not None and about != self.agent:
            return
        # before the append: a full deque drops its oldest by itself, and says nothing
        self._dropped += len(self._waiting) == self._waiting.maxlen
        self._waiting.append(happening)
        self._changed.set()

    def close(self) -> None:
        """Let `next` return None once all is read."""
        self._is_closed = True
        self._changed.set()


class EventBus:
    """Hands each published event to every subscriber; publishing never waits. For the event loop's thread only."""

    def __init__(self, *, queue_size: int = 256, max_subscribers: int = 32) -> None:
        self._queue_size = queue_size
        self._max_subscribers = max_subscribers
        self._subscriptions: set[Subscription] = set()
        self._is_closed = False

    @property
    def subscribers(self) -> int:
        """How many listen."""
        return len(self._subscriptions)

    def publish(self, event: Event, data: Mapping[str, object]) -> None:
        """Tell everybody; `data` must be JSON and names its `agent` if it is about one."""
        happening = Happening(event, data)
        # no subscriber runs before the end of this loop: it is only woken, so the set stays as it is
        for subscription in self._subscriptions:
            subscription.offer(happening)

    @contextmanager
    def subscribe(self, agent: str | None = None) -> Iterator[Subscription]:
        """Collect events from now on, of one agent if it is named; raises NotNow if too many do so already."""
        if self._is_closed:
            raise ShuttingDown("the daemon is stopping")
        if len(self._subscriptions) >= self._max_subscribers:
            raise NotNow("too many event streams are open", hint=f"at most {self._max_subscribers}; close one")
        subscription = Subscription(agent=agent, size=self._queue_size)
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)

    def close_bound(self) -> None:
        """End the streams of single agents, whose clients ask for others then, if they may."""
        for subscription in self._subscriptions:
            if subscription.agent is not None:
                subscription.close()

    def close(self) -> None:
        """End every stream; nobody can subscribe any more."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.close()


NamedLoop = tuple[str, Callable[[], Coroutine[object, object, None]]]
"""What a loop is called, and what starts it: it runs until cancelled, or returns when there is nothing to do."""
