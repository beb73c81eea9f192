"""The core file under the real daemon: its owner edits it explicitly, within a limit, and can undo."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.errors import InvalidRequest, TooLarge
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon
from tests.system.over_socket import send

TEXT = "# Memory\r\n\r\n## People\r\n- Peter lives in Graz.\r\n"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_bytes(TEXT.encode())
    (workspace / "SOUL.md").write_text("Be brief.\n")
    with indexed_daemon(tmp_path, workspace, memory={"core": {"maxChars": 500}}) as running:
        yield running


def test_core_is_edited_and_undone(daemon: RunningDaemon) -> None:
    core = daemon.workspace / "MEMORY.md"
    shown = daemon.memoryctl("core", "show")
    assert "Peter lives in Graz." in shown.stdout
    assert "Be brief." in shown.stdout
    assert daemon.memoryctl("core", "replace", "Graz", "Wien").returncode == Exit.DONE
    assert daemon.memoryctl("core", "append", "- The key is under the mat.").returncode == Exit.DONE
    inserted = daemon.client().core_insert("- Anna is his sister.", after="## People")
    assert core.read_bytes() == (
        b"# Memory\r\n\r\n## People\r\n- Anna is his sister.\r\n"
        b"- Peter lives in Wien.\r\n- The key is under the mat.\r\n"
    )
    assert daemon.client().core()["sha256"] == inserted["sha256"]
    for change in daemon.client().changes(by="core")["changes"]:
        daemon.client().undo(change["id"])
    assert core.read_bytes() == TEXT.encode()


def test_edit_with_outdated_hash_is_refused(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        seen = memory.core()["sha256"]
        memory.core_append("- one", expected=seen[:8])
        with pytest.raises(InvalidRequest, match="has changed"):
            memory.core_append("- two", expected=seen)
        with pytest.raises(InvalidRequest, match="characters"):
            memory.core_append("- two", expected="ab")
        with pytest.raises(InvalidRequest, match="2 times"):
            memory.core_replace("- ", "* ")
    assert "- two" not in (daemon.workspace / "MEMORY.md").read_text()


def test_edit_makes_core_neither_private_nor_adds_front_matter(daemon: RunningDaemon) -> None:
    core = daemon.workspace / "MEMORY.md"
    with daemon.client() as memory:
        core.write_text("---\ntitle: Mine\n---\n\n- one\n")
        with pytest.raises(InvalidRequest, match="would be private"):
            memory.core_replace("title: Mine", "memory: false")
        assert memory.core_replace("title: Mine", "title: Ours")["changed"]
        core.unlink()
        with pytest.raises(InvalidRequest, match="front matter"):
            memory.core_append("---\ntitle: Mine\n---\n")
        assert not core.exists()
        assert memory.core_append("- one")["changed"]
        assert memory.core_append("---")["changed"]


def test_size_limit_of_core_is_kept(daemon: RunningDaemon) -> None:
    with daemon.client() as memory, pytest.raises(TooLarge, match=r"maxChars is 500"):
        memory.core_append("x" * 500)
    (daemon.workspace / "MEMORY.md").write_text("x" * 900 + "\n- old\n")
    with daemon.client() as memory:
        # a file beyond the limit may become smaller
        assert memory.core_replace("- old", "")["changed"]
        with pytest.raises(TooLarge):
            memory.core_append("- new")


def test_only_the_owner_edits_core_and_never_soul(daemon: RunningDaemon) -> None:
    (daemon.workspace / "MEMORY.md").unlink()
    (daemon.workspace / "memory.md").write_text("# Mine\n")
    with daemon.client() as memory:
        assert memory.core()["path"] == "memory.md"
        memory.core_append("- one")
    assert (daemon.workspace / "memory.md").read_text() == "# Mine\n- one\n"
    assert (daemon.workspace / "SOUL.md").read_text() == "Be brief.\n"
    for key in ("agent:main:telegram:group:7", "agent:main:main"):
        reply = send(daemon.socket, "POST", "/v1/core/append", {"text": "x", "sessionKey": key})
        assert reply.status == 403, "no session may, on whatever socket"
