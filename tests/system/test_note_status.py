"""Status in the front matter of a note: shown in every output, and lowers the rank, by the current day."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from memoryd.domain.text.note_status import STATUS_EFFECTS
from memoryd.domain.text.sanitizing import Flag
from tests.daemon import RunningDaemon
from tests.mcp_program import driven, text_of
from tests.system.agents import daemon_of_agents

SAYS = "The boiler of the cabin takes {} litres of glycol."
NOTES = {
    "holds": ("title: Boiler", ()),
    "deprecated": ("status: deprecated", (Flag.DEPRECATED,)),
    "superseded": ('status: " Superseded"', (Flag.SUPERSEDED,)),
    "draft": ("status: draft", (Flag.DRAFT,)),
    "stale": ("stale_after: {today}", (Flag.STALE,)),
    "later": ('stale_after: "{tomorrow}"', ()),
    "both": ("status: deprecated\nstale_after: {long_ago}T10:00:00Z", (Flag.DEPRECATED, Flag.STALE)),
    "stable": ("status: stable\nstale_after: some day", ()),
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    workspace = tmp_path_factory.mktemp("standing")
    (workspace / "memory").mkdir()
    # not at import: the day may change while the suite runs
    today = date.today()  # noqa: DTZ011  the owner's day
    days = {"today": today, "tomorrow": today + timedelta(days=1), "long_ago": today - timedelta(days=9)}
    for number, (name, (head, _)) in enumerate(NOTES.items(), start=10):
        text = f"---\n{head}\nsources:\n  - resource: zeppelin manual\n---\n# Cabin {name}\n\n{SAYS.format(number)}\n"
        (workspace / "memory" / f"{name}.md").write_text(text.format(**days))
    (workspace / "bank").mkdir()
    (workspace / "bank" / "world.md").write_text("---\nstatus: deprecated\n---\n# World\n\n- The mast is of larch\n")
    (workspace / "memory" / "2026-09-01.md").write_text("## Retain\n\n- W: The shed code is 8024.\n")
    (workspace / "memory" / "2026-10-01.md").write_text(
        "---\nstatus: deprecated\n---\n## Retain\n\n- W: The shed code is 5512.\n"
    )
    with daemon_of_agents(workspace, [{"id": "main"}], workspace) as running:
        running.client().sync()
        yield running


def output_of(daemon: RunningDaemon, *words: str) -> str:
    result = daemon.memoryctl(*words)
    return str(result.stdout + result.stderr)


def name_of(hit: Any) -> str:
    return Path(hit["path"]).stem


def test_search_flags_the_status_and_ranks_lower(daemon: RunningDaemon) -> None:
    hits = daemon.client().search("litres of glycol for the boiler of the cabin", max_results=20, explain=True)[
        "results"
    ]
    assert {name_of(hit): tuple(hit["flags"]) for hit in hits} == {name: flags for name, (_, flags) in NOTES.items()}
    places = [not hit["flags"] for hit in hits]
    assert places == sorted(places, reverse=True)
    score = {name_of(hit): hit["score"] for hit in hits}
    for hit in hits:
        reasons = [STATUS_EFFECTS[flag].because for flag in NOTES[name_of(hit)][1]]
        assert all(reason in hit["explain"]["because"] for reason in reasons)
    assert score["deprecated"] == pytest.approx(score["stable"] * STATUS_EFFECTS[Flag.DEPRECATED].weight, rel=0.1)
    text = output_of(daemon, "search", "-k", "20", "litres of glycol for the boiler of the cabin")
    assert "(deprecated, stale)" in text


def test_get_flags_the_status_for_any_lines(daemon: RunningDaemon) -> None:
    for name, (_, flags) in NOTES.items():
        assert tuple(daemon.client().get(f"memory/{name}.md", start=6, lines=1)["flags"]) == flags
    assert "flags: deprecated" in output_of(daemon, "get", "memory/deprecated.md")


def test_recall_and_bundle_flag_the_status(daemon: RunningDaemon) -> None:
    question = "how many litres of glycol does the boiler of the cabin take"
    items = daemon.client().recall(question, format="items", k=20)["results"]
    flags = {name_of(item): tuple(item.get("flags") or ()) for item in items if item["is"] == "passage"}
    assert flags["both"] == (Flag.DEPRECATED, Flag.STALE)
    assert not flags["holds"]
    bundle = daemon.client().recall(question, format="bundle", k=20, budget=4_000)["bundle"]
    assert "[deprecated] [stale] " in bundle
    assert "[draft] " in bundle


def test_memory_of_a_deprecated_page_is_flagged(daemon: RunningDaemon) -> None:
    item = daemon.client().recall("what wood is the mast of", explain=True)["results"][0]
    assert item["flags"] == ["deprecated"]
    assert STATUS_EFFECTS[Flag.DEPRECATED].because in item["explain"]["because"]
    assert (
        "[deprecated] The mast is of larch"
        in daemon.client().recall("what wood is the mast of", format="bundle")["bundle"]
    )


def test_memory_of_a_deprecated_note_is_superseded_by_an_older_one(daemon: RunningDaemon) -> None:
    items = daemon.client().recall("what is the shed code", explain=True)["results"]
    found = [(item["content"], item.get("flags"), item.get("supersededBy", [])) for item in items[:2]]
    assert found == [
        ("The shed code is 8024.", None, []),
        ("The shed code is 5512.", ["deprecated"], [items[0]["id"]]),
    ]


def test_mcp_shows_the_status(daemon: RunningDaemon) -> None:
    with driven(daemon) as program:
        found = program.call("memory_search", query="litres of glycol for the boiler of the cabin")
    assert "; deprecated\n" in text_of(found)


def test_front_matter_is_never_the_focus(daemon: RunningDaemon) -> None:
    hits = daemon.client().search("zeppelin manual")["results"]
    assert hits
    for hit in hits:
        assert hit["focus"] is not None
        assert "zeppelin" not in hit["snippet"]
        assert hit["focus"]["startLine"] > 4
        assert SAYS[:20] in hit["snippet"]


def test_status_is_no_problem_of_the_file(daemon: RunningDaemon) -> None:
    flagged = daemon.agent()["flagged"]
    assert [(row["path"], row["flags"]) for row in flagged] == [("memory/stable.md", "stale_after is no date")]
