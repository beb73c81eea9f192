"""A git repository of a team, without a working tree: read trees, make commits, fetch and push.

memoryd uses only refs below `refs/memoryd/`, also in a checkout of a person, whose branches, index and files are left
alone. `local` is the state of the shared files on this machine, `base` the commit of the remote on which it is based,
`remote` the last fetched commit.
"""

import asyncio
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha1
from pathlib import Path
from secrets import token_hex

from msgspec import Struct

from memoryd.config.team import is_on_disk
from memoryd.domain.memories.sharing import MAX_FILES, MAX_PEOPLE, TEAM_FILE
from memoryd.errors import InvalidRequest, SidecarError
from memoryd.files.writing import make_private_folder, replace_file
from memoryd.team.git import IDENTITY, PROGRESS, RECEIVE_PACK, Git, OutputTooLargeError, check_git

BRANCH = "refs/heads/main"
LOCAL = "refs/memoryd/local"
BASE = "refs/memoryd/base"
REMOTE = "refs/memoryd/remote"
NETWORK_SECONDS = 60.0
"""Time limit of git for a fetch or a push."""
REGULAR = "100644"
_BATCH = 200
"""Most paths in one command line."""
NOTES = "notes/"
_FOLDER = "40000"
_ROW_BYTES = 320
"""Most bytes of the row of a file in a listing."""
_REJECTED = ("non-fast-forward", "fetch first", "[rejected]", "incorrect old", "but expected", "File exists")
_REFUSED = ("[remote rejected]", "hook declined", "protected branch", "denied to", "permission to", "read only")


class TreeFile(Struct, frozen=True):
    """A file of a commit, or a folder that was not listed."""

    mode: str
    blob: str
    size: int

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder, whose files were not listed."""
        return self.mode.lstrip("0") == _FOLDER


class PushResult(Struct, frozen=True):
    """The result of a push. `is_behind` means that another push was faster; `refused` and `offline` are reasons."""

    is_behind: bool = False
    refused: str = ""
    offline: str = ""


class TeamRepository:
    """The repository in a folder: our own (`is_own`), which is created if missing, or the checkout of a person."""

    def __init__(self, folder: Path, *, is_own: bool) -> None:
        self._folder = folder
        self._is_own = is_own
        inner = folder / ".git"
        self._git = Git(inner if not is_own and inner.exists() else folder, self.clear_locks)
        self._trees: dict[str, Mapping[str, TreeFile]] = {}
        self._folders: dict[tuple[str, str, int], Mapping[str, TreeFile]] = {}

    async def open(self) -> None:
        """Create our own repository if it is missing. Raises SidecarError if git or the checkout cannot be used."""
        await check_git(self._git.folder)
        if self._is_own and not (self._folder / "HEAD").exists():
            make_private_folder(self._folder)
            await self._git.run("init", "--quiet", "--bare", "--template=", "--initial-branch=main")
        elif not self._is_own and (await self._git.attempt("rev-parse", "--git-dir")).code:
            raise SidecarError(
                f"{self._folder} is no checkout of a git repository", hint="set team.checkout, or unset it"
            )
        self.clear_locks()
        # drafts with shared texts that a killed daemon left
        for draft in self._git.folder.glob(f"blob-{'[0-9a-f]' * 8}"):
            draft.unlink(missing_ok=True)

    def clear_locks(self) -> None:
        """Remove locks and partial packs left by a killed git, as far as they are ours."""
        folder = self._git.folder
        left = list((folder / "refs" / "memoryd").glob("*.lock"))
        left += [folder / name for name in ("packed-refs.lock", "HEAD.lock", "config.lock")] if self._is_own else []
        left += (folder / "objects" / "pack").glob("tmp_*") if self._is_own else []
        for path in left:
            path.unlink(missing_ok=True)

    async def author(self) -> str:
        """Return the e-mail address that git writes into commits. Raises InvalidRequest if none is configured."""
        result = await self._git.attempt("var", "GIT_AUTHOR_IDENT")
        name, _, rest = result.stdout.decode(errors="replace").partition("<")
        if result.code != 0 or not name.strip() or ">" not in rest:
            raise InvalidRequest("git does not know who you are", hint=IDENTITY)
        return rest.partition(">")[0]

    async def commit_of(self, ref: str) -> str | None:
        """Return the commit of a ref, None if the ref does not exist."""
        return await self._git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")

    async def set_ref(self, ref: str, commit: str) -> None:
        """Point a ref of ours at a commit."""
        await self._git.run("update-ref", ref, commit)

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Return whether a commit is an ancestor of another one, or the same."""
        return await self._git.answer("merge-base", "--is-ancestor", older, newer) is not None

    async def merge_base(self, first: str, second: str) -> str | None:
        """Return the newest common ancestor of two commits, None if there is none."""
        return await self._git.answer("merge-base", first, second)

    async def parents(self, commit: str) -> list[str]:
        """Return the parents of a commit."""
        return (await self._git.run("rev-list", "--parents", "-n", "1", commit, "--")).decode().split()[1:]

    async def times_since(self, base: str | None, tip: str) -> list[int]:
        """Return the times of the commits after `base`, in Unix seconds."""
        commits = (tip,) if base is None else (tip, f"^{base}")
        return [int(time) for time in (await self._git.run("log", "--format=%ct", *commits, "--")).split()]

    async def tree(self, commit: str | None, people: Collection[str], *, most_bytes: int = 0) -> Mapping[str, TreeFile]:
        """Return the files of a commit in our places, with the notes of `people`.

        Any other folder is a single entry. So is the folder of a person whose listing is longer than `most_bytes`, by
        default the length for `MAX_FILES` notes.
        """
        if commit is None:
            return {}
        if commit not in self._trees:
            listing = await self._git.run(
                "ls-tree", "-z", "--long", "--full-tree", commit, "--", TEAM_FILE, "memory/", NOTES
            )
            # the tree of a commit never changes; the last few are cached
            self._trees = {**dict(list(self._trees.items())[-3:]), commit: dict(_tree_rows(listing))}
        files = dict[str, TreeFile]()
        for path, file in self._trees[commit].items():
            is_wanted = file.is_folder and path.startswith(NOTES) and path.removeprefix(NOTES) in people
            files |= await self._notes(path, file, most_bytes) if is_wanted else {path: file}
        return files

    async def _notes(self, folder: str, file: TreeFile, most_bytes: int) -> Mapping[str, TreeFile]:
        key = (folder, file.blob, most_bytes)
        if key not in self._folders:
            command = ("ls-tree", "-r", "-z", "--long", "--full-tree", file.blob)
            try:
                listing = await self._git.run(*command, most_bytes=most_bytes or MAX_FILES * _ROW_BYTES)
                notes = await asyncio.to_thread(
                    lambda: {f"{folder}/{path}": note for path, note in _tree_rows(listing)}
                )
            except OutputTooLargeError:
                notes = {folder: file}
            # a folder is needed in its local, sent and fetched versions, but not in older ones
            old = [cached for cached in self._folders if cached[0] == folder][:-3]
            recent = [(cached, files) for cached, files in self._folders.items() if cached not in old]
            self._folders = {**dict(recent[-4 * MAX_PEOPLE :]), key: notes}
        return self._folders[key]

    async def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of blobs by id."""
        return await self._git.blobs(list(dict.fromkeys(ids)))

    async def commit(
        self, parent: str | None, put: Mapping[str, bytes], remove: Collection[str], message: str
    ) -> str | None:
        """Commit changed files on top of a parent. Return the commit, None if the tree is unchanged.

        Only the folders of these files are read from the parent, since other folders may be of any size.
        """
        changes = dict[str, str | None](dict.fromkeys(remove))
        files = list(put.items())
        for at in range(0, len(files), _BATCH):
            changes |= await self._write_blobs(files[at : at + _BATCH])
        before = None
        if parent is not None:
            before = (await self._git.run("rev-parse", f"{parent}^{{tree}}")).decode().strip()
        tree = await self._tree_with(before, changes) or await self._write_tree({})
        if tree == before:
            return None
        parents = () if parent is None else ("-p", parent)
        is_signed = await self._git.answer("config", "--type=bool", "--get", "commit.gpgSign") == "true"
        sign = ("-S",) if is_signed else ()
        commit = await self._git.run("commit-tree", tree, *parents, *sign, "-m", message)
        return commit.decode().strip()

    async def _tree_with(self, tree: str | None, changes: Mapping[str, str | None]) -> str | None:
        """Write a tree with changed files, by their paths in it (None: removed). Return it, None if it is empty."""
        entries = {} if tree is None else _entries(await self._git.run("cat-file", "tree", tree), len(tree) // 2)
        inner = dict[str, dict[str, str | None]]()
        for path, blob in changes.items():
            name, _, rest = path.partition("/")
            if rest:
                inner.setdefault(name, {})[rest] = blob
            elif blob is not None:
                entries[name] = (REGULAR, blob)
            else:
                entries.pop(name, None)
        for name, below in inner.items():
            mode, old = entries.get(name, ("", ""))
            if mode != _FOLDER and not any(below.values()):
                continue
            subtree = await self._tree_with(old if mode == _FOLDER else None, below)
            entries.pop(name, None)
            entries |= {} if subtree is None else {name: (_FOLDER, subtree)}
        return await self._write_tree(entries) if entries else None

    async def _write_tree(self, entries: Mapping[str, tuple[str, str]]) -> str:
        rows = {
            os.fsencode(f"{name}/" if mode == _FOLDER else name): mode.encode()
            + b" "
            + os.fsencode(name)
            + b"\0"
            + bytes.fromhex(blob)
            for name, (mode, blob) in entries.items()
        }
        data = b"".join(rows[name] for name in sorted(rows))
        [(_, tree)] = (await self._write_blobs([("", data)], kind="tree")).items()
        return tree

    async def _write_blobs(self, files: Sequence[tuple[str, bytes]], kind: str = "blob") -> dict[str, str]:
        """Store the bytes of files as objects. Return the object ids by path."""
        drafts = [self._git.folder / f"blob-{token_hex(4)}" for _ in files]
        try:
            for draft, (_, data) in zip(drafts, files, strict=True):
                replace_file(draft, data)
            ids = await self._git.run("hash-object", "-t", kind, "-w", "--no-filters", "--", *map(str, drafts))
        finally:
            for draft in drafts:
                draft.unlink(missing_ok=True)
        return {path: blob for (path, _), blob in zip(files, ids.decode().split(), strict=True)}

    async def fetch(self, remote: str) -> str | None:
        """Fetch the branch of a remote. Return its commit, None if it has no such branch. Raises SidecarError."""
        result = await self._git.attempt(
            "fetch",
            PROGRESS,
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--end-of-options",
            remote,
            f"+{BRANCH}:{REMOTE}",
            seconds=NETWORK_SECONDS,
        )
        if result.code == 0:
            return await self.commit_of(REMOTE)
        if "couldn't find remote ref" in result.stderr:
            return None
        raise SidecarError(f"the remote cannot be fetched from: {result.reason}")

    async def push(self, remote: str, commit: str) -> PushResult:
        """Push a commit to the branch of a remote, never by force."""
        receive = (f"--receive-pack={RECEIVE_PACK}",) if is_on_disk(remote) else ()
        try:
            result = await self._git.attempt(
                "push",
                PROGRESS,
                "--no-follow-tags",
                "--no-verify",
                *receive,
                "--end-of-options",
                remote,
                f"{commit}:{BRANCH}",
                seconds=NETWORK_SECONDS,
            )
        except SidecarError as exc:
            return PushResult(offline=str(exc))
        if result.code == 0:
            return PushResult()
        # first: git reports a concurrent push like a refusal
        if any(sign in result.stderr for sign in _REJECTED):
            return PushResult(is_behind=True)
        if any(sign in result.stderr.lower() for sign in _REFUSED):
            return PushResult(refused=f"the remote takes no push: {result.reason}")
        return PushResult(offline=f"the remote cannot be pushed to: {result.reason}")

    async def touches(self, commit: str, since: str | None, places: Collection[str]) -> "Touches":
        """Return who touched which files in some places in the commits after `since`. Raises OutputTooLargeError.

        For a merge only the files count that differ from all of its parents.
        """
        output = await self._git.run(
            "log",
            *("--full-history", "--topo-order", "-c", "--raw", "--no-abbrev", "-z"),
            *("--no-renames", "--no-ext-diff", "--no-textconv", "--format=%x01%ae"),
            *((commit,) if since is None else (commit, f"^{since}")),
            "--",
            *places,
        )
        return await asyncio.to_thread(_touches, output)

    async def team_last_touched(self, commit: str) -> tuple[str, str] | None:
        """Return the short id and the author's address of the last commit that changed the file of the team."""
        output = await self._git.run("log", "-1", "--format=%h %ae", commit, "--", TEAM_FILE)
        short, _, mail = output.decode(errors="replace").strip().partition(" ")
        return (short, mail) if short else None

    async def size(self, blob: str) -> int:
        """Return the size of a blob in bytes; 0 for an empty or zero id, which means a missing file."""
        return 0 if not blob.strip("0") else int(await self._git.run("cat-file", "-s", blob))

    async def blame(self, commit: str, path: str, seconds: float) -> list[str]:
        """Return the e-mail address of the author of each line of a file."""
        output = await self._git.run("blame", "--porcelain", "--no-textconv", commit, "--", path, seconds=seconds)
        lines, commit_now, mails = list[str](), "", dict[str, str]()
        for row in output.split(b"\n"):
            if row.startswith(b"\t"):
                lines.append(mails.get(commit_now, ""))
            elif row.startswith(b"author-mail "):
                mails[commit_now] = row.partition(b" ")[2].decode(errors="replace").removeprefix("<").removesuffix(">")
            elif (words := row.split(b" ")) and len(words) in (3, 4) and len(words[0]) in (40, 64):
                commit_now = words[0].decode()
        return lines


Touches = Mapping[str, Mapping[str, str]]
"""For each file the addresses of those who touched it, newest first, each with the blob that they left last."""


def _touches(output: bytes) -> Touches:
    """Parse the output of `git log --raw`: commits, marked by a byte that no path begins with, and their files."""
    touches, mail, parts = dict[str, dict[str, str]](), "", iter(output.split(b"\0"))
    for part in parts:
        row = part.removeprefix(b"\n")
        if row.startswith(b"\x01"):
            mail = row[1:].decode(errors="replace")
        elif row.startswith(b":"):
            # modes, then blobs: of each parent, and last of the commit
            words = row.lstrip(b":").split(b" ")
            blob = words[-2].decode()
            touches.setdefault(next(parts).decode("utf-8", "surrogateescape"), {}).setdefault(mail, blob)
    return touches


def history_places(person: str) -> tuple[str, str]:
    """Return the git pathspecs of a person's logs and of their notes."""
    return f":(glob)memory/????-??-??-{person}.md", f"{NOTES}{person}"


def blob_id(data: bytes) -> str:
    """Return the id that git gives to these bytes."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _tree_rows(listing: bytes) -> Iterator[tuple[str, TreeFile]]:
    for row in listing.split(b"\0")[:-1]:
        head, _, path = row.partition(b"\t")
        mode, _, blob, size = head.decode().split()
        # a folder and a submodule have no size
        yield path.decode("utf-8", "surrogateescape"), TreeFile(mode, blob, int(size) if size.isdigit() else 0)


def _entries(tree: bytes, id_bytes: int) -> dict[str, tuple[str, str]]:
    """Parse a tree object of git: mode and object id by name."""
    entries, at = dict[str, tuple[str, str]](), 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, _, name = tree[at:end].partition(b" ")
        at = end + 1 + id_bytes
        entries[os.fsdecode(name)] = (mode.decode(), tree[end + 1 : at].hex())
    return entries
