"""A question to qmd as a process of its own, for while its server is down."""

import time
from collections.abc import Awaitable, Callable, Sequence

from memoryd.errors import SidecarError
from memoryd.qmd.installation import QmdInstallation
from memoryd.qmd.output import Complaint, QmdOutput, complaint_of, first_error, hits_in
from memoryd.qmd.subqueries import QmdQuestion
from memoryd.retry import Retry

ABORTED = (134, -6)
"""llama.cpp may abort at the end of a run whose results were printed whole."""


class CommandQuery:
    """Starts a process a question, and none for a while after failures."""

    def __init__(self, *, installation: QmdInstallation, has_index: Callable[[], Awaitable[bool]]) -> None:
        self._installation = installation
        self._has_index = has_index
        self._retry = Retry()
        self._failure = ""

    async def ask(self, question: QmdQuestion, collections: Sequence[str], *, end: float) -> QmdOutput:
        """Ask within the named collections; the process ends by `end` (monotonic seconds). Raises SidecarError."""
        if self._retry.wait() > 0:
            raise SidecarError(f"qmd is left alone for a while: {self._failure}")
        if not await self._has_index():
            raise SidecarError("the index of qmd is gone and is made anew")
        self._retry.tried()
        try:
            answer = await self._run(question, collections, end)
        except SidecarError as exc:
            self._retry.failed()
            self._failure = str(exc)
            raise
        self._retry.succeeded()
        return answer

    async def _run(self, question: QmdQuestion, collections: Sequence[str], end: float) -> QmdOutput:
        """Run `query --json`; if an option is not known to this build, once more with the fewest that will do."""
        for arguments in question.command_lines(collections):
            left = max(0.01, end - time.monotonic())
            outcome = await self._installation.run(*arguments, seconds=left, is_background=False)
            if outcome.code == 0 or complaint_of(outcome.stderr) is not Complaint.REJECTED:
                break
        if outcome.code != 0 and outcome.code not in ABORTED:
            raise SidecarError(f"qmd failed: {first_error(outcome.stderr) or outcome.ending}")
        try:
            return QmdOutput(tuple(hits_in(outcome.stdout)), outcome.stderr)
        except ValueError as exc:
            raise SidecarError(f"qmd {exc}") from exc
