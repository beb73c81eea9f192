"""What the front matter of a note says of whether it holds: told in every output, behind what holds, by the day."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from memoryd.domain.text.note_status import STATUS_EFFECTS
from memoryd.domain.text.sanitizing import Flag
from tests.daemon import RunningDaemon
from tests.mcp_program import driven, text_of

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
    # of the start of the daemon, not of the suite
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
    config = workspace / "config.json5"
    agents = {"defaults": {"memorySearch": {"provider": "none"}}, "list": [{"id": "main", "workspace": str(workspace)}]}
    config.write_text(json.dumps({"agents": agents}))
    with RunningDaemon(workspace, config, workspace) as running:
        running.client().sync()
        yield running


def shown(daemon: RunningDaemon, *words: str) -> str:
    done = daemon.memoryctl(*words)
    return str(done.stdout + done.stderr)


def name_of(one: Any) -> str:
    return Path(one["path"]).stem


def test_search_tells_it_and_puts_it_behind(daemon: RunningDaemon) -> None:
    hits = daemon.client().search("litres of glycol for the boiler of the cabin", max_results=20, explain=True)[
        "results"
    ]
    assert {name_of(hit): tuple(hit["flags"]) for hit in hits} == {name: flags for name, (_, flags) in NOTES.items()}
    places = [not hit["flags"] for hit in hits]
    assert places == sorted(places, reverse=True)
    score = {name_of(hit): hit["score"] for hit in hits}
    for hit in hits:
        told = [STATUS_EFFECTS[flag].because for flag in NOTES[name_of(hit)][1]]
        assert all(one in hit["explain"]["because"] for one in told)
    assert score["deprecated"] == pytest.approx(score["stable"] * STATUS_EFFECTS[Flag.DEPRECATED].weight, rel=0.1)
    text = shown(daemon, "search", "-k", "20", "litres of glycol for the boiler of the cabin")
    assert "(deprecated, stale)" in text


def test_get_tells_it_also_where_the_lines_are_further_down(daemon: RunningDaemon) -> None:
    for name, (_, flags) in NOTES.items():
        assert tuple(daemon.client().get(f"memory/{name}.md", start=6, lines=1)["flags"]) == flags
    assert "flags: deprecated" in shown(daemon, "get", "memory/deprecated.md")


def test_recall_and_bundle_tell_it(daemon: RunningDaemon) -> None:
    question = "how many litres of glycol does the boiler of the cabin take"
    items = daemon.client().recall(question, format="items", k=20)["results"]
    told = {name_of(item): tuple(item.get("flags") or ()) for item in items if item["is"] == "passage"}
    assert told["both"] == (Flag.DEPRECATED, Flag.STALE)
    assert not told["holds"]
    bundle = daemon.client().recall(question, format="bundle", k=20, budget=4_000)["bundle"]
    assert "[deprecated] [stale] " in bundle
    assert "[draft] " in bundle


def test_memory_of_a_page_that_holds_no_longer_is_told_so(daemon: RunningDaemon) -> None:
    item = daemon.client().recall("what wood is the mast of", explain=True)["results"][0]
    assert item["flags"] == ["deprecated"]
    assert STATUS_EFFECTS[Flag.DEPRECATED].because in item["explain"]["because"]
    assert (
        "[deprecated] The mast is of larch"
        in daemon.client().recall("what wood is the mast of", format="bundle")["bundle"]
    )


def test_memory_of_a_note_that_holds_no_longer_stands_behind_an_older_one(daemon: RunningDaemon) -> None:
    items = daemon.client().recall("what is the shed code", explain=True)["results"]
    told = [(item["content"], item.get("flags"), item.get("supersededBy", [])) for item in items[:2]]
    assert told == [
        ("The shed code is 8024.", None, []),
        ("The shed code is 5512.", ["deprecated"], [items[0]["id"]]),
    ]


def test_mcp_tells_it(daemon: RunningDaemon) -> None:
    with driven(daemon) as program:
        found = program.call("memory_search", query="litres of glycol for the boiler of the cabin")
    assert "; deprecated\n" in text_of(found)


def test_words_of_keys_alone_do_not_focus_the_front_matter(daemon: RunningDaemon) -> None:
    hits = daemon.client().search("zeppelin manual")["results"]
    assert hits
    for hit in hits:
        assert hit["focus"] is not None
        assert "zeppelin" not in hit["snippet"]
        assert hit["focus"]["startLine"] > 4
        assert SAYS[:20] in hit["snippet"]


def test_what_holds_no_longer_is_nothing_odd_of_the_file(daemon: RunningDaemon) -> None:
    flagged = daemon.agent()["flagged"]
    assert [(one["path"], one["flags"]) for one in flagged] == [("memory/stable.md", "stale_after is no date")]
