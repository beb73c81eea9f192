"""The file of a secret token: created once, readable by its owner only, and read again at each use."""

import contextlib
import os
import secrets
import shlex
import stat
from pathlib import Path

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.errors import NotPermitted, StoreUnavailable
from memoryd.files.reading import read_beginning
from memoryd.files.writing import FileChangedError, make_private_folder, replace_file

TOKEN_BYTES = 32
"""Random bytes in a token; it is written in 43 characters."""
_TOKEN = expression(rb"[A-Za-z0-9._~+/=-]{32,512}")
"""The syntax of RFC 6750, section 2.1, of a length that cannot be guessed."""
_MAX = 4096
_HINT = "memoryctl http token --rotate makes a new one"


class TokenFile(Struct, frozen=True):
    """The file of one token. All methods block."""

    path: Path

    def ensure(self) -> str:
        """Return the token, creating the file if it is missing; raises NotPermitted, StoreUnavailable."""
        with contextlib.suppress(FileNotFoundError):
            return self._read()
        with contextlib.suppress(FileChangedError):
            self._write(is_new=True)
        return self.read()

    def read(self) -> str:
        """Return the token; raises NotPermitted if others can access the file, StoreUnavailable if it is missing."""
        try:
            return self._read()
        except FileNotFoundError as exc:
            raise StoreUnavailable(f"there is no token file {self.path}", hint=_HINT) from exc

    def rotate(self) -> str:
        """Write and return a new token, replacing any file or link at the path; raises StoreUnavailable."""
        self._write(is_new=False)
        return self.read()

    def _write(self, *, is_new: bool) -> None:
        data = secrets.token_urlsafe(TOKEN_BYTES).encode() + b"\n"
        try:
            make_private_folder(self.path.parent)
            replace_file(self.path, data, expected="absent" if is_new else None, is_durable=True)
        except OSError as exc:
            raise StoreUnavailable(f"cannot write the token file {self.path}: {exc.strerror or exc}") from exc

    def _read(self) -> str:
        try:
            info, content = read_beginning(self.path, _MAX, os.O_NOFOLLOW)
        except FileNotFoundError:
            raise
        except OSError as exc:
            why = "is a link" if self.path.is_symlink() else f"cannot be read: {exc.strerror or exc}"
            raise NotPermitted(f"the token file {self.path} {why}", hint=_HINT) from exc
        if why := privacy_flaw(info) if stat.S_ISREG(info.st_mode) else "is no regular file":
            closes = f"chmod 600 {shlex.quote(str(self.path))}"
            raise NotPermitted(f"the token file {self.path} {why}", hint=f"{closes}, or {_HINT}")
        if not _TOKEN.fullmatch(content.strip()):
            raise NotPermitted(f"the token file {self.path} holds no token of 32 characters or more", hint=_HINT)
        return content.strip().decode("ascii")


def privacy_flaw(info: os.stat_result) -> str:
    """Return why a file or folder is not this user's alone, as words to follow its name; empty if it is."""
    if info.st_uid != os.geteuid():
        return f"belongs to uid {info.st_uid}, not to us"
    if info.st_mode & 0o077:
        return f"is open to others (mode {stat.S_IMODE(info.st_mode):04o})"
    return ""
