"""Events: who receives what, what a slow subscriber loses, and how streams end."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from memoryd.agents.events import EventBus, PublishedEvent, Subscription
from memoryd.agents.memories import AgentMemories
from memoryd.api.application import Application
from memoryd.api.calls import index
from memoryd.api.http.limits import guard_app
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import bind_listener
from memoryd.domain.access import Admitted
from memoryd.errors import NotNow, ShuttingDown
from memoryd.wire import Event
from tests.integration.serving import Stage, client, services, serving
from tests.waiting import eventually_async


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "m.sock"


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def received(reply: httpx.Response) -> AsyncIterator[tuple[str, dict[str, object]]]:
    name = ""
    async for line in reply.aiter_lines():
        key, _, value = line.partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)


async def test_slow_subscriber_loses_oldest_events_and_learns_count() -> None:
    bus = EventBus(queue_size=3)
    with bus.subscribe() as slow, bus.subscribe() as quick:
        for number in range(10):
            bus.publish(Event.SYNC, {"number": number})
            latest = await quick.next()
            assert latest is not None
            assert (latest.data, latest.dropped) == ({"number": number}, 0)
        first, second = await slow.next(), await slow.next()
        assert first is not None
        assert second is not None
        assert (first.data, first.dropped) == ({"number": 7}, 7)
        assert (second.data, second.dropped) == ({"number": 8}, 0)
        assert json.loads(index.encode_event(first).split(b"data: ")[1]) == {"number": 7, "dropped": 7}


async def test_subscriber_of_one_agent_gets_its_and_global_events() -> None:
    bus = EventBus()
    with bus.subscribe("a") as listening:
        bus.publish(Event.SYNC, {"agent": "b"})
        bus.publish(Event.SYNC, {"agent": "a"})
        bus.publish(Event.MODEL, {"state": "ready"})
        bus.close()
        found = [await listening.next(), await listening.next(), await listening.next()]
    assert [one.data if one else None for one in found] == [{"agent": "a"}, {"state": "ready"}, None]


@pytest.mark.parametrize(("agent", "expected"), [("a", ["a", None]), (None, ["b", "a", None])])
async def test_admitted_caller_follows_events_of_its_agent(agent: str | None, expected: list[str | None]) -> None:
    bus = EventBus()
    followed = AgentMemories([], bus=bus).follow(Admitted(agent, is_direct=True))
    bus.publish(Event.SYNC, {"agent": "a", "state": "before the block"})
    assert bus.subscribers == 0
    with followed as listening:
        for about in ("b", "a", None):
            bus.publish(Event.MODEL, {"agent": about})
        bus.close()
        agents = [event.data["agent"] async for event in _all(listening)]
    assert agents == expected
    assert bus.subscribers == 0


async def _all(listening: Subscription) -> AsyncIterator[PublishedEvent]:
    while (event := await listening.next()) is not None:
        yield event


async def test_number_of_subscribers_is_bounded() -> None:
    bus = EventBus(max_subscribers=1)
    with bus.subscribe(), pytest.raises(NotNow, match="too many"), bus.subscribe():
        pass
    with bus.subscribe():
        assert bus.subscribers == 1
    bus.close()
    with pytest.raises(ShuttingDown), bus.subscribe():
        pass


async def test_stream_sends_events_at_once(path: Path, stage: Stage) -> None:
    async with serving(path, stage), client(path) as asking:
        async with asking.stream("GET", "/v1/events?agent=main") as reply:
            assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert "content-length" not in reply.headers
            stage.bus.publish(Event.SYNC, {"agent": "other", "state": "started"})
            stage.bus.publish(Event.SYNC, {"agent": "main", "state": "started", "reason": "a\nb ü"})
            stage.bus.publish(Event.EMBEDDING, {"agent": "main", "pending": 3, "done": 4})
            stream = received(reply)
            assert await anext(stream) == ("sync", {"agent": "main", "state": "started", "reason": "a\nb ü"})
            assert await anext(stream) == ("embedding", {"agent": "main", "pending": 3, "done": 4})
        await eventually_async(lambda: stage.bus.subscribers == 0)


async def test_streams_end_at_once_when_the_server_stops(path: Path, stage: Stage) -> None:
    async with serving(path, stage, grace=timedelta(seconds=60)) as server, client(path) as asking:
        async with asking.stream("GET", "/v1/events") as reply:
            stage.bus.publish(Event.DEGRADED, {"part": "model"})
            server.stop()
            assert [name async for name, _ in received(reply)] == ["degraded"]
        await eventually_async(lambda: server.connections.open == 0)


async def test_too_many_streams_are_refused(path: Path) -> None:
    stage = Stage(bus=EventBus(max_subscribers=1))
    async with serving(path, stage), client(path) as asking, asking.stream("GET", "/v1/events"):
        reply = await asking.get("/v1/events")
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "unavailable")


async def test_stalled_subscriber_is_bounded_by_its_queue(path: Path, stage: Stage) -> None:
    async with serving(path, stage), client(path) as asking, asking.stream("GET", "/v1/events") as reply:
        large = {"text": "x" * 10_000}
        for _ in range(300):
            stage.bus.publish(Event.SYNC, large)
            await asyncio.sleep(0)
        stage.bus.publish(Event.RECOVERED, {"part": "last"})
        dropped = 0
        async for name, data in received(reply):
            dropped += int(str(data.get("dropped", 0)))
            if name == "recovered":
                break
        assert dropped > 0


async def test_idle_stream_sends_comments(path: Path) -> None:
    bus = EventBus()
    app = Application(services(bus=bus, keep_alive=timedelta(seconds=0.02)))
    server = Server(app=guard_app(app), listeners=[bind_listener(path)], on_stopping=bus.close)
    running = asyncio.create_task(server.run())
    await server.started.wait()
    async with client(path) as asking, asking.stream("GET", "/v1/events") as reply:
        lines = [line async for line in _first(reply.aiter_lines(), 6)]
    server.stop()
    await running
    assert [line for line in lines if line] == [": connected", ": keep-alive", ": keep-alive"]


async def _first(lines: AsyncIterator[str], count: int) -> AsyncIterator[str]:
    async for line in lines:
        yield line
        count -= 1
        if not count:
            return
