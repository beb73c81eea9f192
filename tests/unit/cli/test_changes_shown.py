"""How `memoryctl changes` shows a change of a file and of the ledger only."""

from memoryd.cli.memory.changes import change_lines
from memoryd.replies.changes import ChangeReply

OF_A_FILE: ChangeReply = {
    "id": 7,
    "at": "2026-11-23T12:00:00Z",
    "by": "retain",
    "agent": None,
    "why": "it was stated",
    "path": "memory/2026-11-23.md",
    "run": None,
    "state": "done",
    "undoes": None,
    "undoable": True,
    "hashBefore": None,
    "hashAfter": "ab" * 32,
    "standing": True,
    "lines": [],
}
OF_THE_LEDGER: ChangeReply = {
    **OF_A_FILE,
    "by": "tiers",
    "path": "",
    "hashAfter": None,
    "lines": [{"line": 1, "removed": ['"1a2b3c4d" core, 20 touches'], "added": ['"1a2b3c4d" working, 3 touches']}],
}


def test_change_of_a_file_shows_path_and_hash() -> None:
    (shown,) = change_lines(OF_A_FILE)
    assert "memory/2026-11-23.md" in shown
    assert "abababababab" in shown
    (gone,) = change_lines({**OF_A_FILE, "hashAfter": None})
    assert "  gone  " in gone


def test_change_of_the_ledger_shows_its_lines_and_no_file() -> None:
    head, *lines = change_lines(OF_THE_LEDGER)
    assert "tiers  no file, but the ledger  it was stated" in head
    assert lines == ['    - "1a2b3c4d" core, 20 touches', '    + "1a2b3c4d" working, 3 touches']
    _, *undone = change_lines(OF_THE_LEDGER, taken_back=True)
    assert undone == ['    - "1a2b3c4d" working, 3 touches', '    + "1a2b3c4d" core, 20 touches']
