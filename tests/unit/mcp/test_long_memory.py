"""Reading a memory longer than an answer, and the undo command of a write."""

import asyncio
from typing import Any

import pytest

from memoryd.mcp.arguments import GetArguments
from memoryd.mcp.caller import ToolCaller
from memoryd.mcp.tools import _written_answer, memory_get

TEXT = "\n".join("".join(chr(0x4E00 + (7 * number + row) % 2000) for number in range(900)) for row in range(2))
MEMORY = {
    "id": "a" * 64,
    "text": TEXT,
    "abstract_text": TEXT[:80],
    "flags": [],
    "kind": "world",
    "created_day": "2026-10-06",
    "entities": [],
    "tier": "working",
    "pinned": False,
    "scope": "",
    "superseded_by": None,
    "score": None,
    "citation": "memory/2026-10-06.md#L3",
    "sources": ["memory/2026-10-06.md#L3"],
}


class Stub(ToolCaller):
    """A caller whose daemon has one memory."""

    async def ask(self, *_: Any, **__: Any) -> Any:
        return {"memory": MEMORY}


def test_long_memory_is_read_to_its_end() -> None:
    caller = Stub(None, agent=None, session_key=None, max_tokens=600)
    at: dict[str, int] = {}
    read = ""
    for _ in range(20):
        answer = asyncio.run(memory_get(GetArguments.model_validate({"id": "a" * 8, **at}), caller))
        read += answer.text
        if answer.next_from is None:
            break
        at = {"from": answer.next_from} | ({"column": answer.next_column} if answer.next_column else {})
    assert read == TEXT


def test_lines_of_a_memory_are_counted() -> None:
    caller = Stub(None, agent=None, session_key=None, max_tokens=6000)
    answer = asyncio.run(memory_get(GetArguments.model_validate({"id": "a" * 8, "lines": 1}), caller))
    assert (answer.text, answer.next_from) == (TEXT.split("\n")[0], 2)


@pytest.mark.parametrize(
    ("agent", "key", "change", "command"),
    [
        (None, None, 2, "memoryctl undo 2"),
        ("work", None, 2, "memoryctl undo 2 --agent work"),
        (None, "agent:work:main", 2, "memoryctl undo 2 --agent work"),
        (None, "main", 2, "memoryctl undo 2"),
    ],
)
def test_undo_names_the_agent_that_wrote(agent: str | None, key: str | None, change: int, command: str) -> None:
    caller = ToolCaller(None, agent=agent, session_key=key, max_tokens=600)
    assert _written_answer(caller, "written", [change]).undo == command
    assert _written_answer(caller, "written", [1, 2], "r1").undo == command.replace("undo 2", "undo --run r1")
