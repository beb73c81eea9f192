"""The gate at a reload: calls are held, waited for, cancelled and repeated; none is lost."""

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
    """An app whose calls end when allowed, and that records its calls."""

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


async def ask(gate: ReloadGate, path: str) -> list[Message]:
    """Make one call; return its reply."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": path.encode(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await gate({"type": "http", "path": path}, receive, send)
    return sent


async def closed_while(gate: ReloadGate, is_over: asyncio.Event, limits: ClosingLimits = PATIENT) -> None:
    async with gate.closed(limits):
        await is_over.wait()


@pytest.mark.parametrize("path", ["/plain", "/stream", "/again", "/long"])
async def test_new_call_is_held_until_the_gate_opens(path: str) -> None:
    app, is_over = App(), asyncio.Event()
    app.may_end.set()
    gate = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        closing = group.create_task(closed_while(gate, is_over))
        await asyncio.sleep(0)
        asked = group.create_task(ask(gate, path))
        assert (await ask(gate, "/free"))[0]["status"] == 200
        assert app.begun == ["/free"]
        is_over.set()
        await closing
        assert (await asked)[0]["status"] == 200
    assert app.begun == ["/free", path]


@pytest.mark.parametrize("path", ["/plain", "/long"])
async def test_call_in_flight_is_waited_for(path: str) -> None:
    app, is_over = App(), asyncio.Event()
    is_over.set()
    gate = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(gate, path))
        await eventually_async(lambda: app.begun)
        closing = group.create_task(closed_while(gate, is_over))
        await asyncio.sleep(0.01)
        assert not closing.done()
        app.may_end.set()
        assert (await asked)[-1]["body"] == b"done"
        await closing


@pytest.mark.parametrize("path", ["/plain", "/long"])
async def test_call_in_flight_does_not_hold_new_calls(path: str) -> None:
    app = App()
    gate = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(gate, path))
        await eventually_async(lambda: app.begun)
        closing = group.create_task(closed_while(gate, app.may_end))
        await eventually_async(lambda: "at work for" in gate.waits_for)
        beside = group.create_task(ask(gate, "/plain"))
        await eventually_async(lambda: app.begun == [path, "/plain"])
        app.may_end.set()
        await asyncio.gather(asked, beside, closing)
    assert (app.begun, gate.waits_for) == ([path, "/plain"], "")


async def test_call_begun_meanwhile_holds_others_only_briefly() -> None:
    first, second = App(), App()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (first if scope["path"] == "/first" else second)(scope, receive, send)

    gate, is_over = ReloadGate(app, AT_RELOAD, {"/long"}), asyncio.Event()
    is_over.set()
    async with asyncio.TaskGroup() as group:
        group.create_task(ask(gate, "/first"))
        await eventually_async(lambda: first.begun)
        closing = group.create_task(closed_while(gate, is_over, ClosingLimits(long=LONG, others=LONG, hold=NO_TIME)))
        await eventually_async(lambda: gate.waits_for)
        group.create_task(ask(gate, "/slow"))
        await eventually_async(lambda: second.begun == ["/slow"])
        first.may_end.set()
        # it may be held briefly, but passes before the slow one ends
        group.create_task(ask(gate, "/plain"))
        await eventually_async(lambda: second.begun == ["/slow", "/plain"])
        assert not closing.done()
        second.may_end.set()
        await closing
    assert second.begun == ["/slow", "/plain"]


async def test_stream_continues_while_closed() -> None:
    app = App()
    gate = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        followed = group.create_task(ask(gate, "/stream"))
        await eventually_async(lambda: app.begun)
        async with gate.closed(PATIENT):
            assert not followed.done()
        app.may_end.set()
        assert (await followed)[-1]["body"] == b"done"
    assert app.begun == ["/stream"]


async def test_waiting_call_is_cancelled_and_repeated_with_its_body() -> None:
    app = App()
    gate = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(gate, "/again"))
        await eventually_async(lambda: len(app.waited) == 1)
        async with gate.closed(PATIENT):
            assert len(app.begun) == 1
        await eventually_async(lambda: len(app.waited) == 2)
        app.may_end.set()
        answer = await asked
    assert [message["type"] for message in answer] == ["http.response.start", "http.response.body"]
    assert app.bodies == [b"/again"] * 2
    assert app.waited[0] < app.waited[1]


async def test_endless_call_keeps_the_gate_open() -> None:
    app = App()
    gate = ReloadGate(app, AT_RELOAD, {"/long"})
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(gate, "/plain"))
        await eventually_async(lambda: app.begun)
        with pytest.raises(NotNow, match="in flight that do not end: a call, at work for"):
            await closed_while(gate, app.may_end, ClosingLimits(long=LONG, others=NO_TIME, hold=LONG))
        beside = group.create_task(ask(gate, "/plain"))
        await eventually_async(lambda: len(app.begun) == 2)
        app.may_end.set()
        await asyncio.gather(asked, beside)


async def test_end_refuses_held_calls_and_further_closing() -> None:
    app, is_over = App(), asyncio.Event()
    gate = ReloadGate(app, AT_RELOAD, {"/long"})

    async def end() -> None:
        await asyncio.sleep(0.01)
        gate.end()
        is_over.set()

    _, refused, _ = await asyncio.gather(
        closed_while(gate, is_over), ask(gate, "/plain"), end(), return_exceptions=True
    )
    assert isinstance(refused, ShuttingDown)
    with pytest.raises(ShuttingDown):
        await closed_while(gate, is_over)
    assert app.begun == []
