"""Status of a note from its front matter: parsing, flags on a given day, and weight."""

from datetime import date

import pytest

from memoryd.domain.ranking.selection import Decay
from memoryd.domain.ranking.snippets import snippet
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.note_status import STATUS_EFFECTS, current_flags, status_marks, status_weight, without_status
from memoryd.domain.text.sanitizing import Flag

DAY = date(2026, 9, 23)


@pytest.mark.parametrize(
    ("head", "marks"),
    [
        ("status: deprecated", "deprecated"),
        ("status: DRAFT", "draft"),
        ("status: in review", ""),
        ("status: [deprecated]", "status is no word"),
        ("status: stale", ""),
        ("stale_after: 2026-09-23", "stale after 2026-09-23"),
        ("stale_after: 0999-01-02", "stale after 0999-01-02"),
        ("stale_after: 2026-09-23T23:59:00-11:00", "stale after 2026-09-23"),
        ("stale_after: '2026-09-23'", "stale after 2026-09-23"),
        ("stale_after: 20260923", "stale_after is no date"),
        ("stale_after: 2026-02-31", "stale_after is no date"),
        ("stale_after: soon, I think", "stale_after is no date"),
        ("stale_after: 2026-02-31\nstatus: deprecated", "deprecated, stale_after is no date"),
        ("stale_after:", ""),
        ("status: superseded\nstale_after: 2026-01-01", "superseded, stale after 2026-01-01"),
        ("title: 'status: deprecated'", ""),
        ("status: deprecated: no: yaml", "status cannot be read"),
        ("status: *alias\nstale_after: 2026-01-01", "status cannot be read, stale_after cannot be read"),
        (f"status: deprecated\ntags: {'x' * 20_000}", "status cannot be read"),
    ],
)
def test_status_is_parsed(head: str, marks: str) -> None:
    assert status_marks(encode_padded(f"---\n{head}\n---\nbody")) == marks
    assert status_marks(encode_padded(f"\ufeff---\n{head}\n---\nbody")) == marks
    assert not status_marks(encode_padded(f"text\n---\n{head}\n---\n"))


def test_note_is_stale_from_its_date_on() -> None:
    marks = "not valid utf-8, draft, stale after 2026-09-23"
    assert current_flags(marks, date(2026, 9, 22)) == (Flag.DRAFT,)
    assert current_flags(marks, DAY) == (Flag.STALE, Flag.DRAFT)
    assert without_status(marks) == "not valid utf-8"
    assert current_flags("", DAY) == ()
    assert current_flags("image/png, hard-link", DAY) == ()


def test_worst_status_decides_the_factor() -> None:
    assert all(0 < row.weight < 1 for row in STATUS_EFFECTS.values())
    assert status_weight(()) == 1
    assert Decay(status_flags=(Flag.DRAFT, Flag.STALE)).factor == STATUS_EFFECTS[Flag.STALE].weight


def test_front_matter_is_shown_only_without_a_body() -> None:
    text = "---\nkeeper: zeppelin\n---\n\n# Head\n\nOne line.\nAnother line."
    part = snippet(text, {"zeppelin": 1.0}, front=3)
    assert part.text.startswith("# Head")
    assert (part.first_line, part.focus.first_line) == (4, 4)
    alone = snippet("---\nkeeper: zeppelin\n---\n", {"zeppelin": 1.0}, front=3)
    assert "zeppelin" in alone.text
    short = snippet(text, {"zeppelin": 1.0}, 12, front=3)
    assert "zeppelin" not in short.text
