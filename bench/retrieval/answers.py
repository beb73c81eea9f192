"""Each answer as a line of JSON, to see which questions a change moved, or to be scored by another program."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.retrieval.figures import Judged


def record(path: Path, name: str, judged: Mapping[str, Sequence[Judged]]) -> None:
    """Append the answers to a set, by mode, to a file."""
    with path.open("a", encoding="utf-8") as file:
        for mode, rows in judged.items():
            file.writelines(f"{json.dumps(_row(name, mode, row), ensure_ascii=False)}\n" for row in rows)


def _row(name: str, mode: str, row: Judged) -> dict[str, object]:
    return {
        "set": name,
        "mode": mode,
        "qid": row.question.id,
        "verdict": row.answer.verdict,
        "scores": asdict(row.scores) if row.scores else None,
        "results": [
            {
                "path": hit.chunk.path,
                "start_line": hit.chunk.start,
                "end_line": hit.chunk.end,
                "focus": [hit.focus.start, hit.focus.end],
            }
            for hit in row.answer.hits
        ],
    }
