"""What the verbs of the store run in: one transaction each, on a connection that nobody else sees."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import apsw

Result = TypeVar("Result")


class Transactions(Protocol):
    """Runs a function of a connection on a worker thread; raises StoreUnavailable and DamagedDatabase."""

    async def read(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` on a read-only connection and return what it returns."""

    async def write(self, work: Callable[[apsw.Connection], Result]) -> Result:
        """Run `work` in one transaction and return what it returns; any exception rolls back."""
