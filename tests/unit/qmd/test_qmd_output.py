"""Reading the output of qmd, whatever is around it."""

import json
from pathlib import Path

import pytest

from memoryd.qmd.query import (
    Complaint,
    QmdHit,
    complaint_of,
    embedding_trouble,
    first_error,
    hits_in,
    vectors_in,
    version_of,
)

PRINTED = (Path(__file__).parents[2] / "data" / "qmd" / "search.json").read_text(encoding="utf-8")
HIT = {"docid": "#0c2be0", "score": 0.87, "file": "qmd://notes/sub/gateway.md", "line": 4}


def test_results_of_the_real_program_are_read() -> None:
    first, second = hits_in(PRINTED)
    assert first == QmdHit("notes", "sub/gateway.md", 0.87, 4, "0c2be0")
    assert second.path == "2026-01-05.md"


@pytest.mark.parametrize(
    "printed",
    [
        "\ufeff" + PRINTED,
        "\x1b[?25l" + PRINTED + "\x1b[?25h",
        "\x1b]9;4;3\x07" + PRINTED,
        "[node-llama-cpp] loading\nggml: no GPU\n" + PRINTED,
        PRINTED + "[node-llama-cpp] freed\n",
        '{"results": ' + PRINTED + "}",
        json.dumps({"results": json.loads(PRINTED)}, indent=2),
    ],
    ids=["mark", "cursor", "progress", "banner", "trailer", "object", "indented"],
)
def test_results_are_found_among_noise(printed: str) -> None:
    assert [hit.path for hit in hits_in(printed)] == ["sub/gateway.md", "2026-01-05.md"]


@pytest.mark.parametrize("printed", ["[]\n", '{"results":[]}', "No results found.\n", "[warn] slow\n[]\n"])
def test_nothing_found_is_an_answer(printed: str) -> None:
    assert hits_in(printed) == []


@pytest.mark.parametrize(
    "printed",
    ["", "   \n", PRINTED[:120], "[1, 2, 3]", '{"error": "no"}', "null", "[" * 100_000, "Segmentation fault"],
    ids=["nothing", "blank", "half", "numbers", "error", "null", "deep", "text"],
)
def test_output_without_results_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match="printed"):
        hits_in(printed)


def test_entries_without_a_file_are_left_out() -> None:
    odd: list[object] = ["text", 7, {"docid": "#1"}, {**HIT, "file": "qmd://notes"}, {**HIT, "file": "n/a\0b.md"}]
    assert hits_in(json.dumps([*odd, HIT])) == [QmdHit("notes", "sub/gateway.md", 0.87, 4, "0c2be0")]


@pytest.mark.parametrize(("score", "line"), [("high", "four"), (-3, 0), (7.5, -2), (None, None), (True, True)])
def test_invalid_scores_and_lines_become_valid(score: object, line: object) -> None:
    (hit,) = hits_in(json.dumps([{**HIT, "score": score, "line": line}]))
    assert 0 <= hit.score <= 1
    assert hit.line >= 1


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("qmd 2.8.3 (facd35e)\n", (2, 8, 3)),
        ("v22.23.3", (22, 23, 3)),
        ("1.4.4", (1, 4, 4)),
        ("\x1b[1mqmd 10.0.1\x1b[0m", (10, 0, 1)),
        ("qmd", None),
        ("", None),
    ],
)
def test_version_is_read(text: str, version: tuple[int, int, int] | None) -> None:
    assert version_of(text) == version


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("  code: 'SQLITE_BUSY'\n", Complaint.BUSY),
        ("Another embed process is already running. Skipping.", Complaint.BUSY),
        ("SqliteError: file is not a database", Complaint.DAMAGED),
        ("ENOENT: no such file '/notes/a.md^@'", Complaint.DAMAGED),
        ("Collection not found: notes", Complaint.COLLECTION),
        ("error: unknown option '--no-rerank'", Complaint.REJECTED),
        ("fetch failed", Complaint.OTHER),
    ],
)
def test_complaints_are_distinguished(text: str, complaint: Complaint) -> None:
    assert complaint_of(text) is complaint


def test_first_error_is_the_message_without_the_stack() -> None:
    excerpt = "/q/store.js:9\n  this[cppdb]\n     ^\n\n"
    output = f"{excerpt}SqliteError: file is not a database\n    at x (/q/y.js)\n\nNode.js v22.23.3\n"
    assert first_error(output) == "SqliteError: file is not a database"
    assert first_error("") == ""


def test_failed_embedding_is_recognised_despite_success() -> None:
    output = 'Embedding 1 query...Batch embedding error: Error: No model file found at "/x.gguf"\n    at async x\n'
    assert "No model file found" in (embedding_trouble(output) or "")
    assert embedding_trouble("Warning: 3 documents need embeddings\n") is None


def test_number_of_vectors_is_read() -> None:
    assert vectors_in("Documents\n  Total:    3 files\n  Vectors:  12 embedded\n") == 12
    assert vectors_in("") is None
