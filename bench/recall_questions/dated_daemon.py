"""`python -m bench.recall_questions.dated_daemon`: the daemon on the day on which the questions are asked.

Only what a question calls today is another day; clocks of files, waits and the ledger stay as they are.
"""

import os
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self

from memoryd.agents.workspace import settings
from memoryd.daemon.main import main

DAY = "MEMORYD_BENCH_DAY"
"""The environment variable with the path of a file, which says the day; another one may stand there later."""


class _ThatDay(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        day = datetime.fromisoformat(Path(os.environ[DAY]).read_text())
        return cls(day.year, day.month, day.day, 12, tzinfo=tz)


if __name__ == "__main__":
    settings.datetime = _ThatDay  # type: ignore[attr-defined]  # the one place that asks what day it is
    main()
