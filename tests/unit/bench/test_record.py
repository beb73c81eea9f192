"""Recorded measurements, and how new figures are compared with them."""

import math
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from bench import against, speed
from bench.imports import by_package
from bench.measurement import Row
from bench.outside import Figure
from bench.record import BadRecord, Kept, Record, Taken, load, machine_class, save
from bench.report import Report

HERE, ELSEWHERE = machine_class(), "Other machine"


def taken(*figures: Kept, day: str = "2026-01-01", effort: str = "usual", yardstick_ms: float = 10.0) -> Taken:
    return Taken(day, "0.1.0", "3.11.1", effort, 0.5, yardstick_ms, figures)


def test_times_are_compared_relative_to_the_yardstick_and_sizes_are_not() -> None:
    kept = taken(Kept("a question", 4.0, "ms"), Kept("memory", 80.0, "MiB"), Kept("stale", 0.0, "hits"))
    assert kept.ratio(Row("a question", 8.0, "ms"), 20.0) == 1.0
    assert kept.ratio(Row("a question", 8.0, "ms"), 10.0) == 2.0
    assert kept.ratio(Row("memory", 88.0, "MiB"), 20.0) == 1.1


def test_figure_without_a_record_in_the_same_unit_has_no_ratio() -> None:
    kept = taken(Kept("start", 4.0, "ms"), Kept("stale", 0.0, "hits"))
    assert kept.ratio(Row("start", 4.0, "s"), 10.0) is None
    assert kept.ratio(Row("stop", 4.0, "ms"), 10.0) is None
    assert kept.ratio(Row("stale", 1.0, "hits"), 10.0) is None


def test_own_machine_class_comes_first_then_the_newest_of_another() -> None:
    old, new, own = taken(day="2026-01-01"), taken(day="2026-02-01"), taken(day="2025-01-01")
    record = Record({"one": {"start": old}, "two": {"start": new, "save": taken(effort="quick")}, HERE: {"start": own}})
    assert record.find(HERE, "start", "usual") == (HERE, own)
    assert record.find(ELSEWHERE, "start", "usual") == ("two", new)
    assert record.find(HERE, "save", "usual") is None
    assert record.find(HERE, "edit", "usual") is None


def test_recording_replaces_measurements_and_drops_removed_ones() -> None:
    before = Record({HERE: {"start": taken(), "gone": taken()}, ELSEWHERE: {"gone": taken()}})
    now = taken(day="2026-03-01")
    after = before.with_taken(HERE, {"save": now}, ["save", "start"])
    assert after.classes == {HERE: {"save": now, "start": taken()}, ELSEWHERE: {"gone": taken()}}


def test_record_survives_saving_and_loading(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    assert load(path) == Record({})
    record = Record({HERE: {"start": taken(Kept("a question", 4.25, "ms"))}})
    save(record, path)
    assert load(path).classes[HERE]["start"].figures == [Kept("a question", 4.25, "ms")]


@pytest.mark.parametrize("text", ["{", "[]", '{"classes": {"x": {"start": {"day": "2026-01-01"}}}}', '{"klasses": {}}'])
def test_invalid_record_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recorded.json"
    path.write_text(text)
    with pytest.raises(BadRecord, match=r"recorded\.json: this is no record of `make bench-record`: .+"):
        load(path)


def test_report_prints_figures_beside_the_recorded_ones() -> None:
    report = Report("usual", Record({ELSEWHERE: {"start": taken(Kept("start", 2.0, "s")), "gone": taken()}}))
    report.yardstick_ms["start"] = 20.0
    report.add("start", Row("start", 3.0, "s"))
    report.add("start", Row("new", 1.0, "s"))
    console = Console(width=160)
    with console.capture() as printed:
        report.print(console)
    lines = printed.get().splitlines()
    assert "recorded 2026-01-01 on Other machine" in lines[0]
    row = next(line for line in lines if "│ start " in line)
    assert [cell.strip() for cell in row.split("│")[1:6]] == ["start", "3 s", "", "2", "0.75"]
    assert any("new" in line for line in lines)
    assert "gone" not in printed.get()


def test_failed_measurement_is_not_recorded() -> None:
    report = Report("usual", Record({}))
    for name in ("start", "save"):
        report.yardstick_ms[name] = 15.0
        report.add(name, Row("took", 1.23456789, "ms"))
    report.add("start", Row("qmd is not installed", 0, ""))
    report.failures["save"] = "it broke"
    assert list(report.taken()) == ["start"]
    assert report.taken()["start"].figures == [Kept("took", 1.235, "ms")]


def test_two_checkouts_are_shown_with_their_ratio() -> None:
    assert against.cells(Figure("start", "ms", (400.0, 300.0), "note")) == ("start", "400 ms", "300 ms", "0.75", "note")
    assert against.cells(Figure("start", "ms", (0.0, 300.0)))[3] == ""
    assert against.cells(Figure("import", "ms", (math.nan, 3.0)))[1:4] == ("", "3 ms", "")


def test_speed_is_checked_on_the_recorded_machine_class_only() -> None:
    row = Row("a question", 5.0, "ms")
    record = Record({HERE: {speed.MEASUREMENT: taken(Kept("a question", 4.0, "ms"))}})
    assert speed.ratio_of(record, HERE, row, 10.0) == 1.25
    for machine, other in ((ELSEWHERE, row), (HERE, Row("another", 5.0, "ms"))):
        with pytest.raises(BadRecord, match="make bench-record ARGS=outside"):
            speed.ratio_of(record, machine, other, 10.0)


def test_import_times_are_summed_by_package_and_room() -> None:
    log = (
        "import time: self [us] | cumulative | imported package\n"
        "import time:       100 |        100 |   numpy.linalg\n"
        "import time:        50 |        150 | numpy\n"
        "import time:        20 |         20 |   memoryd.store.index.words\n"
        "2026-01-01 info an event of the log\n"
        "import time:         3 |          3 | memoryd\n"
    )
    assert by_package(log) == Counter({"numpy": 150, "memoryd.store": 20, "memoryd": 3})


def test_shipped_record_has_the_figure_that_the_speed_check_compares() -> None:
    for machine in load().classes:
        assert speed.ratio_of(load(), machine, Row("800 chunks: a question by words", 3.0, "ms"), 15.0) > 0
