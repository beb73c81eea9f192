"""`memory.qa`: allowed values, and the retention rules made of them."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from memoryd.config.memory import QaSection
from memoryd.domain.sessions.documents import TURNS, AnswerRetention


def section(**values: object) -> QaSection:
    return QaSection.model_validate(values)


def test_defaults_are_those_of_the_rules() -> None:
    assert section().answer_retention() == AnswerRetention()
    assert section().context_turns == TURNS
    assert section().enabled
    assert not section().from_transcripts


def test_values_reach_the_rules() -> None:
    answer_retention = section(significance=0.9, archiveDays=7, interests=["discord_config"]).answer_retention()
    assert answer_retention.archive_after == timedelta(days=7)
    assert not answer_retention.keeps(0.85, ["gateway"])
    assert answer_retention.keeps(0.1, ["discord_config"])


@pytest.mark.parametrize(
    "values",
    [
        {"significance": 1.1},
        {"significance": -0.1},
        {"significance": float("nan")},
        {"archiveDays": 0},
        {"archiveDays": 36_501},
        {"contextTurns": 0},
        {"contextTurns": 51},
        {"contextTurns": "5"},
        {"interests": "discord_config"},
        {"interests": [" "]},
        {"fromTranscripts": "yes"},
        {"archive": 3},
    ],
    ids=str,
)
def test_invalid_values_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        section(**values)
