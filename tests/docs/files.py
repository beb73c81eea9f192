"""`reference/files.md`: the files of memoryd, from the functions that daemon and clients use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoryd.config import paths
from memoryd.config.agents import LEDGER_NAME
from memoryd.config.paths import LOCK_NAME
from memoryd.daemon.log_output import LOG_NAME
from tests.docs.tables import table

HOME = Path("/home/you")
HEAD = "# Files on disk\n\n"
TAIL = """
`XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `XDG_CACHE_HOME` and `XDG_RUNTIME_DIR` are honoured. A socket path that is longer
than the system allows (107 bytes on Linux, 103 on macOS) is replaced by the first short one that fits. `<hash>` is of
the workspace's real path.

A damaged index is set aside as `index.sqlite.corrupt-…` and deleted once a new one is complete. An index on a disk
that is full or read-only continues to answer from its content; `status` says why it is not updated, and it
catches up by itself. A damaged ledger is set aside as `ledger.sqlite.damaged-…` and never deleted, and one that is
about to be migrated is kept as `ledger.sqlite.before-…` first: [what may be lost](../explanation/storage.md).

Reading, indexing and searching write nothing into a workspace. Three kinds of files in it are written:

- Notes, when something is [stated or decided](../explanation/writing.md): the log of the day, `memory/YYYY-MM-DD.md`,
  by `retain`, `remember`, capture and imports; notes of other programs, below `memory/imported/`, by imports;
  pages below `bank/` by reflect, between its markers; the core file
  when it is edited; and a note that holds a memory when that is pinned, weighed, merged, forgotten or undone, or a
  proposal to change it is accepted.
  `memoryctl undo` takes a change back, but nothing that was forgotten. `SOUL.md` stays as it is.
- The files of [questions and answers](../explanation/conversations.md): `memory/sessions/` with its `.stamps.json`,
  `memory/archive/`, `memory/qa-index.json`, a damaged one of which is kept as `qa-index.json.damaged-…`, and
  `memory/topics.txt`. They are when a turn is added, an answer marked, a session marked "do not remember", forgotten,
  put away or brought back, and when the files are pruned for their size.

- [Golden questions](../how-to/evaluate.md), `.memory/eval.jsonl`, by `memoryctl eval suggest` and `accept` alone.
  How they were answered last is beside the index, in `index.sqlite-eval.json`, by hashes of the questions.
- The journal of this machine, `.memory/machines/<id>.jsonl`, for the others on the same folder: with
  [a common secret](../how-to/several-machines.md) alone.

With `memory.readOnly: true` memoryd itself writes nothing at all.
"""


def page() -> str:
    """Return the page."""
    with _at_home():
        state, cache = paths.state_dir(), paths.cache_dir()
        index = paths.workspace_state_dir(HOME / "notes").parent / "<name>-<hash>" / "index.sqlite"
        rows = [
            ("configuration", paths.config_file(), "`$MEMORYD_CONFIG`", "the defaults hold"),
            ("index of a workspace", index, "`store.path`", "made anew from the notes"),
            (
                "conversations of an agent",
                index.with_name("conversations-<agent>.sqlite"),
                "beside the index",
                "read again",
            ),
            ("ledger of a workspace", index.with_name(LEDGER_NAME), "beside the index", "its history is lost, no note"),
            ("rules last read of `.memoryignore`", f"{index}-ignore", "beside the index", "private until read again"),
            ("socket", "$XDG_RUNTIME_DIR/memoryd/memoryd.sock", "`$MEMORYD_SOCKET`", "made anew at once"),
            ("socket without a runtime folder", paths.socket_path(), "`$MEMORYD_SOCKET`", "made anew at once"),
            ("tokens sent to providers today", paths.spending_file(), "–", "the budget of the day begins anew"),
            (
                "questions sent to an endpoint for text today",
                paths.text_calls_file(),
                "–",
                "the day's bound begins anew",
            ),
            ("what a restore replaced", paths.replaced_dir(), "–", "it cannot be taken back any more"),
            ("batch jobs under way", paths.batch_jobs_dir(), "–", "their notes are sent again"),
            (
                "log, where no journal keeps it",
                state / "log" / LOG_NAME,
                "–",
                "made anew; the oldest of four goes by itself",
            ),
            ("token of the loopback port", paths.http_token_file(), "`http.tokenFile`", "another one is made"),
            ("lock", state / LOCK_NAME, "–", "made anew; a second daemon takes over"),
            ("what the watcher tests itself with", paths.probe_dir(), "–", "made anew"),
            ("what qmd keeps for an agent", paths.qmd_home("<agent>"), "–", "made anew"),
            ("state folder", state, "`$MEMORYD_STATE_DIR`", "all of what lies in it"),
            ("models", paths.models_dir(), "`local.modelCacheDir`", "fetched again"),
            ("what each model makes of strangers", paths.calibration_dir(), "–", "measured again"),
            ("cache folder", cache, "–", "fetched again"),
        ]
        shown = [(what, f"`{str(where).replace(str(HOME), '~')}`", other, gone) for what, where, other, gone in rows]
    return HEAD + table(("what", "where", "another place", "if it is deleted"), shown) + TAIL


@contextmanager
def _at_home() -> Iterator[None]:
    """Hide the environment of this machine."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("XDG_", "MEMORYD_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(HOME)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
