"""All checks of `memoryctl doctor`: what each looks at, and what to do where it is not well.

Whatever does a check is `<SECTION>_LOOKS[id]` of its module. The page of checks is made of this table.
"""

from typing import Final

from msgspec import Struct

DEEP_SECONDS: Final = 600.0


class DoctorCheck(Struct, frozen=True):
    """One check. `id` is `<section>.<what>` and stays; a person reads `title`; limits are in seconds."""

    id: str
    title: str
    looks_at: str
    advice: str
    needs_config: bool = True
    seconds: float = 30.0
    deep_seconds: float = DEEP_SECONDS

    @property
    def section(self) -> str:
        """The section that it stands in."""
        return self.id.partition(".")[0]


CHECKS: Final = (
    DoctorCheck(
        "config.valid",
        "configuration",
        "the configuration file and `MEMORYD_*` variables, as the daemon reads them: all problems at once",
        "correct each key that is named: `memoryctl config check` has the line of each",
        needs_config=False,
    ),
    DoctorCheck(
        "config.notices",
        "configuration",
        "keys that are understood and do not do what they seem to: without effect here, or read in another way",
        "take the key out, or write it as the notice says",
    ),
    DoctorCheck(
        "config.masked",
        "configuration",
        "places of keys that a backup left out and a restore could not fill: `MEMORYD_MASKED_1` stands there",
        "write the key, or a reference to it, in its stead, then `memoryctl reload`",
        needs_config=False,
    ),
    DoctorCheck(
        "config.exposure",
        "privacy",
        "keys in files that other users can read, and notes that go to a provider unencrypted",
        "close the file (`chmod 600`), use `https://`",
    ),
    DoctorCheck(
        "config.loaded",
        "configuration",
        "whether the running daemon has read this very file, as it is now, and what of it holds only after a restart",
        "let the daemon read it again: `memoryctl reload`; what that names: `memoryctl service restart`",
    ),
    DoctorCheck(
        "socket.answers",
        "daemon",
        "whether there is a socket at its path, whether it is ours, and whether memoryd answers behind it",
        "start memoryd; a dead socket of ours is removed by `--fix`; one of somebody else has to be moved away by hand",
        needs_config=False,
    ),
    DoctorCheck(
        "socket.access",
        "socket",
        "owner and mode of the socket (0600) and of its folder (0700)",
        "`chmod 600` the socket, `chmod 700` its folder, or name another one in `MEMORYD_SOCKET`",
        needs_config=False,
    ),
    DoctorCheck(
        "socket.path",
        "socket",
        "whether the path of the socket is longer than the system allows",
        "name a shorter one in `MEMORYD_SOCKET`, for the daemon and for all who ask it",
        needs_config=False,
    ),
    DoctorCheck(
        "socket.version",
        "daemon",
        "whether daemon and `memoryctl` are of one version",
        "restart the daemon after an update, or update the older of the two",
        needs_config=False,
    ),
    DoctorCheck(
        "socket.unreachable",
        "socket",
        "sockets of the daemon, those of single agents too, whose paths do not lead to it",
        "look at what lies at the path, and restart the daemon",
        needs_config=False,
    ),
    DoctorCheck(
        "daemon.lock",
        "lock",
        "who holds the lock of the state folder, and whether that is who answers on the socket",
        "stop the other daemon, or ask it at its socket; a lock file that nobody holds does no harm",
        needs_config=False,
    ),
    DoctorCheck(
        "daemon.heartbeats",
        "heartbeats",
        "whether event loop, writers and watcher of the daemon get on, by its own word",
        "a part that is stuck has the daemon restarted, or end itself; `memoryctl service restart` does it now",
        needs_config=False,
    ),
    DoctorCheck(
        "permissions.ours",
        "permissions",
        "whether other users can read the state folder with its indexes and ledgers, or the configuration",
        "take the rights away: `--fix` does, as `chmod go-rwx`",
        needs_config=False,
    ),
    DoctorCheck(
        "permissions.workspace",
        "permissions",
        "whether other users of the machine can read the notes",
        "`chmod go-rwx` the workspace, unless others are meant to read it",
    ),
    DoctorCheck(
        "permissions.writable",
        "permissions",
        "whether we may write where memoryd has to: state, cache, and the workspace unless `memory.readOnly`",
        "give the folder back to its owner (`chown`, `chmod u+rwx`), or mount the disk for writing",
    ),
    DoctorCheck(
        "disk.space",
        "disk",
        "free bytes and inodes below state folder, cache and workspaces",
        "make room: `memoryctl models list` shows models that can be fetched again",
    ),
    DoctorCheck(
        "inotify.watches",
        "file events",
        "`fs.inotify.max_user_watches` against the number of folders that are watched (Linux)",
        "`sudo sysctl -w fs.inotify.max_user_watches=…`, and the same line in `/etc/sysctl.d/60-memoryd.conf`",
    ),
    DoctorCheck(
        "inotify.instances",
        "file events",
        "`fs.inotify.max_user_instances` against those that your processes have (Linux)",
        "`sudo sysctl -w fs.inotify.max_user_instances=512`, and the same line in `/etc/sysctl.d/60-memoryd.conf`",
    ),
    DoctorCheck(
        "watcher.alive",
        "watcher",
        "whether the daemon hears of changes, which it proves to itself with a file of its own every 30 s",
        "follow the reason that is given; until then the folder is only scanned",
    ),
    DoctorCheck(
        "watcher.scan",
        "scanner",
        "when each workspace was compared with its index last, against `sync.reconcileSeconds`",
        "ask for a look: `memoryctl sync`; if that does not end, restart the daemon",
    ),
    DoctorCheck(
        "notes.indexed",
        "notes",
        "whether there is a workspace, and whether notes lie in it that nobody looks at",
        "name the folder in `agents.defaults.workspace`, and other places in `memorySearch.extraPaths`",
    ),
    DoctorCheck(
        "index.sound",
        "index",
        "pages, tables, word index and rows of the index and of the index of conversations; `--deep`: every index of "
        "every table too",
        "nothing in it is lost: `--fix` has it set aside and made anew from the notes",
        seconds=120,
    ),
    DoctorCheck(
        "index.disk",
        "index and disk",
        "whether the index holds what is on disk, by the hashes of 50 notes; `--deep`: of all",
        "`memoryctl sync` catches up, `memoryctl reindex --force` reads all notes again; `--fix` asks for that",
        seconds=60,
    ),
    DoctorCheck(
        "ledger.sound",
        "ledger",
        "pages and version of the ledger, and damaged ones beside it",
        "a damaged one is set aside by the daemon when it starts; one of a newer memoryd needs that memoryd",
        seconds=60,
    ),
    DoctorCheck(
        "replaced.kept",
        "replaced",
        "what a restore replaced and kept: how much, since when",
        "`memoryctl restore --undo` takes the last one back; when all is well, remove the folder `replaced` "
        "of the state folder",
        needs_config=False,
    ),
    DoctorCheck(
        "memories.written",
        "memories",
        "retained lines and pages, for lines that look like a memory and are none",
        "correct the line: `docs/how-to/memories.md` says how a memory is written",
    ),
    DoctorCheck(
        "queue.moving",
        "queue",
        "files to read and passages to embed that are waiting, and whether they become fewer",
        "`memoryctl status` says what is degraded; a provider that fails, or a spent budget, keeps passages waiting",
    ),
    DoctorCheck(
        "embedder.provider",
        "embeddings",
        "who makes vectors, and whether that works: of a local model its file, of a provider its answers to sentences "
        "of ours, never notes. One elsewhere is asked with `--ask-providers` only, for that may cost some tokens",
        "fetch the model (`memoryctl models pull`), or correct `memorySearch.remote` and the key",
        seconds=90,
    ),
    DoctorCheck(
        "embedder.file",
        "model",
        "the file of the local embedding model: what it says of itself, and whether it is whole; `--deep`: its hash, "
        "and whether it tells texts apart",
        "fetch it again: `memoryctl models remove`, `memoryctl models pull`; `--fix` does, after asking",
    ),
    DoctorCheck(
        "reranker.file",
        "reranker",
        "the file of the reranker that `query.rerank.modelPath` names",
        "correct the key, or fetch the model: `memoryctl models pull`",
    ),
    DoctorCheck(
        "llm.access",
        "text model",
        "the file of the text model, or the key of its endpoint, which is not asked",
        "correct `memory.llm`; all else goes on without",
    ),
    DoctorCheck(
        "qmd.usable",
        "qmd",
        "where `memory.backend` is `qmd`: whether it is there, recent enough, and opens its database",
        "`npm install -g @tobilu/qmd`, with the Node that runs it; meanwhile the builtin index answers",
        seconds=90,
    ),
    DoctorCheck(
        "http.token",
        "loopback port",
        "where `http.enabled`: whether its token file can be trusted",
        "`chmod 600` the file, or delete it: memoryd makes one",
    ),
    DoctorCheck(
        "clock.sane",
        "clock",
        "the clock against the newest notes and the last scan, and the time zone that days are counted in",
        "set the clock (`timedatectl set-ntp true`); `touch` files that are dated in the future",
    ),
    DoctorCheck(
        "service.units",
        "service",
        "what systemd or launchd say of memoryd: installed, enabled, running, its program there, going on after "
        "logout, its files as the configuration wants them",
        "`memoryctl service install` writes the files anew, which `--fix` does too; `loginctl enable-linger` lets it "
        "go on after logout",
        needs_config=False,
    ),
    DoctorCheck(
        "log.size",
        "log",
        "how much the log below the state folder takes",
        "delete old files there; memoryd makes new ones",
        needs_config=False,
    ),
    DoctorCheck(
        "hooks.programs",
        "hooks",
        "whether the hooks of ours in the settings of Claude Code run programs that are there",
        "install them again: `memoryctl hooks install claude-code`; `--fix` does",
        needs_config=False,
    ),
    DoctorCheck(
        "hooks.mcp",
        "MCP",
        "whether entries for memoryd in the settings of MCP clients run programs that are there",
        "correct the command in that file: `docs/how-to/mcp.md`",
        needs_config=False,
    ),
)
SECTIONS: Final = tuple(dict.fromkeys(check.section for check in CHECKS))
"""In the order in which they are shown."""
