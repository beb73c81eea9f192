"""Run git as a child process on one repository, with a deadline and bounded output, and without running foreign code.

People who may write into a repository must not be able to run a command here. So there is no working tree, and thus no
filter, hook, submodule or symlink: trees and blobs are read and written as objects. Everything that git would run by
itself is switched off by options that override those of the repository. From the user's configuration git takes name,
address, signing, credentials and addresses of remotes.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.config.loading.overrides import PROXY_VARIABLES
from memoryd.config.team import is_on_disk, without_credentials
from memoryd.domain.expressions import expression
from memoryd.errors import InvalidRequest, SidecarError
from memoryd.sidecar.process import Child, ChildSpec, allowed_environment

FLOOR = (2, 30)
PROGRESS = "--progress"
MOST_SECONDS = 1800.0
"""Longest run of a command that keeps reporting progress."""
LOCAL_SECONDS = 30.0
"""Time limit of git without network."""
STDOUT_BYTES = 64 * 1024 * 1024
"""Most output of git; if there is more, it is killed."""
GRACE = timedelta(seconds=2)
MAX_REASON = 300
"""Most characters of a message of git that are reported."""
INSTALL = "install git 2.30 or later, such as by `apt install git`"
IDENTITY = "say who you are: git config --global user.name NAME; git config --global user.email ADDRESS"
_VERSION = expression(r"git version (?P<major>\d+)\.(?P<minor>\d+)")
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.attributesFile=/dev/null",
    "core.alternateRefsCommand=true",
    "core.quotePath=true",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "transfer.fsckObjects=true",
    "transfer.bundleURI=false",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "log.mailmap=false",
    "blame.ignoreRevsFile=",
    "credential.interactive=false",
    "user.useConfigOnly=true",
)
_ALSO_SEEN = (
    *("XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "GNUPGHOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
    *PROXY_VARIABLES,
)
_FIXED = {
    "GIT_ALLOW_PROTOCOL": "file:https:ssh",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
}
_GENERIC_ERRORS = ("Could not read from remote repository", "failed to push some refs", "(unpacker error)")
_REMEDY = "git config --global --add safe.directory "
RECEIVE_PACK = "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true receive-pack"
"""The program that receives a push into a repository on a local disk, without running the hooks of that repository."""


def address_of(remote: str) -> str:
    """Return a remote in git's form: a folder by its absolute path, since git does not expand `~`."""
    if not is_on_disk(remote):
        return remote
    return str(Path(remote.removeprefix("file://")).expanduser().absolute())


class OutputTooLargeError(SidecarError):
    """Git printed more than allowed, and was killed."""


class GitResult(Struct, frozen=True):
    """The exit code and output of a command."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def reason(self) -> str:
        """The reported error: the last error line that is not generic, and the remedy if git suggests one."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith(("fatal:", "error:", "remote: error:", "! [", "ssh:"))]
        specific = [line for line in errors if not any(generic in line for generic in _GENERIC_ERRORS)]
        reason = (specific or errors or lines or [f"exit status {self.code}"])[-1]
        remedy = next((f"; {line}" for line in lines if line.startswith(_REMEDY)), "")
        return without_credentials(reason[:MAX_REASON] + remedy[:MAX_REASON])


def git_environment(outside: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of git: the allowed variables, and settings that prevent questions to a person."""
    ssh = outside.get("GIT_SSH_COMMAND") or "ssh"
    return {
        **allowed_environment(outside, _ALSO_SEEN),
        **_FIXED,
        "GIT_SSH_COMMAND": f"{ssh} -o BatchMode=yes -o ConnectTimeout=10",
    }


class Git(Struct, frozen=True):
    """Runs git on the repository in a folder, which need not exist for commands without a repository."""

    folder: Path
    on_kill: Callable[[], None] = lambda: None
    """Called after git was killed, so that it may have left locks."""

    async def run(self, *arguments: str, seconds: float = LOCAL_SECONDS, most_bytes: int = STDOUT_BYTES) -> bytes:
        """Return the output of a command. Raises SidecarError if it fails, and like `attempt`."""
        result = await self.attempt(*arguments, seconds=seconds, most_bytes=most_bytes)
        if result.code != 0:
            raise SidecarError(f"git {arguments[0]}: {result.reason}")
        return result.stdout

    async def attempt(
        self, *arguments: str, seconds: float = LOCAL_SECONDS, most_bytes: int = STDOUT_BYTES
    ) -> GitResult:
        """Run a command to its end. Raises SidecarError if it cannot be run or takes too long, OutputTooLargeError.

        At the deadline its process group is killed. With `--progress` each sign of progress restarts the deadline.
        """
        clock = asyncio.get_running_loop().time
        limit, last = asyncio.timeout(seconds), clock() + MOST_SECONDS

        def extend_deadline() -> None:
            # output that is read after the end has no effect
            with suppress(RuntimeError):
                limit.reschedule(min(clock() + seconds, last))

        spec = self._spec(arguments, stdout_limit=most_bytes)
        child = Child(replace(spec, on_stderr=extend_deadline) if PROGRESS in arguments else spec)
        try:
            async with limit:
                await child.start()
                code = await child.wait()
        except TimeoutError as exc:
            raise SidecarError(f"git {arguments[0]} did not end within {seconds:g} s") from exc
        finally:
            await self._end(child)
        if child.has_overflowed:
            raise OutputTooLargeError(f"git {arguments[0]} printed more than {most_bytes} bytes")
        if code < 0:
            # killed by a signal, which is never an answer
            raise SidecarError(f"git {arguments[0]}: {child.describe_end()}")
        return GitResult(code, child.stdout, child.stderr)

    async def answer(self, *arguments: str) -> str | None:
        """Return the output of a query in one line, None for exit code 1 (no). Raises SidecarError for other codes."""
        result = await self.attempt(*arguments)
        if result.code not in (0, 1):
            raise SidecarError(f"git {arguments[0]}: {result.reason}")
        return result.stdout.decode().strip() if result.code == 0 else None

    async def blobs(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the bytes of blobs by id. Raises SidecarError if one cannot be read."""
        if not ids:
            return {}
        batch = _Batch(wanted=len(ids))
        spec = self._spec(("cat-file", "--batch"))
        child = Child(replace(spec, on_output=batch.take, on_exit=batch.is_over.set))
        try:
            async with asyncio.timeout(LOCAL_SECONDS):
                await child.start()
                child.write("".join(f"{blob}\n" for blob in ids).encode())
                await batch.is_over.wait()
        except TimeoutError as exc:
            raise SidecarError(f"git cat-file did not end within {LOCAL_SECONDS:g} s") from exc
        finally:
            await child.stop()
        if len(batch.blobs) < len(set(ids)):
            raise SidecarError("git cat-file: a file of the repository cannot be read")
        return batch.blobs

    async def _end(self, child: Child) -> None:
        await child.stop()
        # killed at its deadline, or by others, such as the system for lack of memory: it has removed no lock
        if child.returncode is not None and child.returncode < 0 and not child.has_overflowed:
            self.on_kill()

    def _spec(self, arguments: Sequence[str], stdout_limit: int = 0) -> ChildSpec:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        return ChildSpec(
            command=("git", f"--git-dir={self.folder}", *settings, *arguments),
            environment=git_environment(os.environ),
            grace=GRACE,
            stdout_limit=stdout_limit,
        )


class _Batch(Struct):
    """Parses the output of `cat-file --batch`."""

    wanted: int
    blobs: dict[str, bytes] = {}
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    _data: bytearray = bytearray()
    _taken: int = 0

    def take(self, data: bytes) -> None:
        """Parse a piece of output."""
        self._data += data
        while not self.is_over.is_set() and (end := self._data.find(b"\n")) >= 0:
            head = self._data[:end].split()
            if len(head) != 3 or head[1] != b"blob":
                self.is_over.set()
                return
            size = int(head[2])
            if len(self._data) < end + 1 + size + 1:
                return
            self.blobs[head[0].decode()] = bytes(self._data[end + 1 : end + 1 + size])
            del self._data[: end + 1 + size + 1]
            self._taken += 1
            if self._taken == self.wanted:
                self.is_over.set()


def make_bare(folder: Path) -> None:
    """Create a bare repository in a folder that is missing or empty. Raises InvalidRequest for a working tree."""
    if (folder / ".git").exists():
        raise InvalidRequest(f"{folder} has a working tree, and takes no push", hint="name a bare repository")
    if not folder.is_dir() or not any(folder.iterdir()):
        place = folder if folder.is_dir() else folder.parent
        folder.mkdir(parents=True, exist_ok=True)
        # a folder writable by its group is shared with it; not if it is writable by all, such as /tmp
        of_group = ("--shared=group",) if place.stat().st_mode & 0o022 == 0o020 else ()
        asyncio.run(Git(folder).run("init", "--quiet", "--bare", "--template=", "--initial-branch=main", *of_group))


async def check_git(folder: Path) -> None:
    """Raise SidecarError if git is missing or too old."""
    try:
        version = (await Git(folder).run("version")).decode(errors="replace")
    except SidecarError as exc:
        raise SidecarError(str(exc), hint=INSTALL) from exc
    match = _VERSION.match(version)
    if match is None or (int(match["major"]), int(match["minor"])) < FLOOR:
        raise SidecarError(f"{version.strip()[:60]} is too old", hint=INSTALL)
