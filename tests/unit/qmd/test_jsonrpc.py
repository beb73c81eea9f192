"""Requests and answers over a pipe: who gets which, what is passed over, and what is left when somebody gives up."""

import asyncio
import json

import pytest

from memoryd.errors import SidecarError
from memoryd.qmd.server import LINE_BYTES, JsonRpcPipe


class OtherEnd:
    """What was written to the other end of a pipe, and why it was hung up on."""

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


async def test_each_answer_reaches_its_question(other: OtherEnd) -> None:
    first, second = other.pipe.request("ask", {"about": "ü"}), other.pipe.request("ask", {})
    sent = [json.loads(line) for line in other.lines]
    assert sent[0] == {"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"about": "ü"}}
    other.pipe.feed(other.answer(2, result={"is": "second"}) + other.answer(1, result={"is": "first"}))
    assert (await first, await second) == ({"is": "first"}, {"is": "second"})
    await asyncio.sleep(0)
    assert not other.pipe.is_waiting


async def test_answer_may_come_in_pieces_between_lines_that_are_none(other: OtherEnd) -> None:
    answer = other.pipe.request("ask", {})
    whole = b"ggml: a banner\n[]\n{broken\n" + b"[" * 100_000 + b"\n" + other.answer(1, result={"is": "whole"})
    for start in range(0, len(whole), 7):
        other.pipe.feed(whole[start : start + 7])
    assert await answer == {"is": "whole"}


@pytest.mark.parametrize("answered", [{"error": {"code": -32000, "message": "no such tool"}}, {"result": [1]}, {}])
async def test_what_is_no_result_is_an_error(other: OtherEnd, answered: dict[str, object]) -> None:
    answer = other.pipe.request("ask", {})
    other.pipe.feed(other.answer(1, **answered))
    with pytest.raises(SidecarError, match="answered with an error"):
        await answer


async def test_whoever_gives_up_leaves_nothing_and_the_late_answer_is_passed_over(other: OtherEnd) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await other.pipe.request("ask", {})
    await asyncio.sleep(0)
    assert not other.pipe.is_waiting
    other.pipe.feed(other.answer(1, result={}) + other.answer(99, result={}))


async def test_all_who_wait_are_told_the_end(other: OtherEnd) -> None:
    waiting = [other.pipe.request("ask", {}) for _ in range(3)]
    other.pipe.fail("it has ended")
    assert [str(one.exception()) for one in waiting] == ["it has ended"] * 3


async def test_closed_pipe_takes_no_question(other: OtherEnd) -> None:
    other.is_closed = True
    with pytest.raises(SidecarError, match="no input"):
        other.pipe.request("ask", {})
    assert not other.pipe.is_waiting


async def test_line_without_end_is_a_flood(other: OtherEnd) -> None:
    other.pipe.feed(b"x" * LINE_BYTES)
    assert not other.floods
    other.pipe.feed(b"x")
    assert len(other.floods) == 1


def test_notice_has_no_number(other: OtherEnd) -> None:
    other.pipe.notify("initialized")
    assert json.loads(other.lines[0]) == {"jsonrpc": "2.0", "method": "initialized"}
