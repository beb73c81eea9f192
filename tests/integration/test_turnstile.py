"""The turnstile: calls are held, waited for, broken off and asked again; none is lost."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from starlette.types import Message, Receive, Scope, Send

from memoryd.api.call import AtReload
from memoryd.api.http.reload_gate import WAITED, ClosingLimits, ReloadGate
from memoryd.errors import NotNow, ShuttingDown
from tests.waiting import eventually_async

LONG = timedelta(seconds=30)
NO_TIME = timedelta(seconds=0.01)
PATIENT = ClosingLimits(long=LONG, others=LONG, hold=LONG)
AT_RELOAD = {"/free": AtReload.FREE, "/stream": AtReload.STREAMS, "/again": AtReload.AGAIN}


@dataclass
class App:
    """An app whose calls end when they may; notes what it was given."""

    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    begun: list[str] = field(default_factory=list)
    bodies: list[object] = field(default_factory=list)
    waited: list[timedelta] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.append(scope["path"])
        self.bodies.append((await receive()).get("body"))
        self.waited.append(scope.get(WAITED, timedelta()))
        await self.may_end.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})


async def ask(turnstile: ReloadGate, path: str) -> list[Message]:
    """Make one call; return its answer."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": path.encode(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await turnstile({"type": "http", "path": path}, receive, send)
    return sent


async def closed_while(turnstile: ReloadGate, is_over: asyncio.Event, limits: ClosingLimits = PATIENT) -> None:
    async with turnstile.closed(limits):
        await is_over.wait()


@pytest.mark.parametrize("path", ["/plain", "/stream", "/again", "/long"])
async def test_new_call_is_held_until_it_is_open_again(path: str) -> None:
    app, is_over = App(), asyncio.Event()
    app.may_end.set()
    turnstile = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        closing = group.create_task(closed_while(turnstile, is_over))
        await asyncio.sleep(0)
        asked = group.create_task(ask(turnstile, path))
        assert (await ask(turnstile, "/free"))[0]["status"] == 200
        assert app.begun == ["/free"]
        is_over.set()
        await closing
        assert (await asked)[0]["status"] == 200
    assert app.begun == ["/free", path]


@pytest.mark.parametrize("path", ["/plain", "/long"])
async def test_call_in_flight_is_waited_for(path: str) -> None:
    app, is_over = App(), asyncio.Event()
    is_over.set()
    turnstile = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(turnstile, path))
        await eventually_async(lambda: app.begun)
        closing = group.create_task(closed_while(turnstile, is_over))
        await asyncio.sleep(0.01)
        assert not closing.done()
        app.may_end.set()
        assert (await asked)[-1]["body"] == b"done"
        await closing


@pytest.mark.parametrize("path", ["/plain", "/long"])
async def test_call_in_flight_holds_nobody_else(path: str) -> None:
    app = App()
    turnstile = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(turnstile, path))
        await eventually_async(lambda: app.begun)
        closing = group.create_task(closed_while(turnstile, app.may_end))
        await eventually_async(lambda: "at work for" in turnstile.waits_for)
        beside = group.create_task(ask(turnstile, "/plain"))
        await eventually_async(lambda: app.begun == [path, "/plain"])
        app.may_end.set()
        await asyncio.gather(asked, beside, closing)
    assert (app.begun, turnstile.waits_for) == ([path, "/plain"], "")


async def test_call_that_began_meanwhile_holds_others_for_a_moment_only() -> None:
    first, second = App(), App()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (first if scope["path"] == "/first" else second)(scope, receive, send)

    turnstile, is_over = ReloadGate(app, AT_RELOAD, {"/long"}), asyncio.Event()
    is_over.set()
    async with asyncio.TaskGroup() as group:
        group.create_task(ask(turnstile, "/first"))
        await eventually_async(lambda: first.begun)
        closing = group.create_task(
            closed_while(turnstile, is_over, ClosingLimits(long=LONG, others=LONG, hold=NO_TIME))
        )
        await eventually_async(lambda: turnstile.waits_for)
        group.create_task(ask(turnstile, "/slow"))
        await eventually_async(lambda: second.begun == ["/slow"])
        first.may_end.set()
        # held for a moment perhaps, it gets through though the slow one has not ended
        group.create_task(ask(turnstile, "/plain"))
        await eventually_async(lambda: second.begun == ["/slow", "/plain"])
        assert not closing.done()
        second.may_end.set()
        await closing
    assert second.begun == ["/slow", "/plain"]


async def test_stream_goes_on_meanwhile() -> None:
    app = App()
    turnstile = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        followed = group.create_task(ask(turnstile, "/stream"))
        await eventually_async(lambda: app.begun)
        async with turnstile.closed(PATIENT):
            assert not followed.done()
        app.may_end.set()
        assert (await followed)[-1]["body"] == b"done"
    assert app.begun == ["/stream"]


async def test_wait_is_broken_off_and_asked_again_with_its_body() -> None:
    app = App()
    turnstile = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(turnstile, "/again"))
        await eventually_async(lambda: len(app.waited) == 1)
        async with turnstile.closed(PATIENT):
            assert len(app.begun) == 1
        await eventually_async(lambda: len(app.waited) == 2)
        app.may_end.set()
        answer = await asked
    assert [message["type"] for message in answer] == ["http.response.start", "http.response.body"]
    assert app.bodies == [b"/again"] * 2
    assert app.waited[0] < app.waited[1]


async def test_call_that_does_not_end_keeps_it_open() -> None:
    app = App()
    turnstile = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(turnstile, "/plain"))
        await eventually_async(lambda: app.begun)
        with pytest.raises(NotNow, match="in flight that do not end: a call, at work for"):
            await closed_while(turnstile, app.may_end, ClosingLimits(long=LONG, others=NO_TIME, hold=LONG))
        beside = group.create_task(ask(turnstile, "/plain"))
        await eventually_async(lambda: len(app.begun) == 2)
        app.may_end.set()
        await asyncio.gather(asked, beside)


async def test_end_tells_who_is_held_and_lets_nobody_close_it() -> None:
    app, is_over = App(), asyncio.Event()
    turnstile = ReloadGate(app, AT_RELOAD, {"/long"})

    async def end() -> None:
        await asyncio.sleep(0.01)
        turnstile.end()
        is_over.set()

    _, told, _ = await asyncio.gather(
        closed_while(turnstile, is_over), ask(turnstile, "/plain"), end(), return_exceptions=True
    )
    assert isinstance(told, ShuttingDown)
    with pytest.raises(ShuttingDown):
        await closed_while(turnstile, is_over)
    assert app.begun == []
