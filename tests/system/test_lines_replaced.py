"""Lines of a note are replaced by their citation under the real daemon: only if they still say what the caller saw."""

from collections.abc import Iterator
from typing import Any

import pytest

from memoryd.errors import InvalidRequest, NotNow
from tests.daemon import RunningDaemon, indexed_daemon

NOTE = "# Pier\r\n\r\nThe pier is green.\r\nIt has two lamps.\r\n\r\n- W: the pier is of wood\r\n"
PAGE = "# Peter\n\nMine.\n\n<!-- memoryd:begin -->\n- lives in Graz\n<!-- memoryd:end -->\n"


@pytest.fixture
def daemon(tmp_path: Any) -> Iterator[RunningDaemon]:
    workspace = tmp_path / "workspace"
    for name, text in {
        "memory/pier.md": NOTE,
        "bank/entities/Peter.md": PAGE,
        "memory/private.md": "---\nmemory: false\n---\nThe key is under the pot.\n",
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_bytes(text.encode())
    with indexed_daemon(tmp_path, workspace) as running:
        yield running


def replace(daemon: RunningDaemon, citation: str, old: str, new: str) -> Any:
    return daemon.client().call("POST", "/lines/replace", {"citation": citation, "old": old, "new": new})


def test_lines_are_replaced_with_existing_line_ends_and_undone(daemon: RunningDaemon) -> None:
    pier = daemon.workspace / "memory" / "pier.md"
    reply = replace(daemon, "memory/pier.md#L3-L4", "The pier is green.\nIt has two lamps.", "The pier is blue.")
    assert (reply["path"], reply["changed"], reply["searchable"]) == ("memory/pier.md", True, True)
    assert reply["notes"] == []
    assert "blue" in daemon.client().search("of what colour is the pier")["results"][0]["snippet"]
    assert pier.read_bytes() == NOTE.replace("green.\r\nIt has two lamps.", "blue.").encode()
    (change,) = daemon.client().changes(by="lines")["changes"]
    assert (change["id"], change["why"]) == (reply["change"], "lines were corrected by their place")
    daemon.client().undo(reply["change"])
    assert pier.read_bytes() == NOTE.encode()
    assert "green" in daemon.client().search("of what colour is the pier")["results"][0]["snippet"]


def test_moved_lines_are_found_and_changed_ones_refused(daemon: RunningDaemon) -> None:
    pier = daemon.workspace / "memory" / "pier.md"
    pier.write_text("# New head\n\nThe pier is green.\n\nThe pier is grey.\n")
    replace(daemon, "memory/pier.md#L5", "The pier is green.", "The pier is blue.")
    assert pier.read_text() == "# New head\n\nThe pier is blue.\n\nThe pier is grey.\n"
    for old in ("The pier is green.", "The pier is", "The pier is grey"):
        with pytest.raises(InvalidRequest, match="says something else by now: nothing was written"):
            replace(daemon, "memory/pier.md#L5", old, "The pier is red.")
    assert "red" not in pier.read_text()


def test_same_text_changes_nothing(daemon: RunningDaemon) -> None:
    reply = replace(daemon, "memory/pier.md#L4", "It has two lamps.", "It has two lamps.")
    assert (reply["changed"], reply["change"]) == (False, None)


@pytest.mark.parametrize(
    ("citation", "old", "new", "why"),
    [
        ("memory/pier.md", "# Pier", "# Quay", "names no lines of a note"),
        ("session:main#Q1", "x", "y", "names no lines of a note"),
        ("memory/pier.md#L9-L3", "x", "y", "not a line range"),
        ("memory/none.md#L1", "x", "y", "says something else"),
        ("../outside.md#L1", "x", "y", "no note of the workspace"),
        ("memory/private.md#L4", "The key is under the pot.", "It is gone.", "is not written"),
        ("memory/pier.md#L1", "# Pier", "---\nmemory: false\n---", "would be private"),
        ("bank/entities/Peter.md#L6", "- lives in Graz", "- lives in Linz", "reflect writes"),
        ("bank/entities/Peter.md#L5", "<!-- memoryd:begin -->", "mine", "reflect writes"),
        ("memory/pier.md#L3", "The pier is green.", "<!-- memoryd:begin -->\n<!-- memoryd:end -->", "reflect writes"),
    ],
)
def test_refused_replacement_changes_nothing(
    daemon: RunningDaemon, citation: str, old: str, new: str, why: str
) -> None:
    notes = {path: path.read_bytes() for path in daemon.workspace.rglob("*.md")}
    with pytest.raises((InvalidRequest, NotNow), match=why):
        replace(daemon, citation, old, new)
    assert {path: path.read_bytes() for path in daemon.workspace.rglob("*.md")} == notes
