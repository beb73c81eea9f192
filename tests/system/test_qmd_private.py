"""The real daemon with the real qmd: private text is in no byte that either stores."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.daemon import RunningDaemon, write_config, write_workspace
from tests.real_qmd import real_qmd
from tests.sweeps import whole_or
from tests.system.qmd_daemon import (
    daemon_for,
    found,
    paths,
    processes_below,
    qmd_of,
    wait_for_qmd,
    with_qmd,
)
from tests.waiting import eventually

PRIVATE = "---\nmemory: false\n---\n"
ALL = [{"path": ".", "name": "all"}]
QUICK = {"debounceMs": 50, "interval": "10m"}
STEP = 0.4
"""Seconds between two reads of all stored bytes."""


def stored_words(daemon: RunningDaemon, *words: str) -> set[str]:
    """Return which of the words are in a file below the state folder."""
    content = b"".join(path.read_bytes() for path in below(daemon.state))
    return {word for word in words if word.encode() in content}


def below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def write_note(daemon: RunningDaemon, name: str, text: str) -> Path:
    path = daemon.workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def wait_for_answer(daemon: RunningDaemon, word: str, *expected: str) -> None:
    """Wait until qmd itself answers the word with these documents."""
    eventually(lambda: (found(daemon, word)["backend"], paths(found(daemon, word))) == ("qmd", list(expected)))


def test_private_notes_are_stored_nowhere(tmp_path: Path, workspace: Path) -> None:
    backend = {"backend": "qmd", "qmd": {"command": real_qmd(), "paths": ALL, "update": QUICK}}
    config = write_config(tmp_path, workspace, None, search={"exclude": ["*.secret.md"]}, memory=backend)
    daemon = RunningDaemon(tmp_path, config, workspace)
    (workspace / ".memoryignore").write_text("diary/\n/memory/[[]a] {b,c} !(d) \\\\*.md\n")
    write_note(daemon, "memory/front.md", f"{PRIVATE}The ocelotfront.\n")
    write_note(daemon, "memory/diary/rule.md", "The ocelotrule.\n")
    write_note(daemon, "memory/[a] {b,c} !(d) \\x.md", "The ocelotglob.\n")
    write_note(daemon, "memory/an.secret.md", "The ocelotexclude.\n")
    write_note(daemon, "elsewhere/front.md", f"{PRIVATE}The ocelotelsewhere.\n")
    write_note(daemon, "elsewhere/open.md", "The margayopen.\n")
    write_note(daemon, "memory/{x} [y] (z).md", "The margaysigns.\n")
    with daemon:
        wait_for_qmd(daemon)
        wait_for_answer(daemon, "margaysigns", "memory/{x} [y] (z).md")
        wait_for_answer(daemon, "margayopen", "qmd/all/elsewhere/open.md")
        secrets = ("ocelotfront", "ocelotrule", "ocelotglob", "ocelotexclude", "ocelotelsewhere")
        assert stored_words(daemon, "margaysigns", "margayopen", *secrets) == {"margaysigns", "margayopen"}
    eventually(lambda: not processes_below(tmp_path))


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Run a daemon for tests that use different words."""
    home = tmp_path_factory.mktemp("private")
    with with_qmd(home, write_workspace(home / "workspace"), paths=ALL, update=QUICK) as running:
        wait_for_qmd(running)
        yield running


def test_note_that_becomes_private_leaves_qmd(daemon: RunningDaemon) -> None:
    names, workspace = ("front", "rule", "moved", "outside"), daemon.workspace
    for name in names:
        folder = "elsewhere" if name == "outside" else "memory"
        write_note(daemon, f"{folder}/{name}.md", f"The {name}ocelot.\n")
    write_note(daemon, "memory/open.md", "The margay.\n")
    words = tuple(f"{name}ocelot" for name in names)
    daemon.client().sync(wait="indexed")
    wait_for_answer(daemon, "outsideocelot", "qmd/all/elsewhere/outside.md")
    wait_for_answer(daemon, "ruleocelot", "memory/rule.md")
    assert stored_words(daemon, *words) == set(words)

    write_note(daemon, "memory/front.md", f"{PRIVATE}The frontocelot.\n")
    write_note(daemon, "elsewhere/outside.md", f"{PRIVATE}The outsideocelot.\n")
    (workspace / ".memoryignore").write_text("rule.md\ndrafts/\n")
    (workspace / "memory" / "drafts").mkdir()
    (workspace / "memory" / "moved.md").rename(workspace / "memory" / "drafts" / "moved.md")
    eventually(lambda: not stored_words(daemon, *words), step=STEP)
    wait_for_answer(daemon, "margay", "memory/open.md")

    (workspace / ".memoryignore").write_text("")
    wait_for_answer(daemon, "ruleocelot", "memory/rule.md")
    wait_for_answer(daemon, "movedocelot", "memory/drafts/moved.md")


def test_f158_edited_or_forgotten_text_leaves_qmd(daemon: RunningDaemon) -> None:
    """No byte of a forgotten or edited line remains in qmd's index, and the receipt waits for that."""
    stated = "## Retain\n- W @Peter: The ocelotforgotten is in the cellar\n- W @Peter: The lynx sleeps\n"
    write_note(daemon, "memory/2025-11-27.md", stated)
    write_note(daemon, "memory/edited.md", "The ocelotedited.\n\nThe margayedited.\n")
    daemon.client().sync(wait="indexed")
    wait_for_answer(daemon, "ocelotforgotten", "memory/2025-11-27.md")
    assert stored_words(daemon, "ocelotforgotten", "ocelotedited") == {"ocelotforgotten", "ocelotedited"}

    home = Path(qmd_of(daemon)["home"])
    done = daemon.client().forget("ocelotforgotten")

    assert (done["forgotten"], done["unfinished"]) == (True, [])
    assert stored_words(daemon, "ocelotforgotten") == set()
    write_note(daemon, "memory/edited.md", "The margayedited.\n")
    eventually(lambda: not any(b"ocelotedited" in path.read_bytes() for path in below(home)))
    wait_for_answer(daemon, "margayedited", "memory/edited.md")


@pytest.mark.torture
def test_forgetting_reports_a_locked_qmd_and_cleans_a_missing_one(tmp_path: Path, workspace: Path) -> None:
    program = tmp_path / "qmd"
    program.symlink_to(real_qmd())
    with with_qmd(tmp_path, workspace, command=str(program), paths=ALL, update=QUICK) as daemon:
        write_note(
            daemon, "memory/2025-11-27.md", "## Retain\n- W @Peter: The ocelot sleeps\n- W @Peter: The lynx eats\n"
        )
        daemon.client().sync(wait="indexed")
        wait_for_qmd(daemon)
        wait_for_answer(daemon, "ocelot", "memory/2025-11-27.md")
        home = Path(qmd_of(daemon)["home"])
        index = home / "xdg-cache" / "qmd"
        locking = apsw.Connection(str(index / "index.sqlite"), flags=apsw.SQLITE_OPEN_READONLY)
        locking.execute("BEGIN")
        locking.execute("SELECT count(*) FROM documents").fetchall()

        done = daemon.client().forget("ocelot")

        assert not done["forgotten"]
        assert any("qmd may hold it still" in step for step in done["unfinished"])
        locking.close()
        eventually(lambda: not stored_words(daemon, "ocelot") and not daemon.degraded())
    program.unlink()
    changed = daemon_for(tmp_path, workspace, command=str(program), paths=ALL, update=QUICK)
    with changed:
        changed.client().sync(wait="indexed")
        assert changed.client().forget("lynx")["unfinished"] == []
        assert stored_words(changed, "lynx") == set()


@pytest.mark.sweep
def test_page_made_from_a_private_note_is_not_returned_by_qmd(tmp_path: Path, workspace: Path) -> None:
    stated = "## Retain\n- W @Peter: The ocelot is in the cellar\n"
    with with_qmd(tmp_path, workspace, paths=ALL, update=QUICK) as daemon:
        write_note(daemon, "memory/2025-11-27.md", stated)
        daemon.client().sync(wait="indexed")
        daemon.client().reflect("2025-11-01")
    qmd = {"command": real_qmd(), "paths": ALL, "update": QUICK}
    write_config(tmp_path, workspace, None, memory={"backend": "qmd", "qmd": qmd, "readOnly": True})
    with daemon:
        wait_for_qmd(daemon)
        eventually(lambda: "memory/2025-11-27.md" in paths(found(daemon, "ocelot")))
        write_note(daemon, "memory/2025-11-27.md", f"{PRIVATE}{stated}")
        eventually(lambda: not paths(found(daemon, "ocelot")))
        wait_for_qmd(daemon)
        assert "ocelot" in (workspace / "bank/entities/peter.md").read_text(), "no page is rewritten"
        for _ in range(whole_or(4, 20)):
            assert not paths(found(daemon, "ocelot"))


def test_no_new_note_reaches_qmd_while_the_rules_are_unreadable(tmp_path: Path, workspace: Path) -> None:
    (workspace / ".memoryignore").mkdir()
    (workspace / "memory" / "diary.md").write_text("The ocelot.\n")
    with with_qmd(tmp_path, workspace, paths=ALL, update=QUICK) as daemon:
        before = qmd_of(daemon)["lastUpdateAt"]
        eventually(lambda: qmd_of(daemon)["lastUpdateAt"] not in (None, before))
        assert stored_words(daemon, "ocelot") == set()
        (workspace / ".memoryignore").rmdir()
        wait_for_answer(daemon, "ocelot", "memory/diary.md")


@pytest.mark.torture
def test_vectors_of_a_private_note_are_deleted(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    with with_qmd(tmp_path, workspace, starter_model, searchMode="vsearch", paths=ALL, update=QUICK) as daemon:
        write_note(daemon, "memory/diary.md", "The ocelot.\n")
        assert daemon.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        home = Path(qmd_of(daemon)["home"])
        vector = vector_of(home, "ocelot")
        assert holds_part_of(vector, home)
        write_note(daemon, "memory/diary.md", f"{PRIVATE}The ocelot.\n")
        eventually(lambda: not stored_words(daemon, "ocelot") and not holds_part_of(vector, home), step=STEP)


def vector_of(home: Path, word: str) -> bytes:
    """Return the vector that qmd has of the text with this word."""
    database = apsw.Connection(str(home / "xdg-cache" / "qmd" / "index.sqlite"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = database.execute(
        "SELECT c.vectors, r.chunk_offset FROM vectors_vec_rowids AS r, vectors_vec_vector_chunks00 AS c, content AS t"
        " WHERE c.rowid = r.chunk_id AND r.id LIKE t.hash || '%' AND t.doc LIKE ?",
        (f"%{word}%",),
    )
    blob, offset = next(iter(rows))
    size = len(blob) // 1024
    database.close()
    return bytes(blob[offset * size : (offset + 1) * size])


def holds_part_of(vector: bytes, home: Path) -> bool:
    """Tell whether a part of it lies in a file; the whole may lie on two pages."""
    content = b"".join(path.read_bytes() for path in below(home))
    return any(vector[at : at + 64] in content for at in range(0, len(vector), 64))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunningDaemon, Path, Path]:
    """A daemon that runs no more, whose qmd has read of an ocelot; where that kept it, and a copy of all folders."""
    home = tmp_path_factory.mktemp("stopped")
    with with_qmd(home, write_workspace(home / "workspace"), paths=ALL, update=QUICK) as daemon:
        write_note(daemon, "memory/diary.md", "The ocelot.\n")
        daemon.client().sync(wait="indexed")
        wait_for_answer(daemon, "ocelot", "memory/diary.md")
        qmd = Path(qmd_of(daemon)["home"])
    copy = tmp_path_factory.mktemp("copy") / "home"
    shutil.copytree(home, copy, symlinks=True)
    return daemon, qmd, copy


@pytest.fixture
def left(stopped: tuple[RunningDaemon, Path, Path]) -> tuple[Path, Path]:
    """Return the home and the folder of qmd as the daemon left them, but that the ocelot has become private."""
    daemon, qmd, copy = stopped
    shutil.rmtree(daemon.home)
    shutil.copytree(copy, daemon.home, symlinks=True)
    assert stored_words(daemon, "ocelot")
    write_note(daemon, "memory/diary.md", f"{PRIVATE}The ocelot.\n")
    return daemon.home, qmd


@pytest.mark.parametrize("how", ["qmd is gone", "another backend"])
def test_index_of_a_removed_qmd_keeps_no_private_note(left: tuple[Path, Path], how: str) -> None:
    home, _ = left
    workspace = home / "workspace"
    if how == "another backend":
        changed = RunningDaemon(home, write_config(home, workspace, None), workspace)
    else:
        changed = daemon_for(home, workspace, command="/nowhere/qmd", paths=ALL, update=QUICK)
    with changed:
        changed.client().sync(wait="indexed")
        eventually(lambda: not stored_words(changed, "ocelot"), step=STEP)


@pytest.mark.torture
def test_index_of_an_older_version_is_cleaned(left: tuple[Path, Path]) -> None:
    home, qmd = left
    (qmd / "memoryd.json").write_text('{"updatedAt": 1790000000.0}')
    with with_qmd(home, home / "workspace", paths=ALL, update=QUICK) as daemon:
        eventually(lambda: not stored_words(daemon, "ocelot"), step=STEP)
