"""`reference/files.md`: the files of memoryd, from the functions that daemon and clients use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoryd.config import paths
from memoryd.config.agents import LEDGER_NAME
from memoryd.config.paths import LOCK_NAME
from memoryd.daemon.log_output import LOG_NAME
from memoryd.moving import replacing
from tests.docs.tables import table

HOME = Path("/home/you")
HEAD = "# Files on disk\n\n"
TAIL = """
`XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `XDG_CACHE_HOME` and `XDG_RUNTIME_DIR` are honoured. If a socket path is longer
than the system allows (107 bytes on Linux, 103 on macOS), the first shorter one that fits is used. `<hash>` is a hash
of the workspace's real path.

A damaged index is set aside as `index.sqlite.corrupt-…` and deleted once a new one is complete. On a full or read-only
disk the index continues to answer and catches up later; `status` says why it is not updated. A damaged ledger is set
aside as `ledger.sqlite.damaged-…` and never deleted. Before a migration the ledger is copied to
`ledger.sqlite.before-…`: [what may be lost](../explanation/storage.md).

Reading, indexing and searching write nothing into a workspace. These files in it are written:

- Notes, when something is [stated or decided](../explanation/writing.md): the log of the day, `memory/YYYY-MM-DD.md`,
  by `retain`, `remember`, capture and imports; `memory/imported/` by imports; pages below `bank/` by reflect, between
  its markers; the core file when it is edited; and any note when a memory in it is pinned, weighed, replaced, merged or
  forgotten, when a proposal is accepted, and when a conflict is settled or a change is undone. `SOUL.md` never changes.
- The files of [questions and answers](../explanation/conversations.md): `memory/sessions/` with its `.stamps.json`,
  `memory/archive/`, `memory/topics.txt` and `memory/qa-index.json` (a damaged one is kept as
  `qa-index.json.damaged-…`).
- `.memory/forgotten`, keyed hashes of what was forgotten. Their key is beside the ledger:
  `ledger.sqlite.forgotten-key`.
- [Golden questions](../how-to/evaluate.md), `.memory/eval.jsonl`, only by `memoryctl eval suggest` and `accept`. Their
  last results are beside the index, in `index.sqlite-eval.json`, by hashes of the questions.
- The journal of this machine, `.memory/machines/<id>.jsonl`, only with
  [a common secret](../how-to/several-machines.md).

With `memory.readOnly: true` the daemon writes none of these.
"""


def page() -> str:
    """Return the page."""
    with _at_home():
        state, cache = paths.state_dir(), paths.cache_dir()
        index = paths.workspace_state_dir(HOME / "notes").parent / "<name>-<hash>" / "index.sqlite"
        rows = [
            ("configuration", paths.config_file(), "`$MEMORYD_CONFIG`", "the defaults hold"),
            ("index of a workspace", index, "`store.path`", "rebuilt from the notes"),
            (
                "conversations of an agent",
                index.with_name("conversations-<agent>.sqlite"),
                "beside the index",
                "read again",
            ),
            ("ledger of a workspace", index.with_name(LEDGER_NAME), "beside the index", "its history is lost, no note"),
            ("rules last read of `.memoryignore`", f"{index}-ignore", "beside the index", "private until read again"),
            ("socket", "$XDG_RUNTIME_DIR/memoryd/memoryd.sock", "`$MEMORYD_SOCKET`", "created again at once"),
            ("socket without a runtime folder", paths.socket_path(), "`$MEMORYD_SOCKET`", "created again at once"),
            ("tokens sent to providers today", paths.spending_file(), "–", "the day's budget begins again"),
            (
                "questions sent to an endpoint for text today",
                paths.text_calls_file(),
                "–",
                "the day's limit begins again",
            ),
            ("what a restore replaced", paths.state_dir() / replacing.FOLDER, "–", "the restore cannot be undone"),
            ("batch jobs under way", paths.batch_jobs_dir(), "–", "their notes are sent again"),
            (
                "log, if no journal stores it",
                state / "log" / LOG_NAME,
                "–",
                "created again; at most four files are kept",
            ),
            ("token of the loopback port", paths.http_token_file(), "`http.tokenFile`", "another one is created"),
            ("lock", state / LOCK_NAME, "–", "a second daemon can start"),
            ("file that tests the watcher", paths.probe_dir(), "–", "created again"),
            ("qmd's files for an agent", paths.qmd_home("<agent>"), "–", "created again"),
            ("state folder", state, "`$MEMORYD_STATE_DIR`", "everything in it is lost"),
            ("models", paths.models_dir(), "`local.modelCacheDir`", "downloaded again"),
            ("similarity of unrelated texts, by model", paths.calibration_dir(), "–", "measured again"),
            ("cache folder", cache, "–", "downloaded again"),
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
