"""How the tools turn given replies of the daemon into answers."""

from typing import Any, cast

from memoryd.mcp.arguments import GetArguments, SearchArguments
from memoryd.mcp.caller import ToolCaller
from memoryd.mcp.tools import memory_get, memory_search

HEALTH = {"arms": {}, "pendingFiles": 0}


class Answering:
    """Answers each call of the client by its name, and records the options."""

    max_tokens = 1200

    def __init__(self, **replies: Any) -> None:
        self.replies = replies
        self.asked: list[dict[str, Any]] = []

    async def ask(self, call: Any, *_values: Any, **options: Any) -> Any:
        self.asked.append(options)
        return self.replies[call.__name__]


def caller(answering: Answering) -> ToolCaller:
    return cast("ToolCaller", answering)


def found(**rows: list[Any]) -> dict[str, Any]:
    return {"verdict": "answerable", "reason": None, "health": HEALTH, **rows}


def hit(number: int) -> dict[str, Any]:
    line = {"snippetStartLine": number, "snippetEndLine": number}
    return {"path": "x.md", "snippet": "a", "flags": [], "score": 0.5, "verdict": "answerable", **line}


def memory(number: int) -> dict[str, Any]:
    empty = {"flags": [], "entities": [], "tier": "core", "pinned": False, "scope": None, "superseded_by": None}
    day = {"created_day": "2026-11-20", "kind": "fact", "score": 0.6}
    return {"text": "b", "id": f"{number:08}", "citation": f"memory/y.md#L{number}", **empty, **day}


async def test_search_of_all_has_no_more_results_than_its_largest_part() -> None:
    for notes, memories, expected in ((6, 5, 6), (0, 5, 5), (2, 5, 5)):
        search = found(results=[hit(number) for number in range(1, notes + 1)])
        kept = found(memories=[memory(number) for number in range(1, memories + 1)])
        answer = await memory_search(
            SearchArguments.model_validate({"query": "x"}), caller(Answering(search=search, search_memories=kept))
        )
        assert len(answer.results) == expected


async def test_answer_names_the_lines_of_a_conversation() -> None:
    lines = [{"line": number, "text": "word " * 200} for number in (10, 14, 30)]
    answering = Answering(session_lines={"id": "sessions/main/0d9f.jsonl", "lines": lines, "nextLine": None})
    answer = await memory_get(
        GetArguments.model_validate({"path": "sessions/main/0d9f.jsonl#L10-L30"}), caller(answering)
    )
    assert (answer.from_line, answer.to_line) == (10, 30)
    assert "lines 10 to 30" in next(answer.text_lines())
    answering.max_tokens = 600
    cut = await memory_get(GetArguments.model_validate({"path": "sessions/main/0d9f.jsonl#L10-L30"}), caller(answering))
    assert (cut.lines, cut.to_line, cut.next_from) == (2, 14, 30)


async def test_long_citation_is_read_from_its_beginning() -> None:
    reply = {"text": "a\n", "path": "x.md", "from": 1, "lines": 1, "totalLines": 6000, "column": 1, "flags": []}
    answering = Answering(get=reply | {"nextFrom": 5001, "nextColumn": None, "sha256": "0"})
    answer = await memory_get(GetArguments.model_validate({"path": "x.md#L1-L6000"}), caller(answering))
    assert (answering.asked[0]["lines"], answer.next_from) == (5000, 5001)
