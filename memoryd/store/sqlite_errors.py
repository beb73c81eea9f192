"""The driver's errors in our words: what may pass, and what says that the file is broken."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import apsw

from memoryd.errors import DamagedDatabase, StoreUnavailable


@dataclass(frozen=True, slots=True)
class Wording:
    """What errors call a database, and what becomes of one that is damaged."""

    name: str
    when_damaged: str

    @property
    def not_open(self) -> str:
        return f"{self.name} is not open"


INDEX: Final = Wording("the index", "it is set aside and rebuilt from the notes")


@contextmanager
def mapped_errors(of: Wording = INDEX) -> Iterator[None]:
    """Translate the driver's errors: what may pass becomes StoreUnavailable, a broken file DamagedDatabase.

    A statement that does not fit the tables is no proof of damage: the next opening compares the tables.
    """
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as exc:
        raise DamagedDatabase(f"{of.name} is damaged: {exc}", hint=of.when_damaged) from exc
    except (
        apsw.FullError,
        apsw.BusyError,
        apsw.LockedError,
        apsw.ReadOnlyError,
        apsw.IOError,
        apsw.CantOpenError,
        apsw.ProtocolError,
        apsw.InterruptError,
        apsw.SQLError,
        OSError,
    ) as exc:
        # the checksum VFS tells a wrong checksum by this code: https://sqlite.org/cksumvfs.html
        if getattr(exc, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            reason = "a page has a wrong checksum; the disk, or another program that wrote the file, changed it"
            raise DamagedDatabase(f"{of.name} is damaged: {reason}", hint=of.when_damaged) from exc
        hint = "check the disk of the state directory"
        raise StoreUnavailable(f"{of.name} cannot be used now: {exc}", hint=hint) from exc
