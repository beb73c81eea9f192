"""When a growing transcript is read."""

import pytest

from memoryd.domain.sessions.transcripts.records import Growth, ReadingRule, is_due, rests_in, tells_compaction

RULE = ReadingRule(bytes=1000, lines=10, idle=60.0)


@pytest.mark.parametrize(
    ("growth", "expected"),
    [
        (Growth(999, 9, 0.0), False),
        (Growth(1000, 1, 0.0), True),
        (Growth(10, 10, 0.0), True),
        (Growth(10, 1, 59.9), False),
        (Growth(10, 1, 60.0), True),
        (Growth(0, 0, 60.0), True),
        (Growth(10, 1, 0.0, is_compacted=True), True),
    ],
)
def test_transcript_is_due_after_growth_rest_or_compaction(growth: Growth, expected: bool) -> None:
    assert is_due(growth, RULE) is expected


@pytest.mark.parametrize("rule", [ReadingRule(bytes=0, lines=10), ReadingRule(bytes=1000, lines=0)])
def test_limit_zero_means_any_growth(rule: ReadingRule) -> None:
    assert is_due(Growth(1, 1, 0.0), rule)
    assert not is_due(Growth(0, 0, 0.0), rule)


def test_compaction_rule_can_be_disabled() -> None:
    rule = ReadingRule(bytes=1000, lines=10, idle=60.0, after_compaction=False)
    assert not is_due(Growth(10, 1, 0.0, is_compacted=True), rule)


def test_remaining_rest_is_known_only_after_growth() -> None:
    assert rests_in(Growth(1, 0, 20.0), RULE) == 40.0
    assert rests_in(Growth(1, 0, 80.0), RULE) == 0.0
    assert rests_in(Growth(0, 0, 20.0), RULE) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"type": "compaction", "summary": "x"}', True),
        (b'{"type":"system","subtype":"compact_boundary"}', True),
        (b'{"type":"message","message":{"content":"a \\"type\\": \\"compaction\\""}}', False),
        (b'{"type":"message"}', False),
    ],
)
def test_compaction_is_recognised_by_its_record(line: bytes, expected: bool) -> None:
    assert tells_compaction(line) is expected
