"""Every hit is compared with its file when it is shown; here the index never follows the disk by itself."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from tests.fault.stage import NEITHER, Stage
from tests.sweeps import swept
from tests.waiting import eventually

MAPLE = "# Trees\n\nThe maple stands by the brook.\n\n## Birds\n\nThe wren sings at dawn.\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One daemon for all tests, which scans only on request."""
    made = Stage(tmp_path_factory.mktemp("held"))
    made.start(NEITHER)
    yield made
    made.end()


@pytest.fixture
def stage(running: Stage) -> Stage:
    """Return a stage with the three indexed notes that each test starts with, among them `memory/trees.md`."""
    for entry in running.workspace.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    running.write(".memoryignore", "")
    running.write("MEMORY.md", "# Memory\n\nThe gateway is called alder.\n")
    running.write("memory/first.md", "# First\n\nThe lease of birch ends in May.\n")
    running.write("memory/trees.md", MAPLE)
    running.sync()
    return running


def ask(stage: Stage, question: str = "maple brook", **options: Any) -> Any:
    with Client(stage.daemon.socket, timeout=30) as client:
        return client.search(question, **options)


def found_paths(stage: Stage, question: str = "maple brook", **options: Any) -> list[str]:
    """Return the paths of hits that hold the last word of the question, after comparing each with its file."""
    reply = ask(stage, question, **options)
    for hit in reply["results"]:
        assert_matches_file(stage, hit)
    word = question.split()[-1]
    return [hit["path"] for hit in reply["results"] if word in hit["snippet"]]


def assert_matches_file(stage: Stage, hit: Any) -> None:
    lines = (stage.workspace / hit["path"]).read_bytes().decode(errors="replace").split("\n")
    shown = hit["snippet"].partition("\n\nSource: ")[0].rstrip("\r\n").split("\n")
    first, last = hit["snippetStartLine"], hit["snippetEndLine"]
    assert [line.rstrip("\r") for line in lines[first - 1 : last]] == [line.rstrip("\r") for line in shown]
    assert hit["startLine"] <= first <= last <= hit["endLine"]
    assert first <= hit["focus"]["startLine"] <= hit["focus"]["endLine"] <= last


def assert_incomplete(reply: Any) -> None:
    assert reply["results"] == []
    assert reply["health"]["complete"] is False
    assert reply["health"]["pendingFiles"] >= 1
    assert reply["reason"]


def test_hit_in_an_unchanged_file_is_shown(stage: Stage) -> None:
    reply = ask(stage)
    assert (reply["results"][0]["path"], reply["health"]["complete"]) == ("memory/trees.md", True)
    assert_matches_file(stage, reply["results"][0])


def test_edited_line_is_not_shown_and_answer_is_incomplete(stage: Stage) -> None:
    stage.write("memory/trees.md", MAPLE.replace("by the brook", "in the garden"))
    assert_incomplete(reply := ask(stage))
    assert "changed" in reply["reason"]
    stage.sync()
    assert found_paths(stage, "maple garden") == ["memory/trees.md"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_moved_lines_are_shown_at_their_new_place(stage: Stage, end: str) -> None:
    stage.write("memory/moved.md", f"# Moved{end}{end}Here the hornbeam grew.{end}")
    stage.sync()
    stage.write("memory/moved.md", f"Written later.{end}{end}# Moved{end}{end}Here the hornbeam grew.{end}")
    reply = ask(stage, "hornbeam")
    (hit,) = reply["results"]
    assert_matches_file(stage, hit)
    assert (hit["startLine"], hit["endLine"], hit["citation"]) == (3, 5, "memory/moved.md#L3-L5")
    assert hit["snippet"].endswith("Source: memory/moved.md#L3-L5")
    # the index does not know the rest of the file yet
    assert reply["health"]["complete"] is False


def test_moved_line_is_found_among_twenty_thousand(stage: Stage) -> None:
    lines = [f"Line {number} tells nothing.\n" for number in range(20_000)]
    lines[17_003] = "The hornbeam grew here.\n"
    stage.write("memory/long.md", "".join(lines))
    stage.sync()
    stage.write("memory/long.md", "".join(["One more.\n"] * 7 + lines))
    assert found_paths(stage, "hornbeam") == ["memory/long.md"]
    stage.write("memory/long.md", "".join(lines).replace("hornbeam", "rowantree"))
    assert found_paths(stage, "hornbeam") == []


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", "The hornbeam is old.\n"),
        ("utf-8-sig", "The hornbeam is old.\n"),
        ("latin-1", "The hornbeam is a h\xeatre, they say.\n"),
        ("utf-8", "The hornbeam\0 is old, and \x07 rings.\n"),
    ],
)
def test_text_in_other_encodings_is_followed_when_it_moves(stage: Stage, encoding: str, text: str) -> None:
    stage.write("memory/odd.md", text.encode(encoding))
    stage.sync()
    stage.write("memory/odd.md", f"Above.\n{text}".encode(encoding))
    (hit,) = ask(stage, "hornbeam")["results"]
    assert (hit["startLine"], hit["endLine"]) == (2, 2)
    stage.write("memory/odd.md", text.replace("hornbeam", "rowantree").encode(encoding))
    assert ask(stage, "hornbeam")["results"] == []


def test_touched_file_is_shown_unchanged(stage: Stage) -> None:
    os.utime(stage.memory / "trees.md")
    stage.write("memory/trees.md", MAPLE)
    assert [hit["path"] for hit in ask(stage)["results"]] == ["memory/trees.md"]
    eventually(lambda: ask(stage)["health"]["complete"] is True)


def test_deleted_note_is_gone_from_the_next_answer(stage: Stage) -> None:
    def is_complete() -> bool:
        stage.write("memory/trees.md", MAPLE)
        stage.sync()
        (stage.memory / "trees.md").unlink()
        reply = ask(stage)
        assert reply["results"] == []
        return (reply["health"]["complete"], reply["health"]["pendingFiles"]) == (True, 0)

    # the other notes, just written, may be read once more meanwhile
    eventually(is_complete)


def test_other_hits_replace_deleted_notes(stage: Stage) -> None:
    for number in range(40):
        words = " ".join(f"word{number}of{count}" for count in range(20))
        stage.write(f"memory/more{number}.md", f"The maple stands by its brook. {words}\n")
    stage.sync()
    for number in range(0, 40, 2):
        (stage.memory / f"more{number}.md").unlink()
    (stage.memory / "trees.md").unlink()
    found = found_paths(stage, max_results=20)
    assert len(found) > 10
    stage.sync()
    assert found_paths(stage, max_results=20) == found


def test_copy_replaces_the_deleted_note_it_was_folded_into(stage: Stage) -> None:
    for name in ("one", "two", "three"):
        stage.write(f"memory/{name}.md", "The hornbeam says the same in each of these notes.\n")
    stage.sync()
    (hit,) = ask(stage, "hornbeam", explain=True)["results"]
    assert hit["duplicates"] == 2
    (stage.workspace / hit["path"]).unlink()
    (next_hit,) = ask(stage, "hornbeam", explain=True)["results"]
    assert next_hit["duplicates"] == 1
    assert hit["path"] not in (next_hit["path"], *str(next_hit["explain"]["copies"]))
    (stage.workspace / next_hit["explain"]["copies"][0].partition("#")[0]).unlink()
    (last,) = ask(stage, "hornbeam", explain=True)["results"]
    assert (last["path"], last["duplicates"]) == (next_hit["path"], 0)


def test_misses_are_compared_with_their_files_too(stage: Stage) -> None:
    for number in range(5):
        stage.write(f"memory/m{number}.md", f"# Number {number}\n\nThe hornbeam of m{number}.\n")
    stage.sync()
    missed = ask(stage, "hornbeam", explain=True, max_results=1)["misses"]
    assert missed
    gone, edited = missed[0]["path"], missed[-1]["path"]
    (stage.workspace / gone).unlink()
    (stage.workspace / edited).write_text("The hornbeam was felled.\n")
    reply = ask(stage, "hornbeam", explain=True, max_results=1)
    assert reply["misses"]
    assert not {gone, edited} & {miss["path"] for miss in reply["misses"]}


def test_other_text_of_same_size_and_time_is_noticed(stage: Stage) -> None:
    path = stage.memory / "trees.md"
    before = path.stat()
    path.unlink()
    path.write_text(MAPLE.replace("brook", "house"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    # incomplete, or read again because of an earlier question
    assert found_paths(stage) == []


def test_emptied_note_is_not_shown(stage: Stage) -> None:
    stage.write("memory/trees.md", "")
    assert_incomplete(ask(stage))


def test_renamed_note_is_not_shown_by_its_old_name(stage: Stage) -> None:
    (stage.memory / "trees.md").rename(stage.memory / "plants.md")
    assert found_paths(stage) in ([], ["memory/plants.md"])
    stage.sync()
    assert found_paths(stage) == ["memory/plants.md"]


def test_swapped_notes_are_shown_by_their_new_names(stage: Stage) -> None:
    trees, first, aside = stage.memory / "trees.md", stage.memory / "first.md", stage.memory / "aside"
    trees.rename(aside)
    first.rename(trees)
    aside.rename(first)
    # the question starts a scan, and may already see its result
    assert found_paths(stage) in ([], ["memory/first.md"])
    assert found_paths(stage, "lease birch") in ([], ["memory/trees.md"])
    stage.sync()
    assert found_paths(stage) == ["memory/first.md"]


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _link_outside(path: Path) -> None:
    outside = path.parent.parent.parent / "outside.md"
    outside.write_text(MAPLE)
    path.symlink_to(outside)


def _link_inside(path: Path) -> None:
    (path.parent / "other.md").write_text(MAPLE)
    path.symlink_to("other.md")


@pytest.mark.parametrize("put", [_fifo, _folder, _link_outside, _link_inside])
def test_hit_is_not_shown_when_its_file_is_no_document(stage: Stage, put: Callable[[Path], None]) -> None:
    path = stage.memory / "trees.md"
    path.unlink()
    put(path)
    assert found_paths(stage) == []


def test_folder_that_became_a_link_is_not_followed(stage: Stage) -> None:
    outside = stage.home / "outside"
    shutil.copytree(stage.memory, outside, dirs_exist_ok=True)
    shutil.rmtree(stage.memory)
    stage.memory.symlink_to(outside)
    assert found_paths(stage) == []


def test_missing_folder_makes_the_answer_incomplete_and_keeps_rows(stage: Stage) -> None:
    stage.memory.rename(stage.home / "elsewhere")
    assert_incomplete(reply := ask(stage))
    assert "out of sight" in reply["reason"]
    assert "memory/trees.md" in stage.paths()
    (stage.home / "elsewhere").rename(stage.memory)
    assert found_paths(stage) == ["memory/trees.md"]


@pytest.mark.parametrize("head", ["---\nmemory: false\n---\n", "---\nmemory: never\n---\n"])
def test_note_that_became_private_is_not_shown(stage: Stage, head: str) -> None:
    stage.write("memory/trees.md", f"{head}{MAPLE}")
    assert ask(stage)["results"] == []


def test_note_that_became_ignored_is_not_shown(stage: Stage) -> None:
    stage.write(".memoryignore", "trees.md\n")
    assert ask(stage)["results"] == []
    assert found_paths(stage, "lease birch") == ["memory/first.md"]


def test_folder_that_became_ignored_is_not_shown(stage: Stage) -> None:
    stage.write(".memoryignore", "/memory/\n")
    assert ask(stage)["results"] == ask(stage, "lease birch")["results"] == []
    assert found_paths(stage, "gateway alder") == ["MEMORY.md"]


def test_unreadable_ignore_file_leaves_the_last_rules_in_force(stage: Stage) -> None:
    stage.write(".memoryignore", b"\xff\xfe\xd8rubbish")
    assert found_paths(stage) == ["memory/trees.md"]


def _front_matter(stage: Stage) -> None:
    stage.write("memory/trees.md", f"---\nmemory: false\n---\n{MAPLE}")


def _ignored(stage: Stage) -> None:
    stage.write(".memoryignore", "trees.md\n")


def _removed(stage: Stage) -> None:
    (stage.memory / "trees.md").unlink()


@swept("change", [_front_matter, _ignored, _removed], 1)
def test_changes_while_the_daemon_was_down_apply_before_the_first_scan(
    stage: Stage, change: Callable[[Stage], None]
) -> None:
    # makes the first scan slow, so that the questions come before its end
    for number in range(1_000):
        stage.write(f"bank/{number % 50}/{number}.md", f"filler n{number}\n")
    stage.sync()
    stage.daemon.stop()
    change(stage)
    stage.daemon.start()
    with Client(stage.daemon.socket, timeout=30) as client:
        is_ready = False
        while not is_ready:
            is_ready = client.health()["ready"]
            assert "brook" not in str(client.search("maple brook"))
    assert ask(stage)["results"] == []
