"""Paths that a name of a conversation may refer to: a citation, a session or a file."""

import pytest

from memoryd.domain.sessions.names import may_belong_to, possible_paths


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("session:cli-main-20260130", ("session:cli-main-20260130",)),
        ("session:cli-main-20260130#Q3-Q5", ("session:cli-main-20260130",)),
        ("sessions/other/a b.jsonl#L120", ("sessions/other/a b.jsonl",)),
        ("sessions/main/x.jsonl.reset.2026", ("sessions/main/x.jsonl.reset.2026",)),
        (" cli-main-20260130 ", ("session:cli-main-20260130", "sessions/main/cli-main-20260130.jsonl")),
        ("x.jsonl", ("session:x-jsonl-6addbcfb", "sessions/main/x.jsonl")),
        ("../../etc/passwd", ()),
        ("memory/2026-01-30.md", ()),
        ("", ()),
    ],
)
def test_name_has_possible_paths(name: str, paths: tuple[str, ...]) -> None:
    assert possible_paths(name, "main") == paths


@pytest.mark.parametrize(
    ("path", "expected"), [("sessions/main/x.jsonl", True), ("sessions/other/x.jsonl", False), ("session:x", True)]
)
def test_transcript_path_contains_its_agent(path: str, expected: bool) -> None:
    assert may_belong_to(path, "main") is expected
