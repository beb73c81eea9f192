"""JSON-RPC over a pipe: matching of answers, noise, errors and cancelled requests."""

import asyncio
import json

import pytest

from memoryd.errors import SidecarError
from memoryd.qmd.server import LINE_BYTES, JsonRpcPipe


class OtherEnd:
    """The other end of a pipe: records written lines and floods."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.floods: list[str] = []
        self.is_closed = False
        self.pipe = JsonRpcPipe(write=self._write, on_flood=self.floods.append)

    def _write(self, data: bytes) -> None:
        if self.is_closed:
            raise SidecarError("it takes no input")
        self.lines.append(data)

    def answer(self, number: int, **more: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, **more}).encode() + b"\n"


@pytest.fixture
def other() -> OtherEnd:
    return OtherEnd()


async def test_each_answer_reaches_its_request(other: OtherEnd) -> None:
    first, second = other.pipe.request("ask", {"about": "ü"}), other.pipe.request("ask", {})
    sent = [json.loads(line) for line in other.lines]
    assert sent[0] == {"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"about": "ü"}}
    other.pipe.feed(other.answer(2, result={"is": "second"}) + other.answer(1, result={"is": "first"}))
    assert (await first, await second) == ({"is": "first"}, {"is": "second"})
    await asyncio.sleep(0)
    assert not other.pipe.is_waiting


async def test_answer_in_pieces_among_noise_is_read(other: OtherEnd) -> None:
    answer = other.pipe.request("ask", {})
    whole = b"ggml: a banner\n[]\n{broken\n" + b"[" * 100_000 + b"\n" + other.answer(1, result={"is": "whole"})
    for start in range(0, len(whole), 7):
        other.pipe.feed(whole[start : start + 7])
    assert await answer == {"is": "whole"}


@pytest.mark.parametrize("answered", [{"error": {"code": -32000, "message": "no such tool"}}, {"result": [1]}, {}])
async def test_answer_without_a_result_is_an_error(other: OtherEnd, answered: dict[str, object]) -> None:
    answer = other.pipe.request("ask", {})
    other.pipe.feed(other.answer(1, **answered))
    with pytest.raises(SidecarError, match="answered with an error"):
        await answer


async def test_late_answer_to_a_cancelled_request_is_ignored(other: OtherEnd) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await other.pipe.request("ask", {})
    await asyncio.sleep(0)
    assert not other.pipe.is_waiting
    other.pipe.feed(other.answer(1, result={}) + other.answer(99, result={}))


async def test_end_of_the_pipe_fails_all_requests(other: OtherEnd) -> None:
    waiting = [other.pipe.request("ask", {}) for _ in range(3)]
    other.pipe.fail("it has ended")
    assert [str(request.exception()) for request in waiting] == ["it has ended"] * 3


async def test_closed_pipe_refuses_requests(other: OtherEnd) -> None:
    other.is_closed = True
    with pytest.raises(SidecarError, match="no input"):
        other.pipe.request("ask", {})
    assert not other.pipe.is_waiting


async def test_line_without_end_is_a_flood(other: OtherEnd) -> None:
    other.pipe.feed(b"x" * LINE_BYTES)
    assert not other.floods
    other.pipe.feed(b"x")
    assert len(other.floods) == 1


def test_notification_has_no_id(other: OtherEnd) -> None:
    other.pipe.notify("initialized")
    assert json.loads(other.lines[0]) == {"jsonrpc": "2.0", "method": "initialized"}
