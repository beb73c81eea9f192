"""A conversation is named as it is cited, or by the bare name of its session or file."""

import pytest

from memoryd.domain.sessions.names import may_belong_to, possible_paths


@pytest.mark.parametrize(
    ("name", "meant"),
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
def test_name_stands_for(name: str, meant: tuple[str, ...]) -> None:
    assert possible_paths(name, "main") == meant


@pytest.mark.parametrize(
    ("path", "expected"), [("sessions/main/x.jsonl", True), ("sessions/other/x.jsonl", False), ("session:x", True)]
)
def test_path_of_a_transcript_names_its_agent(path: str, expected: bool) -> None:
    assert may_belong_to(path, "main") is expected
