"""Parsing of durations and secrets."""

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from memoryd.config.providers import LocalSection, RemoteSection
from memoryd.config.section import format_duration, parse_duration, parse_secret
from memoryd.errors import ConfigError


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("5m", 300), ("90s", 90), ("1h30m", 5400), ("1h 30m", 5400), ("250ms", 0.25), ("2D", 172_800)],
)
def test_durations_are_read(value: object, seconds: float) -> None:
    assert parse_duration(value).total_seconds() == seconds


@pytest.mark.parametrize(("value", "seconds"), [("5", 300), (5, 300), (0.5, 30), (0, 0), ("0", 0), ("1.5h", 5400)])
def test_bare_numbers_are_minutes(value: object, seconds: float) -> None:
    assert parse_duration(value).total_seconds() == seconds


@pytest.mark.parametrize("value", ["", "soon", "5 parsecs", "m5", "5m!", "-5m", True, None, [], "1" * 50 + "m"])
def test_other_durations_are_refused_with_an_example(value: object) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse_duration(value)


@pytest.mark.parametrize("value", ["366d", -1, "99999999h"])
def test_durations_have_bounds(value: object) -> None:
    with pytest.raises(ValueError, match="between 0 and a year"):
        parse_duration(value)


def test_secret_of_a_file_is_its_first_line_and_the_file_must_exist(tmp_path: Path) -> None:
    file = tmp_path / "key"
    with pytest.raises(ConfigError, match="cannot read the secret"):
        parse_secret({"file": str(file)}).reveal()
    for written in ("sk-1", "sk-1\n", "sk-1 \r\n# of my own account\n", "\n sk-1\nsk-2\n"):
        file.write_text(written, newline="")
        assert parse_secret({"file": str(file)}).reveal() == "sk-1"


@pytest.mark.parametrize("text", ["5m", "1h", "90s", "25h", "0.25s", "0s"])
def test_formatted_durations_are_read_back(text: str) -> None:
    assert format_duration(parse_duration(text)) == text


def test_a_year_of_minutes_does_not_overflow() -> None:
    assert parse_duration(525_600) == timedelta(days=365)
    with pytest.raises(ValueError):
        parse_duration(1e308)


def test_secret_is_masked_everywhere() -> None:
    remote = RemoteSection.model_validate({"apiKey": "sk-hidden", "headers": {"Authorization": "Bearer hidden"}})
    for shown in (repr(remote), str(remote), remote.model_dump_json(), repr(remote.model_dump())):
        assert "hidden" not in shown
    assert remote.api_key is not None
    assert remote.api_key.reveal() == "sk-hidden"
    assert remote.headers["Authorization"].reveal() == "Bearer hidden"


@pytest.mark.parametrize("value", [{"env": "A_KEY"}, "${A_KEY}", {"source": "env", "provider": "x", "id": "A_KEY"}])
def test_secret_of_a_variable_is_read_when_needed(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = parse_secret(value)
    monkeypatch.setenv("A_KEY", "sk-1")
    assert secret.reveal() == "sk-1"
    monkeypatch.delenv("A_KEY")
    with pytest.raises(ConfigError, match="no secret in env A_KEY"):
        secret.reveal()


@pytest.mark.parametrize("value", ["", 5, None, {}, {"env": ""}, {"file": "relative"}, {"file": "/a", "env": "B"}])
def test_other_values_are_no_secret(value: object) -> None:
    with pytest.raises(ValueError, match="must be a text"):
        parse_secret(value)


def test_automatic_context_size_is_that_of_the_model() -> None:
    assert LocalSection.model_validate({"contextSize": "auto"}).context_size is None
    assert LocalSection.model_validate({"contextSize": 2048}).context_size == 2048


def test_gpu_layers_are_a_number_or_automatic() -> None:
    assert LocalSection.model_validate({"gpuLayers": "auto"}) == LocalSection()
    assert LocalSection.model_validate({"gpuLayers": 0}).gpu_layers == 0
    with pytest.raises(ValidationError):
        LocalSection.model_validate({"gpuLayers": -1})
