"""The port of the page when none is configured: opened by a link, closed when idle."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import httpx
import pytest
from starlette.responses import PlainTextResponse

from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.loopback import bind_loopback
from memoryd.api.http.server import Server
from memoryd.errors import NotNow
from memoryd.web.door import PagePort
from memoryd.web.session import PageSessions
from tests.loopback import free_port
from tests.waiting import eventually_async


def port_of(number: int, *, idle: float, sessions: PageSessions | None = None) -> PagePort:
    return PagePort(
        PlainTextResponse("a page"),
        host="127.0.0.1",
        port=number,
        configured=lambda: None,
        limits=ConnectionLimits(),
        sessions=sessions or PageSessions(asyncio.get_running_loop().time),
        idle=timedelta(seconds=idle),
    )


async def answers(number: int) -> bool:
    with suppress(httpx.HTTPError):
        async with httpx.AsyncClient(verify=False) as client:
            return (await client.get(f"http://127.0.0.1:{number}/")).text == "a page"
    return False


async def test_port_opens_with_a_link_and_closes_when_idle() -> None:
    number = free_port()
    port = port_of(number, idle=1.5)
    running = asyncio.ensure_future(port.run())
    try:
        assert not await answers(number)
        for _ in range(2):
            link = await port.link(is_kept=False)
            assert link["url"].startswith(f"http://127.0.0.1:{number}/web/login#")
            assert await answers(number)
            await eventually_async(lambda: _is_free(number))
    finally:
        running.cancel()


async def test_link_requested_while_port_closes_works() -> None:
    number = free_port()
    port = port_of(number, idle=1.5)
    running = asyncio.ensure_future(port.run())
    try:
        await port.link(is_kept=False)
        assert await answers(number)
        while port._clock is None or not port._clock.expired():  # noqa: ASYNC110
            await asyncio.sleep(0)
        await port.link(is_kept=False)
        assert await answers(number)
    finally:
        running.cancel()


async def test_first_link_after_long_idle_time_works() -> None:
    number = free_port()
    sessions = PageSessions(asyncio.get_running_loop().time)
    port = port_of(number, idle=60, sessions=sessions)
    sessions.used_at -= 3600
    running = asyncio.ensure_future(port.run())
    try:
        await port.link(is_kept=False)
        assert await answers(number)
    finally:
        running.cancel()


async def test_server_cancelled_at_start_closes_its_socket() -> None:
    for _ in range(20):
        number = free_port()
        listener = bind_loopback("127.0.0.1", number)
        descriptor = listener.sock.fileno()
        begun = asyncio.ensure_future(Server(app=PlainTextResponse("a page"), listeners=[listener]).run())
        await asyncio.sleep(0)
        begun.cancel()
        with suppress(asyncio.CancelledError):
            await begun
        with pytest.raises(KeyError):
            asyncio.get_running_loop()._selector.get_key(descriptor)  # type: ignore[attr-defined]


async def test_kept_session_keeps_the_port_open() -> None:
    number = free_port()
    sessions = PageSessions(asyncio.get_running_loop().time)
    port = port_of(number, idle=0.1, sessions=sessions)
    running = asyncio.ensure_future(port.run())
    try:
        sessions.begin((await port.link(is_kept=True))["url"].partition("#")[2])
        await asyncio.sleep(0.3)
        assert await answers(number)
    finally:
        running.cancel()


async def test_port_in_use_is_reported() -> None:
    number = free_port()
    taken = bind_loopback("127.0.0.1", number)
    try:
        with pytest.raises(NotNow, match="another program listens there"):
            await port_of(number, idle=1).link(is_kept=False)
    finally:
        taken.close()


def _is_free(number: int) -> bool:
    try:
        bind_loopback("127.0.0.1", number).close()
    except NotNow:
        return False
    return True
