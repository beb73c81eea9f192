"""Copies of conflicts, made by synchronising programs: found, marked, and ranked after their originals."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.errors import InvalidRequest
from tests.daemon import RunningDaemon, write_config

LOG = "memory/2026-11-02.md"
COPY = "memory/2026-11-02.sync-conflict-20261103-080000-ABCDEFG.md"
NOTE = "memory/garden.md"
NOTE_COPY = "memory/garden (Ada's conflicted copy 2026-11-03).md"
HEAD = "# Day\n\n## Retain\n\n"
BOTH = "- W @Ada: the kiln is fired with birch on Mondays\n"
OURS = "- W @Ada: Ada lives in Lisbon\n"
THEIRS = "- W @Ada: Ada lives in Turin\n"
ALONE = "- W(pin) @Ada: the spare key of the boathouse hangs under the oar\n"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("conflicts")
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "bank" / "entities").mkdir(parents=True)
    (workspace / ".memoryignore").write_text("memory/letters.md\n")
    (workspace / LOG).write_text(HEAD + BOTH + OURS)
    (workspace / COPY).write_text(HEAD + BOTH + THEIRS + ALONE)
    (workspace / NOTE).write_text("# Garden\n\nThe hornbeam hedge along the lane is cut by a gardener in late June.\n")
    (workspace / NOTE_COPY).write_text("# Garden\n\nHornbeam hedge cut. Hornbeam hedge: twice a year.\n")
    (workspace / "memory" / "letters.md").write_text("# Letters\n\nA private matter: dogwood.\n")
    (workspace / "memory" / "letters (conflicted copy 2026-11-03 080000).md").write_text("# Letters\n\nOf dogwood.\n")
    (workspace / "bank" / "entities" / "ada.md").write_text("# Ada\n")
    (workspace / "bank" / "entities" / "ada.sync-conflict-20261103-080000-ABCDEFG.md").write_text("# Adah\n")
    running = RunningDaemon(home, write_config(home, workspace, None), workspace)
    with running:
        running.client().sync()
        yield running


def test_copy_ranks_after_its_original_and_is_marked(daemon: RunningDaemon) -> None:
    hits = daemon.client().search("hornbeam hedge cut", explain=True)["results"]
    assert [hit["path"] for hit in hits] == [NOTE, NOTE_COPY]
    assert hits[0]["flags"] == []
    assert hits[1]["flags"] == ["conflict-copy"]
    assert "a copy of a conflict counts half, and comes after its original" in hits[1]["explain"]["because"]


def test_memory_in_both_versions_is_cited_from_the_original(daemon: RunningDaemon) -> None:
    (item, *_) = daemon.client().recall("what is the kiln fired with")["results"]
    assert item["source"].startswith(f"{LOG}#")
    assert "flags" not in item
    assert [source["source"].partition("#")[0] for source in item["sources"]] == [LOG, COPY]


def test_memory_of_a_copy_supersedes_nothing_and_ranks_last(daemon: RunningDaemon) -> None:
    items = [item for item in daemon.client().recall("where does Ada live")["results"] if item["is"] == "memory"]
    lives = [item for item in items if "lives" in item["content"]]
    assert [live["content"] for live in lives] == ["Ada lives in Lisbon", "Ada lives in Turin"]
    assert "supersededBy" not in lives[0]
    assert "flags" not in lives[0]
    assert lives[1].get("flags") == ["conflict-copy"]
    assert lives[1]["score"] < lives[0]["score"]


def test_disagreement_with_a_copy_is_settled_by_conflicts_command(daemon: RunningDaemon) -> None:
    client = daemon.client()
    (pair,) = client.disagreements()["disagreements"]
    assert (pair["doubt"], pair["newer"]["text"], pair["leads"]) == ("copy", "Ada lives in Lisbon", pair["newer"]["id"])
    assert "memoryctl conflicts" in daemon.memoryctl("disagreements").stdout
    with pytest.raises(InvalidRequest, match="copy of a conflict") as caught:
        client.settle_disagreement(pair["id"], "both")
    assert "memoryctl conflicts" in str(caught.value.hint)


def test_memory_of_a_copy_is_marked_and_left_out_of_the_stable_block(daemon: RunningDaemon) -> None:
    client = daemon.client()
    (item, *_) = client.recall("where is the spare key of the boathouse")["results"]
    assert item["content"] == "the spare key of the boathouse hangs under the oar"
    assert item.get("flags") == ["conflict-copy"]
    bundle = client.recall("where is the spare key of the boathouse", format="bundle")["bundle"]
    assert "[copy of a conflict] the spare key" in str(bundle)
    unrelated = client.recall("what is the kiln fired with", format="bundle")["bundle"]
    assert "spare key" not in str(unrelated)
    assert "conflict-copy" in daemon.memoryctl("recall", "where", "is", "the", "spare", "key").stdout


def test_memory_of_a_copy_cannot_be_pinned(daemon: RunningDaemon) -> None:
    client = daemon.client()
    (item, *_) = client.recall("where is the spare key of the boathouse")["results"]
    with pytest.raises(InvalidRequest, match="copy of a conflict") as caught:
        client.pin_memory(item["id"])
    assert "memoryctl conflicts" in str(caught.value.hint)


def test_memory_of_a_copy_is_marked_wherever_it_is_shown(daemon: RunningDaemon) -> None:
    client = daemon.client()
    by_text = {memory["text"]: memory for memory in client.memories(limit=20)["memories"]}
    turin, key = by_text["Ada lives in Turin"], by_text[ALONE.partition(": ")[2].strip()]
    assert (turin["flags"], by_text["Ada lives in Lisbon"]["flags"]) == (["conflict-copy"], [])
    assert (key["pinned"], key["tier"]) == (False, "working")
    for words in (
        ("list", "Turin"),
        ("search", "where", "does", "Ada", "live"),
        ("show", turin["id"]),
        ("why", turin["id"]),
    ):
        assert "conflict-copy" in daemon.memoryctl("memories", *words).stdout, words
    about = [line for line in daemon.memoryctl("entities", "show", "Ada").stdout.splitlines() if "Ada lives" in line]
    assert [("Turin" in line, "(conflict-copy)" in line) for line in about] == [(False, False), (True, True)]


def test_reflect_ignores_copies(daemon: RunningDaemon, tmp_path: Path) -> None:
    daemon.client().reflect()
    pages = [path.read_text() for path in (daemon.workspace / "bank").rglob("*.md")]
    assert any("Lisbon" in page for page in pages)
    assert not any("Turin" in page or "spare key" in page for page in pages)


def test_page_in_a_copy_is_no_entity(daemon: RunningDaemon) -> None:
    names = [entity["name"] for entity in daemon.client().entities()["entities"]]
    assert "Ada" in names
    assert "Adah" not in names


def test_copy_of_a_private_note_is_private(daemon: RunningDaemon) -> None:
    assert daemon.client().search("dogwood")["results"] == []


def test_copy_becomes_private_with_its_note(daemon: RunningDaemon) -> None:
    note = daemon.workspace / "memory" / "salary.md"
    copy = note.with_name("salary (conflicted copy 2026-11-03 080000).md")
    for path, earned in ((note, "ninety"), (copy, "eighty")):
        path.write_text(f"# Salary\n\nThe pangolin earns {earned}.\n")
    daemon.client().sync()
    assert {hit["path"] for hit in daemon.client().search("pangolin")["results"]} == {
        f"memory/{path.name}" for path in (note, copy)
    }
    note.write_text(f"---\nmemory: false\n---\n{note.read_text()}")
    daemon.client().sync()
    assert daemon.client().search("pangolin")["results"] == []
    copy.write_text("# Salary\n\nThe pangolin earned seventy.\n")
    daemon.client().sync()
    assert daemon.client().search("pangolin")["results"] == []
