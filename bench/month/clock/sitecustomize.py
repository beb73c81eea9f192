"""Read by every Python below libfaketime, which refuses the call that Python sleeps by: sleep by `select` instead."""

import select
import time


def _sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = _sleep  # type: ignore[assignment]
