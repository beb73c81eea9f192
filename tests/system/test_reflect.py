"""Reflect and its proposals with the real daemon: by socket, by command, on schedule, and read-only."""

import contextlib
import itertools
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryd.errors import InvalidRequest, NotFound
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.sweeps import whole_or
from tests.waiting import eventually

SINCE = "2026-10-01"
NOTES = {
    "MEMORY.md": "# Memory\n\n- Peter: The gate code is 1234.\n",
    "memory/2026-10-01.md": "# Thursday\n\n## Retain\n- W @Peter: The gate code is 1234.\n"
    "- B @Wren: I mended the torn cable.\n- O(c=0.6) @Peter: Peter prefers trains to planes.\n",
    "memory/2026-10-02.md": "## Retain\n- B @Wren: I replaced a torn cable.\n"
    "- entity(pin) @Peter: Peter is allergic to nuts.\n",
    "memory/2026-10-03.md": "## Retain\n- W @Peter: The gate code is 4711.\n- B @Wren: Another torn cable was found.\n"
    "- O @Peter: Peter prefers trains to planes.\n- W(scope=agent:other) @Peter: Peter earns 4000.\n",
    "memory/2026-10-04.md": "# Sunday\n\nPeter moved to the house at the river in Graz with his dog.\n",
    "bank/entities/wren.md": "---\naliases: [the server]\n---\n# Wren\n\nMine.\n\n"
    "<!-- memoryd:begin -->\n<!-- memoryd:end -->\n\nMine as well.\n",
}

LINES = [
    "- W @X: The gate code is 1.",
    "- W @X: The gate code is 2.",
    "- W @X @Y: X meets Y.",
    "- O(c=0.3) @X: X likes tea.",
    "- O @X: X likes tea.",
    "- O @X: X does not like tea.",
    "- B @X: I mended the fence of X.",
    "- B @Y: I painted the fence of Y, <!-- memoryd:end -->",
    "- entity(pin) @[Big X]: X is big.\n    And old.",
    "- W(scope=agent:a) @X: secret.",
    "- preference @王芳: 王芳喜欢茶。",
    "no bullet at all",
]
PAGES = [
    "# X\n\nMine.\n",
    "",
    "---\naliases: [Xaver]\n---\n# X\n<!-- memoryd:begin -->\n<!-- memoryd:end -->\nMine\x0c too.",
    "<!-- memoryd:begin -->\nold\n<!-- memoryd:end -->",
    "# X\n<!-- memoryd:end -->\n",
    "a\n\n<!-- memoryd:begin -->\n```\n<!-- memoryd:end -->\n\n```\nMine\n```\n",
]


def write_notes(root: Path, notes: dict[str, str] = NOTES) -> Path:
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def notes_in(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.md"))}


def daemon_with(home: Path, notes: dict[str, str] = NOTES, **memory: object) -> RunningDaemon:
    workspace = write_notes(home / "workspace", notes)
    return RunningDaemon(home, write_config(home, workspace, None, memory=memory), workspace)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    with daemon_with(tmp_path, timezone="Asia/Kolkata") as running:
        yield running


def proposal_of_kind(daemon: RunningDaemon, kind: str) -> dict[str, Any]:
    found = [proposal for proposal in daemon.client().proposals()["proposals"] if proposal["kind"] == kind]
    assert len(found) == 1, found
    return dict(found[0])


def test_pages_are_written_only_between_the_markers(daemon: RunningDaemon) -> None:
    client = daemon.client()
    reply = client.reflect(SINCE)
    assert set(reply["pages"]) == {
        "bank/entities/peter.md",
        "bank/entities/wren.md",
        "bank/world.md",
        "bank/experience.md",
        "bank/opinions.md",
    }
    assert not reply["refusals"]
    wren = (daemon.workspace / "bank/entities/wren.md").read_text()
    head, _, rest = NOTES["bank/entities/wren.md"].partition("<!-- memoryd:begin -->")
    assert wren.startswith(head)
    assert wren.endswith(rest.removeprefix("\n"))
    assert "[memory/2026-10-01.md#L5](../../memory/2026-10-01.md#L5 " in wren
    peter = (daemon.workspace / "bank/entities/peter.md").read_text()
    assert peter.index("The gate code is 4711.") < peter.index("until then, 2026-10-01: The gate code is 1234.")
    assert "4000" not in "".join(notes_in(daemon.workspace / "bank").values())
    assert (
        "0.65, 2026-10-03, @Peter: Peter prefers trains to planes."
        in (daemon.workspace / "bank/opinions.md").read_text()
    )


def test_second_run_changes_nothing(daemon: RunningDaemon) -> None:
    client = daemon.client()
    client.reflect(SINCE)
    before, queue = notes_in(daemon.workspace), client.proposals(None)
    again = client.reflect(SINCE)
    assert (again["pages"], again["steps"], again["proposals"]) == ([], 0, [])
    assert notes_in(daemon.workspace) == before
    assert client.proposals(None) == queue


def test_proposals_are_paged_also_after_a_decided_one(daemon: RunningDaemon) -> None:
    client = daemon.client()
    client.reflect(SINCE)
    names = [proposal["id"] for proposal in client.proposals("open")["proposals"]]
    assert len(names) > 2
    listed, after = list[str](), ""
    while after is not None:
        reply = client.call("GET", f"/proposals?state=open&limit=1&after={after}")
        listed += [proposal["id"] for proposal in reply["proposals"]]
        after = reply["next"]
    assert listed == names
    client.reject_proposal(names[0])
    behind = client.call("GET", f"/proposals?state=open&limit=1&after={names[0]}")
    assert [proposal["id"] for proposal in behind["proposals"]] == names[1:2]


def test_lines_below_the_markers_are_cited_at_their_new_place(tmp_path: Path) -> None:
    below = "- O @Wren: Wren is the best machine.\n- O @Wren: Wren is too loud.\n"
    notes = NOTES | {"bank/opinions.md": f"# Opinions\n\n<!-- memoryd:begin -->\n<!-- memoryd:end -->\n\n{below}"}
    with daemon_with(tmp_path, notes) as daemon:
        client, page = daemon.client(), daemon.workspace / "bank/opinions.md"
        client.reflect(SINCE)
        line = page.read_text().splitlines().index("- O @Wren: Wren is too loud.") + 1
        assert f"Wren is too loud. [bank/opinions.md#L{line}]" in page.read_text()
        assert f"[bank/opinions.md#L{line}]" in (daemon.workspace / "bank/entities/wren.md").read_text()
        assert page.read_text().endswith(f"\n{below}")
        assert client.reflect(SINCE)["pages"] == []


def test_pages_depend_on_the_ledger_only_for_confidences(tmp_path: Path) -> None:
    with daemon_with(tmp_path, NOTES | {"bank/world.md": "# World\n\n- @Wren: Wren is grey.\n"}) as daemon:
        client = daemon.client()
        client.reflect(SINCE)
        before = notes_in(daemon.workspace / "bank")
        daemon.stop()
        for ledger in daemon.state.rglob("ledger.sqlite*"):
            ledger.unlink()
        daemon.start()
        again = daemon.client()
        again.sync()
        reply = again.reflect(SINCE)
        assert reply["steps"] == 1, "evidence is counted again"
        assert notes_in(daemon.workspace / "bank") == before


@settings(max_examples=whole_or(2, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.sampled_from(LINES), max_size=12), page=st.sampled_from(PAGES))
def test_reflecting_twice_equals_reflecting_once(daemon: RunningDaemon, lines: list[str], page: str) -> None:
    client = daemon.client()
    write_notes(
        daemon.workspace,
        {
            "memory/2026-10-05.md": "## Retain\n" + "\n".join(lines[::2]) + "\n",
            "memory/2026-10-06.md": "## Retain\n" + "\n".join(lines[1::2]) + "\n",
            "bank/entities/x.md": page,
        },
    )
    client.reflect(SINCE, allow_loss=True)
    before, queue = notes_in(daemon.workspace), client.proposals(None)
    again = client.reflect(SINCE, allow_loss=True)
    assert (again["pages"], again["steps"], again["proposals"]) == ([], 0, [])
    assert (notes_in(daemon.workspace), client.proposals(None)) == (before, queue)
    after = before["bank/entities/x.md"]
    if "memoryd:begin" not in page or "memoryd:end" not in page:
        assert after == page
    else:
        head, tail = page.split("<!-- memoryd:begin -->")[0], page.split("<!-- memoryd:end -->")[-1]
        assert after.startswith(head)
        assert after.endswith(tail)


def test_dry_run_reports_the_same_and_writes_nothing(daemon: RunningDaemon) -> None:
    client, before = daemon.client(), notes_in(daemon.workspace)
    plan = client.reflect(SINCE, dry_run=True)
    assert notes_in(daemon.workspace) == before
    assert client.proposals(None)["total"] == 0
    done = client.reflect(SINCE)
    for key in ("pages", "steps", "proposals", "refusals"):
        assert plan[key] == done[key]


def test_proposals_are_accepted_and_rejected_for_good(daemon: RunningDaemon) -> None:
    client, core = daemon.client(), daemon.workspace / "MEMORY.md"
    client.reflect(SINCE)
    stale, pinned = proposal_of_kind(daemon, "core-out"), proposal_of_kind(daemon, "core-in")
    done = client.accept_proposal(stale["id"])
    assert core.read_text() == "# Memory\n\n- Peter: The gate code is 4711.\n"
    assert done["state"] == "accepted"
    assert done["change"]
    client.accept_proposal(pinned["id"][:6])
    assert core.read_text().endswith("- Peter is allergic to nuts.\n")
    observation = proposal_of_kind(daemon, "observation")
    assert "torn" in observation["diff"] or "cable" in observation["diff"]
    client.reject_proposal(observation["id"])
    assert not client.reflect(SINCE)["proposals"]
    for name in (stale["id"], observation["id"]):
        with pytest.raises(InvalidRequest, match=r"is (accepted|rejected)"):
            client.accept_proposal(name)
    with pytest.raises(NotFound):
        client.proposal("0000")


def test_proposal_of_an_outdated_or_private_fact_is_withdrawn(daemon: RunningDaemon) -> None:
    client, core, log = daemon.client(), daemon.workspace / "MEMORY.md", daemon.workspace / "memory/2026-10-06.md"
    facts = {
        "gone": "- W(i=0.9) @Ida: Ida keeps bees in tangogarden.\n",
        "newer": "- W(i=0.9) @Ada: Ada has 3 hives at foxtrothill.\n",
    }
    log.write_text("## Retain\n" + "".join(facts.values()))
    private = daemon.workspace / "memory/2026-10-07.md"
    private.write_text("## Retain\n- W(i=0.9) @Pia: Pia is paid by the limalake club.\n")
    client.sync()
    client.reflect(SINCE)
    kept = {
        word: proposal["id"]
        for word in ("tangogarden", "foxtrothill", "limalake")
        for proposal in core_proposals(daemon, word)
    }
    assert len(kept) == 3
    log.write_text("## Retain\n" + facts["newer"])
    newest = daemon.workspace / "memory/2026-10-08.md"
    newest.write_text("## Retain\n- W(i=0.9) @Ada: Ada has 5 hives at foxtrothill.\n")
    private.write_text("---\nmemory: false\n---\n" + private.read_text())
    client.sync()
    before = core.read_text()
    for name in kept.values():
        with pytest.raises(InvalidRequest, match="is outdated"):
            client.accept_proposal(name)
        assert not client.proposal(name)["diff"]
    assert core.read_text() == before
    assert "limalake" not in str(client.proposals(None))
    client.reflect(SINCE, allow_loss=True)
    (current,) = core_proposals(daemon, "foxtrothill")
    client.accept_proposal(current["id"])
    assert core.read_text().count("foxtrothill") == 1
    private.write_text(private.read_text().removeprefix("---\nmemory: false\n---\n"))
    client.sync()
    client.reflect(SINCE)
    assert core_proposals(daemon, "limalake")[0]["id"] == kept["limalake"], (
        "it is proposed again when it is no longer private"
    )


PRIVATE = "---\nmemory: false\n---\n"
SECRET = "limalake"


def add_secret_and_reflect(daemon: RunningDaemon) -> list[Path]:
    """Have reflect write pages from two logs, one of them written by memoryd; return the logs."""
    note = daemon.workspace / "memory/2026-10-05.md"
    note.write_text(
        f"## Retain\n- W(i=0.9) @Pia: Pia is paid by the {SECRET} club.\n- B @Wren: I painted the {SECRET} pier.\n"
    )
    client = daemon.client()
    client.sync()
    client.retain(f"- W @Pia: Pia sold the {SECRET} house.")
    client.reflect(SINCE)
    assert SECRET in (daemon.workspace / "bank/entities/pia.md").read_text()
    return [path for path in note.parent.glob("*.md") if SECRET in path.read_text()]


def places_with(daemon: RunningDaemon, word: str) -> list[str]:
    """Return the notes, files of the daemon and calls that show a word."""
    client, places = daemon.client(), list[str]()
    for path in (*daemon.workspace.rglob("*.md"), *daemon.state.rglob("*")):
        if path.is_file() and word.encode() in path.read_bytes() and not path.read_bytes().startswith(PRIVATE.encode()):
            places.append(path.name)
    for page in ("bank/entities/pia.md", "bank/entities/wren.md", "bank/world.md", "bank/experience.md"):
        try:
            places += [f"get {page}"] if word in client.get(page)["text"] else []
        except NotFound:
            continue
    replies = {"search": client.search(word)["results"], "changes": client.changes()["changes"]}
    return places + [name for name, reply in replies.items() if word in str(reply)]


def test_f158_content_made_from_a_note_that_became_private_is_removed(daemon: RunningDaemon) -> None:
    """Pages, stored changes and all files lose what was made of a private note, and undo restores nothing of it."""
    notes, client = add_secret_and_reflect(daemon), daemon.client()
    assert len(notes) == 2
    runs = [change for change in client.changes()["changes"] if change["by"] == "reflect" and "wren" in change["path"]]
    assert {"get bank/entities/pia.md", "search", "changes"} <= set(places_with(daemon, SECRET))
    for path in notes:
        path.write_text(PRIVATE + path.read_text())
    client.sync()

    eventually(lambda: places_with(daemon, SECRET) == [])

    assert not (daemon.workspace / "bank/entities/pia.md").exists(), "it had no other content"
    wren = (daemon.workspace / "bank/entities/wren.md").read_text()
    assert "Another torn cable" in wren, "content from other notes stays"
    assert wren.startswith("---\naliases: [the server]\n---\n# Wren\n\nMine.\n")
    assert daemon.agent()["degraded"] == []
    with contextlib.suppress(InvalidRequest):
        # the rest of the change may be undone
        client.undo(runs[0]["id"])
    assert places_with(daemon, SECRET) == []
    (retained,) = client.changes(by="retain")["changes"]
    with pytest.raises(InvalidRequest, match="memory: false"):
        client.undo(retained["id"])
    for path in notes:
        path.write_text(path.read_text().removeprefix(PRIVATE))
    with pytest.raises(InvalidRequest, match="not kept") as refused:
        client.undo(retained["id"])
    assert "private" in refused.value.hint


def test_f158_forgetting_during_reflect_leaves_nothing_in_its_pages(daemon: RunningDaemon) -> None:
    """Forgetting during a run of reflect leaves nothing, neither in pages nor in stored changes."""
    client = daemon.client()
    for round_ in range(4):
        word = f"tangohill{round_}"
        kept = client.retain(f"- W @Pia: Pia hides the key of {word} below the stone.")
        client.sync()
        with ThreadPoolExecutor() as threads:
            run = threads.submit(daemon.client().reflect, SINCE)
            assert client.forget(kept["id"])["forgotten"]
            run.result()
        assert places_with(daemon, word) == []


def test_f158_change_beside_the_removed_text_stores_none_of_it(daemon: RunningDaemon) -> None:
    """A change is stored with the lines around it, also one made while text of a private note is removed."""
    client, world = daemon.client(), daemon.workspace / "bank/world.md"
    words = [f"limahill{number}" for number in range(3)]
    # the oldest facts, which are the last of the page
    notes = [daemon.workspace / f"memory/2026-09-1{number}.md" for number in range(3)]
    for note, word in zip(notes, words, strict=True):
        note.write_text(f"## Retain\n- W @Pia: Pia hides the key of {word} below the stone.\n")
    client.sync()
    client.reflect("2026-09-01")
    world.write_text(f"{world.read_text()}- W: The stone is grey.\n")
    client.sync()
    (beside,) = [memory["id"] for memory in client.memories()["memories"] if memory["text"] == "The stone is grey."]
    is_over = threading.Event()

    def weigh() -> None:
        for count in itertools.count(1):
            daemon.client().weigh_memory(beside, count % 9 / 10)
            if is_over.is_set():
                return

    with ThreadPoolExecutor() as threads:
        weighing = threads.submit(weigh)
        try:
            for note, word in zip(notes, words, strict=True):
                note.write_text(PRIVATE + note.read_text())
                eventually(lambda word=word: word not in world.read_text())  # type: ignore[misc]
        finally:
            is_over.set()
        weighing.result()
    eventually(lambda: [place for word in words for place in places_with(daemon, word)] == [])


@pytest.mark.parametrize("folder", ["memory/.away", "letters"])
def test_f158_content_made_from_a_note_moved_out_of_sight_is_removed(daemon: RunningDaemon, folder: str) -> None:
    """A note moved into a hidden or ignored folder is private; content of a deleted note stays in the pages."""
    notes, client = add_secret_and_reflect(daemon), daemon.client()
    (daemon.workspace / ".memoryignore").write_text("letters/\n")
    client.sync()
    gone = daemon.workspace / "memory/2026-10-03.md"
    gone.unlink()
    (daemon.workspace / folder).mkdir()
    (daemon.workspace / folder / gone.name).write_text("Another note of the same name.\n")
    for path in notes:
        path.rename(daemon.workspace / folder / path.name)
    client.sync()
    moved = {path.name for path in notes}
    eventually(lambda: set(places_with(daemon, SECRET)) == moved)
    assert "Another torn cable" in (daemon.workspace / "bank/entities/wren.md").read_text()


def test_f158_page_that_cannot_be_rewritten_is_withheld(tmp_path: Path) -> None:
    """With memory.readOnly, no page is rewritten, and no page made from a private note is shown."""
    with daemon_with(tmp_path) as daemon:
        notes = add_secret_and_reflect(daemon)
    write_config(tmp_path, daemon.workspace, None, memory={"readOnly": True})
    daemon.start()
    try:
        client = daemon.client()
        client.sync()
        assert SECRET in client.get("bank/entities/wren.md")["text"]
        for path in notes:
            path.write_text(PRIVATE + path.read_text())
        client.sync()
        eventually(
            lambda: (
                not [place for place in places_with(daemon, SECRET) if place == "search" or place.startswith("get ")]
            )
        )
        assert "Another torn cable" in client.get("memory/2026-10-03.md")["text"]
        for path in notes:
            path.write_text(path.read_text().removeprefix(PRIVATE))
        client.sync()
        eventually(lambda: "get bank/entities/wren.md" in places_with(daemon, SECRET))
    finally:
        daemon.stop()


def core_proposals(daemon: RunningDaemon, word: str) -> list[dict[str, Any]]:
    found = [daemon.client().proposal(row["id"]) for row in daemon.client().proposals()["proposals"]]
    return [dict(proposal) for proposal in found if word in proposal["diff"] and proposal["kind"] == "core-in"]


def test_accepted_proposal_follows_moved_lines_or_is_outdated(daemon: RunningDaemon) -> None:
    client, core = daemon.client(), daemon.workspace / "MEMORY.md"
    client.reflect(SINCE)
    stale, pinned = proposal_of_kind(daemon, "core-out"), proposal_of_kind(daemon, "core-in")
    core.write_text("A line above.\n\n" + core.read_text())
    client.accept_proposal(stale["id"])
    times = (stale["madeAt"], str(client.proposal(stale["id"])["decidedAt"]))
    assert {time[-6:] for time in times} == {"+05:30"}
    assert core.read_text() == "A line above.\n\n# Memory\n\n- Peter: The gate code is 4711.\n"
    core.write_text("Something else.\n")
    with pytest.raises(InvalidRequest, match="no longer clear"):
        client.accept_proposal(pinned["id"])
    assert core.read_text() == "Something else.\n"
    assert client.proposal(pinned["id"])["state"] == "outdated"


def test_page_that_would_lose_content_is_kept_unless_allowed(daemon: RunningDaemon) -> None:
    client, page = daemon.client(), daemon.workspace / "bank/entities/wren.md"
    client.reflect(SINCE)
    before = page.read_text()
    (daemon.workspace / "memory/2026-10-02.md").unlink()
    eventually(lambda: "memory/2026-10-02.md" in str(client.reflect(SINCE, dry_run=True)["refusals"]))
    refused = client.reflect(SINCE)["refusals"]
    assert "bank/entities/wren.md" in [refusal["path"] for refusal in refused]
    assert page.read_text() == before
    assert "bank/entities/wren.md" in client.reflect(SINCE, allow_loss=True)["pages"]
    assert "2026-10-02" not in page.read_text()


def test_deleted_markers_are_restored_only_by_a_proposal(daemon: RunningDaemon) -> None:
    client, page = daemon.client(), daemon.workspace / "bank/entities/wren.md"
    page.write_text("# Wren\n\nMine.\n")
    reply = client.reflect(SINCE)
    assert [refusal["path"] for refusal in reply["refusals"]] == ["bank/entities/wren.md"]
    assert page.read_text() == "# Wren\n\nMine.\n"
    assert not client.reflect(SINCE)["refusals"], "a waiting proposal is reported once"
    client.accept_proposal(proposal_of_kind(daemon, "markers")["id"])
    assert "bank/entities/wren.md" in client.reflect(SINCE)["pages"]
    assert page.read_text().startswith("# Wren\n\nMine.\n\n<!-- memoryd:begin -->\n")


def test_broken_markers_are_reported_with_their_line(daemon: RunningDaemon) -> None:
    page = daemon.workspace / "bank/entities/wren.md"
    page.write_text("# Wren\n\n<!-- memoryd:begin -->\n\nMine.\n")
    refusals = daemon.client().reflect(SINCE)["refusals"]
    assert [refusal["path"] for refusal in refusals] == ["bank/entities/wren.md"]
    assert refusals[0]["why"].startswith("line 3: ")
    assert "reflect left bank/entities/wren.md as it was" in str(daemon.client().status())
    daemon.stop()
    daemon.start()
    eventually(lambda: "reflect left bank/entities/wren.md as it was" in str(daemon.client().status()))
    assert page.read_text() == "# Wren\n\n<!-- memoryd:begin -->\n\nMine.\n"


def test_dry_run_works_on_read_only_memory(tmp_path: Path) -> None:
    with daemon_with(tmp_path, readOnly=True) as daemon:
        client, before = daemon.client(), notes_in(daemon.workspace)
        assert client.reflect(SINCE, dry_run=True)["pages"]
        assert notes_in(daemon.workspace) == before


def test_missed_schedule_is_caught_up_once(tmp_path: Path) -> None:
    # a time that is not now, so that a run can only be a missed one
    missed = (datetime.now(UTC) - timedelta(hours=6)).strftime("%H:%M")
    with daemon_with(tmp_path, reflect={"schedule": missed}, timezone="UTC") as daemon:
        page = daemon.workspace / "bank/world.md"
        eventually(page.exists)
        eventually(lambda: "reflected" in daemon.log.read_text())
        page.unlink()
        daemon.stop()
        daemon.start()
        daemon.client().sync()
        assert not page.exists()


def test_commands(daemon: RunningDaemon) -> None:
    dry = daemon.memoryctl("reflect", "--since", SINCE, "--dry-run")
    assert dry.returncode == Exit.DONE, dry.stderr
    assert dry.stdout.startswith("would write 5 pages")
    assert daemon.memoryctl("reflect", "--since", "soon").returncode == Exit.ERROR
    none = daemon.memoryctl("proposals", "list")
    assert (none.returncode, none.stdout) == (Exit.NOTHING_FOUND, "")
    done = json.loads(daemon.memoryctl("reflect", "--since", SINCE, "--json").stdout)
    listed = daemon.memoryctl("proposals", "list")
    assert listed.returncode == Exit.DONE
    proposed = {proposal["id"] for proposal in done["proposals"]}
    assert {line.split()[0] for line in listed.stdout.splitlines()} == proposed
    stale = proposal_of_kind(daemon, "core-out")
    shown = daemon.memoryctl("proposals", "show", stale["id"])
    assert "+- Peter: The gate code is 4711.\n" in shown.stdout
    accepted = daemon.memoryctl("proposals", "accept", stale["id"])
    assert accepted.stdout == f"{stale['id']} accepted: MEMORY.md\n"
    assert "memoryctl undo" in accepted.stderr
    assert daemon.memoryctl("proposals", "reject", stale["id"]).returncode == Exit.ERROR
    assert daemon.memoryctl("proposals", "show", "0000").returncode == Exit.NOTHING_FOUND
    states = json.loads(daemon.memoryctl("proposals", "list", "--state", "all", "--json").stdout)
    assert {proposal["state"] for proposal in states["proposals"]} == {"open", "accepted"}


def test_undone_memories_keep_the_heading_of_later_ones(daemon: RunningDaemon) -> None:
    client, log = daemon.client(), daemon.workspace / "memory/2026-10-04.md"
    client.reflect(SINCE)
    before = log.read_text()
    change = client.accept_proposal(proposal_of_kind(daemon, "retain")["id"])["change"]
    log.write_text(f"{log.read_text()}- W @Peter: Peter sold the dog.\n")
    client.undo(change)
    assert log.read_text() == f"{before}\n## Retain\n- W @Peter: Peter sold the dog.\n"
    client.sync()
    assert "Peter sold the dog." in [item["content"] for item in client.recall("sold the dog")["results"]]
