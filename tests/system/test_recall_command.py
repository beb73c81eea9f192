"""`memoryctl recall`: its output and exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon, write_config

LOG = """# Thursday

## Retain

- W @Peter: Peter is in Marrakech until Monday.
- O(c=0.9) @Peter: Peter prefers concise replies in chat.
- B @Heron: I mended the gauge at the weir with copper wire.
"""
OLDER = "# Monday\n\n## Retain\n\n- W @Door: The door code of the mill is 4172.\n"
NEWER = "# Friday\n\n## Retain\n\n- W @Door: The door code of the mill is 9031.\n"


def write_notes(folder: Path) -> Path:
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n- The gateway runs on alder.\n")
    for day, text in (("2025-11-27", LOG), ("2025-10-06", OLDER), ("2025-11-14", NEWER)):
        (folder / "memory" / f"{day}.md").write_text(text)
    return folder


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("recalled")
    workspace = write_notes(home / "ws")
    with indexed_daemon(home, workspace) as running:
        yield running


def test_note_explains_when_scores_do_not_give_the_order(daemon: RunningDaemon) -> None:
    by_version = daemon.memoryctl("recall", "door code of the mill 4172")
    assert "before better scores" in by_version.stderr
    assert "the scores" not in daemon.memoryctl("recall", "copper wire gauge", "-k", "1").stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["which replies does Peter prefer"], Exit.DONE),
        (["quantum chromodynamics lattice"], Exit.NOTHING_FOUND),
        (["which replies does Peter prefer", "--strict"], Exit.DONE),
        (["which replies does Peter prefer", "--since", "neverday"], Exit.ERROR),
        ([" "], Exit.USAGE),
    ],
)
def test_exit_code(daemon: RunningDaemon, words: list[str], code: Exit) -> None:
    assert daemon.memoryctl("recall", *words).returncode == code


def test_strict_reports_that_an_arm_is_missing(tmp_path: Path) -> None:
    workspace = write_notes(tmp_path / "ws")
    config = write_config(tmp_path, workspace, tmp_path / "missing.gguf")
    with RunningDaemon(tmp_path, config, workspace) as running:
        running.client().sync()
        command = ("recall", "which replies does Peter prefer")
        assert running.memoryctl(*command).returncode == Exit.DONE
        assert running.memoryctl(*command, "--strict").returncode == Exit.INCOMPLETE


def test_bundle_is_printed_for_a_prompt(daemon: RunningDaemon) -> None:
    printed = daemon.memoryctl("recall", "which replies does Peter prefer", "--bundle")
    assert printed.stdout.startswith("<core-memory>\n")
    assert "Peter prefers concise replies in chat." in printed.stdout
    assert "MEMORY.md: " in printed.stderr
    shaped = daemon.memoryctl("recall", "which replies does Peter prefer", "--encode", "openai")
    assert "".join(part["text"] for part in json.loads(shaped.stdout)["messages"][0]["content"]) == printed.stdout
    small = daemon.memoryctl("recall", "which replies does Peter prefer", "--budget", "1")
    assert (small.stdout, small.returncode) == ("", Exit.DONE)
