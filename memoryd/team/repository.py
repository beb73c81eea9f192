"""A git repository of a team, without a working tree: trees read, commits made, fetched and pushed.

What memoryd keeps lies below `refs/memoryd/`, also in a checkout that a person keeps: its branches, its index and its
files are left alone. `local` is what is shared as this machine has it, `base` the commit of the remote on which it
stands, `remote` what was fetched last.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha1
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeVar

from msgspec import Struct

from memoryd.domain.memories.sharing import MAX_FILES, TEAM_FILE
from memoryd.errors import InvalidRequest, SidecarError
from memoryd.files.writing import replace_file
from memoryd.team.git import IDENTITY, RECEIVE_PACK, Git, check_git, is_on_disk

BRANCH: Final = "refs/heads/main"
LOCAL: Final = "refs/memoryd/local"
BASE: Final = "refs/memoryd/base"
REMOTE: Final = "refs/memoryd/remote"
Value = TypeVar("Value")
NETWORK_SECONDS: Final = 60.0
"""What git may take to fetch, or to push."""
REGULAR: Final = "100644"
_AT_ONCE: Final = 200
"""Paths of one command line."""
_PLACES: Final = (TEAM_FILE, "memory", "notes")
_REJECTED: Final = ("non-fast-forward", "fetch first", "[rejected]", "incorrect old value", "failed to update ref")
_REFUSED: Final = ("[remote rejected]", "hook declined", "protected branch", "denied to", "permission to", "read only")


class TreeFile(Struct, frozen=True):
    """A file of a commit."""

    mode: str
    blob: str
    size: int


class PushResult(Struct, frozen=True):
    """What became of a push. `is_behind`: somebody else was faster. `refused` and `offline` say why it failed."""

    is_behind: bool = False
    refused: str = ""
    offline: str = ""


class TeamRepository:
    """The repository in a folder: one of ours, which is made where it is missing, or the checkout of a person."""

    def __init__(self, folder: Path, *, is_own: bool) -> None:
        self._folder = folder
        self._is_own = is_own
        self._git = Git(self._git_dir(), self.clear_locks)
        self._trees: dict[str, Mapping[str, TreeFile]] = {}

    def _git_dir(self) -> Path:
        inner = self._folder / ".git"
        return inner if not self._is_own and inner.exists() else self._folder

    async def open(self) -> None:
        """Make it, if it is ours and missing; raises SidecarError where git or the checkout is not as it must be."""
        await check_git(self._git.folder)
        if self._is_own and not (self._folder / "HEAD").exists():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            await self._git.run("init", "--quiet", "--bare", "--template=", "--initial-branch=main")
        elif not self._is_own and (await self._git.attempt("rev-parse", "--git-dir")).code:
            raise SidecarError(
                f"{self._folder} is no checkout of a git repository", hint="set team.checkout, or unset it"
            )
        self.clear_locks()

    def clear_locks(self) -> None:
        """Remove what a git that was killed left of its locks on what is ours."""
        folder = self._git.folder
        left = list((folder / "refs" / "memoryd").glob("*.lock"))
        left += [folder / name for name in ("packed-refs.lock", "HEAD.lock", "config.lock")] if self._is_own else []
        for path in left:
            path.unlink(missing_ok=True)

    async def author(self) -> str:
        """Return the e-mail address that git writes into commits; raises InvalidRequest where it knows none."""
        result = await self._git.attempt("var", "GIT_AUTHOR_IDENT")
        name, _, rest = result.stdout.decode(errors="replace").partition("<")
        if result.code != 0 or not name.strip() or ">" not in rest:
            raise InvalidRequest("git does not know who you are", hint=IDENTITY)
        return rest.partition(">")[0]

    async def commit_of(self, ref: str) -> str | None:
        """Return the commit of a ref; None if there is none."""
        told = await self._git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return None if told is None else told.decode().strip()

    async def set_ref(self, ref: str, commit: str) -> None:
        """Point a ref of ours at a commit."""
        await self._git.run("update-ref", ref, commit)

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether one commit leads to the other, or is it."""
        return await self._git.succeeds("merge-base", "--is-ancestor", older, newer)

    async def parents(self, commit: str) -> list[str]:
        """Return the commits upon which one was made."""
        return (await self._git.run("rev-list", "--parents", "-n", "1", commit, "--")).decode().split()[1:]

    async def times_since(self, base: str | None, tip: str) -> list[int]:
        """Return when the commits behind `base` were made, in Unix seconds."""
        wanted = (tip,) if base is None else (tip, f"^{base}")
        return [int(one) for one in (await self._git.run("log", "--format=%ct", *wanted, "--")).split()]

    async def tree(self, commit: str | None) -> Mapping[str, TreeFile]:
        """Return the files of a commit in our places; raises SidecarError for more than a team may have."""
        if commit is None:
            return {}
        if commit in self._trees:
            return self._trees[commit]
        told = await self._git.run("ls-tree", "-r", "-z", "--long", "--full-tree", commit, "--", *_PLACES)
        rows = told.split(b"\0")[:-1]
        if len(rows) > MAX_FILES:
            raise SidecarError(f"the repository has {len(rows):,} files, and {MAX_FILES:,} are the most")
        # a commit has one tree for ever; the newest few are asked for again and again
        self._trees = {**dict(list(self._trees.items())[-2:]), commit: dict(_tree_rows(rows))}
        return self._trees[commit]

    async def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of blobs by their ids."""
        return await self._git.blobs(list(dict.fromkeys(ids)))

    async def commit(
        self, parent: str | None, put: Mapping[str, bytes], remove: Collection[str], message: str
    ) -> str | None:
        """Make a commit of a parent with other files, and return it; None if nothing is other then."""
        index = self._git.folder / f"index-{token_hex(4)}"
        # to take a path out of an index git wants a working tree, and looks at none of its files
        more = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": "/"}
        try:
            await self._git.run("read-tree", parent or "--empty", more=more)
            for some in _in_parts(list(put.items())):
                written = [f"{REGULAR},{blob},{path}" for path, blob in await self._write_blobs(some)]
                rows = [part for one in written for part in ("--cacheinfo", one)]
                await self._git.run("update-index", "--add", *rows, more=more)
            for paths in _in_parts(sorted(remove)):
                await self._git.run("update-index", "--force-remove", "--", *paths, more=more)
            tree = (await self._git.run("write-tree", more=more)).decode().strip()
        finally:
            index.unlink(missing_ok=True)
            index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        if parent is not None and tree == (await self._git.run("rev-parse", f"{parent}^{{tree}}")).decode().strip():
            return None
        parents = () if parent is None else ("-p", parent)
        made = await self._git.run("commit-tree", tree, *parents, *await self._signing(), "-m", message)
        return made.decode().strip()

    async def _write_blobs(self, files: Sequence[tuple[str, bytes]]) -> list[tuple[str, str]]:
        """Store the bytes of files, and return the path and the blob of each."""
        drafts = [self._git.folder / f"blob-{token_hex(4)}" for _ in files]
        try:
            for draft, (_, data) in zip(drafts, files, strict=True):
                replace_file(draft, data)
            told = await self._git.run("hash-object", "-w", "--no-filters", "--", *map(str, drafts))
        finally:
            for draft in drafts:
                draft.unlink(missing_ok=True)
        return [(path, blob) for (path, _), blob in zip(files, told.decode().split(), strict=True)]

    async def fetch(self, remote: str) -> str | None:
        """Fetch the branch of a remote, and return its commit, None if it has none; raises SidecarError."""
        result = await self._git.attempt(
            "fetch",
            "--quiet",
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
                "--quiet",
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
        if any(sign in result.stderr.lower() for sign in _REFUSED):
            return PushResult(refused=f"the remote takes no push: {result.reason}")
        if any(sign in result.stderr for sign in _REJECTED):
            return PushResult(is_behind=True)
        return PushResult(offline=f"the remote cannot be pushed to: {result.reason}")

    async def authors(self, commit: str) -> "Authors":
        """Return who made the commits that touched the files of people."""
        told = await self._git.run(
            "log",
            *("--no-renames", "--no-ext-diff", "--no-textconv"),
            "--format=%x01%H %ae",
            "--name-only",
            "-z",
            "-m",
            commit,
            "--",
            "memory",
            "notes",
        )
        return Authors.read(told)

    async def blame(self, commit: str, path: str) -> list[str]:
        """Return of each line of a file the commit that it is from."""
        told = await self._git.run("blame", "--porcelain", "--no-textconv", commit, "--", path)
        lines, commit_now = list[str](), ""
        for row in told.split(b"\n"):
            if row.startswith(b"\t"):
                lines.append(commit_now)
            elif (words := row.split(b" ")) and len(words) in (3, 4) and len(words[0]) in (40, 64):
                commit_now = words[0].decode()
        return lines

    async def _signing(self) -> tuple[str, ...]:
        told = await self._git.answer("config", "--type=bool", "--get", "commit.gpgSign")
        return ("-S",) if told is not None and told.strip() == b"true" else ()


class Authors(Struct, frozen=True):
    """Who made the commits of a repository that touched files of people."""

    by_commit: Mapping[str, str]
    """The e-mail address of each author."""
    by_path: Mapping[str, frozenset[str]]
    """Of each file the addresses of all who ever touched it."""

    @classmethod
    def read(cls, told: bytes) -> "Authors":
        """Read what `git log` prints: heads of commits, each with a sign before it that no path has, and paths."""
        by_commit, by_path, mail = dict[str, str](), dict[str, set[str]](), ""
        for part in told.split(b"\0"):
            if part.startswith(b"\x01"):
                commit, _, mail = part[1:].decode(errors="replace").partition(" ")
                by_commit[commit] = mail
            elif path := part.removeprefix(b"\n"):
                by_path.setdefault(path.decode("utf-8", "surrogateescape"), set()).add(mail)
        return cls(by_commit, {path: frozenset(mails) for path, mails in by_path.items()})


def blob_id(data: bytes) -> str:
    """Return the id that git gives to these bytes."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _tree_rows(rows: Iterable[bytes]) -> Iterator[tuple[str, TreeFile]]:
    for row in rows:
        head, _, path = row.partition(b"\t")
        mode, _, blob, size = head.decode().split()
        # a submodule has no size
        yield path.decode("utf-8", "surrogateescape"), TreeFile(mode, blob, int(size) if size.isdigit() else 0)


def _in_parts(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    return (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))
