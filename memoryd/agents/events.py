"""The event bus of the daemon, which hands each event to every subscriber, and the type of a named background loop."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct

from memoryd.errors import NotNow, ShuttingDown
from memoryd.wire import Event


class PublishedEvent(Struct, frozen=True):
    """One event. `dropped` counts the older events that this subscriber read too slowly to receive."""

    event: Event
    data: Mapping[str, object]
    dropped: int = 0


class Subscription:
    """The unread events of one subscriber. When there are too many, the oldest are dropped first."""

    def __init__(self, *, agent: str | None, size: int) -> None:
        self.agent = agent
        self._waiting: deque[PublishedEvent] = deque(maxlen=size)
        self._dropped = 0
        self._is_closed = False
        self._changed = asyncio.Event()

    async def next(self) -> PublishedEvent | None:
        """Wait for and return the oldest unread event, or None once the bus is closed and all events are read."""
        while not self._waiting:
            if self._is_closed:
                return None
            # no other task runs between the check of the queue and the wait, so no event is missed
            self._changed.clear()
            await self._changed.wait()
        oldest = self._waiting.popleft()
        dropped, self._dropped = self._dropped, 0
        return PublishedEvent(oldest.event, oldest.data, dropped)

    def offer(self, event: PublishedEvent) -> None:
        """Queue `event` unless it is about another agent."""
        about = event.data.get("agent")
        if self.agent is not None and about is not None and about != self.agent:
            return
        # before the append: a full deque silently drops its oldest item
        self._dropped += len(self._waiting) == self._waiting.maxlen
        self._waiting.append(event)
        self._changed.set()

    def close(self) -> None:
        """Let `next` return None once all events are read."""
        self._is_closed = True
        self._changed.set()


class EventBus:
    """Hands each published event to every subscriber; publishing never waits.

    Use it in the event loop's thread only.
    """

    def __init__(self, *, queue_size: int = 256, max_subscribers: int = 32) -> None:
        self._queue_size = queue_size
        self._max_subscribers = max_subscribers
        self._subscriptions: set[Subscription] = set()
        self._is_closed = False

    @property
    def subscribers(self) -> int:
        """The number of open subscriptions."""
        return len(self._subscriptions)

    def publish(self, event: Event, data: Mapping[str, object]) -> None:
        """Hand an event to every subscriber. `data` must be JSON, and contains its `agent` if it is about one."""
        published = PublishedEvent(event, data)
        # a subscriber is only woken and runs after this loop, so the set does not change
        for subscription in self._subscriptions:
            subscription.offer(published)

    @contextmanager
    def subscribe(self, agent: str | None = None) -> Iterator[Subscription]:
        """Collect events from now on, optionally of one agent. Raises NotNow if there are too many subscriptions."""
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
        """End the streams of single agents; their clients then reconnect if they still may."""
        for subscription in self._subscriptions:
            if subscription.agent is not None:
                subscription.close()

    def close(self) -> None:
        """End every stream and refuse new subscriptions."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.close()


NamedLoop = tuple[str, Callable[[], Coroutine[object, object, None]]]
"""The name of a loop and the function that starts it. It runs until cancelled, or returns when its work is done."""
