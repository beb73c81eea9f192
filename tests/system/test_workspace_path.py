"""A workspace whose path has a symlink, which is changed while the daemon runs."""

from pathlib import Path

import pytest

from memoryd.errors import NotNow
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually


def repoint(link: Path, target: Path) -> None:
    new = link.with_name("new-link")
    new.symlink_to(target)
    new.rename(link)


def test_answers_are_incomplete_while_the_path_leads_elsewhere(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name / "memory").mkdir(parents=True)
        (tmp_path / name / "memory" / "note.md").write_text(f"The quetzal of the {name}.\n")
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "first")
    with RunningDaemon(tmp_path, write_config(tmp_path, link, None), link) as daemon:
        client = daemon.client()
        client.sync()

        def health() -> tuple[bool, int]:
            found = client.search("first")["health"]
            return found["complete"], found["pendingFiles"]

        def parts() -> set[str]:
            return {str(part["part"]) for part in client.status()["agents"][0]["degraded"]}

        assert health() == (True, 0)
        assert "workspace" not in parts()
        repoint(link, tmp_path / "second")
        assert health() == (False, 1)
        reply = client.search("second")
        assert reply["results"] == []
        assert "restart memoryd" in str(reply["reason"])
        eventually(lambda: "workspace" in parts())
        link.unlink()
        assert health() == (False, 1)
        repoint(link, tmp_path / "first")
        assert health() == (True, 0)
        eventually(lambda: "workspace" not in parts())


def test_notes_of_another_folder_are_not_read(tmp_path: Path) -> None:
    """They would be subject to its own `.memoryignore`, which was not read."""
    for name in ("first", "second"):
        (tmp_path / name / "memory").mkdir(parents=True)
        (tmp_path / name / "memory" / "note.md").write_text(f"The quetzal of the {name}.\n")
    (tmp_path / "second" / ".memoryignore").write_text("memory/note.md\n")
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "first")
    with RunningDaemon(tmp_path, write_config(tmp_path, link, None), link) as daemon:
        client = daemon.client()
        client.sync()
        repoint(link, tmp_path / "second")
        assert client.get("memory/note.md")["text"] == "The quetzal of the first.\n"


def test_nothing_is_written_while_the_path_leads_elsewhere(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name / "memory").mkdir(parents=True)
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "first")
    with RunningDaemon(tmp_path, write_config(tmp_path, link, None), link) as daemon:
        client = daemon.client()
        assert client.retain("W: one")["created"]
        repoint(link, tmp_path / "second")
        with pytest.raises(NotNow, match="another folder"):
            client.retain("W: two")
        assert not list((tmp_path / "second").rglob("*.md"))
        repoint(link, tmp_path / "first")
        assert client.retain("W: two")["created"]
