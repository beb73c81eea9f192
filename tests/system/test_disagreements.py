"""Disagreements under the real daemon: reported by retain, listed, marked in a bundle, settled and undone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.errors import InvalidRequest, NotFound
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

LOG = "memory/2026-11-02.md"
PAGES = {
    LOG: "## Retain\n- W(from=user) @Printer: The office printer is a Brother HL-2350.\n"
    "- W @Cleaning: The cleaning is done by Mrs Duff.\n- W @Scanner: The left scanner is a Canon.\n",
    "memory/2026-11-05.md": "## Retain\n-   W(from=agent)  @Printer: The office printer is an HP M209.\n"
    "- W @Scanner: The right scanner is an Epson.\n- W @Cleaning: The cleaning is done by Sparkle Ltd.\n",
}
QUESTION = "which printer is in the office"


def daemon_with(home: Path, **memory: object) -> RunningDaemon:
    workspace = home / "workspace"
    for path, text in PAGES.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    return RunningDaemon(home, write_config(home, workspace, None, memory=memory), workspace)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    with daemon_with(tmp_path) as running:
        yield running


def memoryctl(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> str:
    done = daemon.memoryctl(*arguments)
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


def pairs(daemon: RunningDaemon) -> list[Any]:
    daemon.client().sync()
    return list(daemon.client().disagreements()["disagreements"])


def recalled(daemon: RunningDaemon, question: str = QUESTION) -> list[str]:
    daemon.client().sync()
    return [item["content"] for item in daemon.client().recall(question, k=3)["results"] if item["is"] == "memory"]


def bundle_of(daemon: RunningDaemon) -> str:
    return str(daemon.client().recall(QUESTION, format="bundle")["bundle"])


def test_contradiction_by_an_agent_is_listed_and_ranks_lower(daemon: RunningDaemon) -> None:
    [pair] = pairs(daemon)
    assert pair["doubt"] == "authority"
    assert pair["leads"] == pair["older"]["id"]
    assert (pair["newer"]["saidBy"], pair["older"]["saidBy"]) == ("agent", "user")
    assert pair["older"]["source"] == f"{LOG}#L2"
    assert recalled(daemon)[:2] == ["The office printer is a Brother HL-2350.", "The office printer is an HP M209."]
    assert bundle_of(daemon).count("disputed: ") == 2
    shown = memoryctl(daemon, "disagreements")
    assert "older: The office printer is a Brother HL-2350." in shown
    assert json.loads(memoryctl(daemon, "disagreements", "--json"))["total"] == 1
    assert daemon.client().reflect("2026-11-01", dry_run=True)["disagreements"] == 1
    earlier = str(daemon.client().recall("who does the cleaning", format="bundle")["bundle"])
    assert "earlier" in earlier


def test_leading_side_is_recalled_although_only_the_other_matches(tmp_path: Path) -> None:
    with daemon_with(tmp_path) as daemon:
        client = daemon.client()
        older = client.retain("fact: I live in Graz and I have two cats, Miso and Tofu.")["id"][:8]
        client.retain(f"fact(contradicts={older}): I said Linz but I meant Wels.")
        eventually(lambda: client.sync() and client.disagreements()["total"] == 2)
        text = str(client.turn("Where do I live?", session_key="agent:main:main")["bundle"])
        assert text.index("Wels") < text.index("Graz")


def test_keeping_newer_survives_a_restart_and_is_undone(tmp_path: Path) -> None:
    with daemon_with(tmp_path) as daemon:
        [pair] = pairs(daemon)
        before = (daemon.workspace / "memory/2026-11-05.md").read_bytes()
        done = json.loads(memoryctl(daemon, "disagreements", "keep", pair["id"], "newer", "--json"))
        assert f"supersedes={pair['older']['id'][:8]}" in (daemon.workspace / "memory/2026-11-05.md").read_text()
        assert pairs(daemon) == []
        assert recalled(daemon)[0] == "The office printer is an HP M209."
    with RunningDaemon(tmp_path, tmp_path / "config.json5", daemon.workspace) as again:
        assert pairs(again) == []
        assert recalled(again)[0] == "The office printer is an HP M209."
        [change] = done["changes"]
        memoryctl(again, "undo", str(change))
        assert (again.workspace / "memory/2026-11-05.md").read_bytes() == before
        assert [one["id"] for one in pairs(again)] == [pair["id"]]


def test_both_are_kept_until_one_is_forgotten(daemon: RunningDaemon) -> None:
    [pair] = pairs(daemon)
    memoryctl(daemon, "disagreements", "keep", pair["newer"]["id"][:8], "both")
    assert pairs(daemon) == []
    assert "from=user" in (daemon.workspace / "memory/2026-11-05.md").read_text(), "the owner's decision is recorded"
    assert "disputed" not in bundle_of(daemon)
    assert len(recalled(daemon)) >= 2
    daemon.client().forget(pair["newer"]["id"])
    assert "beside=" not in (daemon.workspace / "memory/2026-11-05.md").read_text()
    assert pairs(daemon) == []


def test_line_of_an_agent_settles_no_disagreement(daemon: RunningDaemon) -> None:
    [pair] = pairs(daemon)
    older = pair["older"]["id"][:8]
    reply = daemon.client().retain(
        f"W(beside={older}, contradicts={older}) @Printer: The office printer is a Canon.",
        session_key="agent:main:main",
    )
    assert any("until the owner changes it" in note for note in reply["notes"])
    assert (pair["older"]["id"], "authority") in [(other["older"]["id"], other["doubt"]) for other in pairs(daemon)]
    assert any("Canon" in other["newer"]["text"] for other in pairs(daemon))


def test_keeping_older_supersedes_newer(daemon: RunningDaemon) -> None:
    [pair] = pairs(daemon)
    daemon.client().settle_disagreement(pair["id"], "older")
    assert pairs(daemon) == []
    [first, *_] = daemon.client().recall(QUESTION)["results"]
    assert first["content"] == "The office printer is a Brother HL-2350."
    assert first["supersedes"] == [pair["newer"]["id"]]


def test_retain_reports_what_it_may_contradict(daemon: RunningDaemon) -> None:
    daemon.client().sync()
    reply = daemon.client().retain(
        "W @Cleaning: The cleaning is done by Mr Bell.", session_key="agent:main:chat:direct:x"
    )
    assert any("may contradict" in note and "Sparkle Ltd" in note for note in reply["notes"])
    plain = daemon.client().retain("W @Desk: The desk is a Vitra.", session_key="agent:main:chat:direct:x")
    assert not any("may contradict" in note for note in plain["notes"])


def test_unknown_disagreement_is_refused(daemon: RunningDaemon) -> None:
    with pytest.raises(NotFound, match="there is no disagreement"):
        daemon.client().settle_disagreement("00000000-11111111", "newer")
    with pytest.raises(InvalidRequest):
        daemon.client().settle_disagreement(pairs(daemon)[0]["id"], "none")
    [pair] = pairs(daemon)
    daemon.client().settle_disagreement(pair["id"], "newer")
    assert "no disagreements" in memoryctl(daemon, "disagreements", "list", expected=Exit.NOTHING_FOUND)
    with pytest.raises(NotFound):
        daemon.client().settle_disagreement(pair["id"], "newer")
