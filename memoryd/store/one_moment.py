"""Reading several things as they are at one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


@contextmanager
def at_one_moment(db: apsw.Connection) -> Iterator[None]:
    """Have all statements of the block read the file as it is at one moment, and an error come out as it is.

    SQLite ends the transaction by itself when it meets damage. A connection as a context manager then fails to roll
    back, and tells that instead of the damage.
    """
    if db.in_transaction:
        yield
        return
    # of what only reads: it takes no lock that keeps others from writing
    db.execute("SAVEPOINT one_moment")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
