"""The driver's errors in our words: what may pass, and what says that the file is broken."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from memoryd.errors import DamagedDatabase, StoreUnavailable


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Translate the driver's errors: what may pass becomes StoreUnavailable, a broken file DamagedDatabase.

    A statement that does not fit the tables is no proof of damage: the next opening compares the tables.
    """
    damaged_hint = "it is set aside and rebuilt from the notes"
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as exc:
        raise DamagedDatabase(f"the index is damaged: {exc}", hint=damaged_hint) from exc
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
            raise DamagedDatabase(f"the index is damaged: {reason}", hint=damaged_hint) from exc
        hint = "check the disk of the state directory"
        raise StoreUnavailable(f"the index cannot be used now: {exc}", hint=hint) from exc
