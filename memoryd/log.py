"""structlog set-up: one line an event on stderr, text on a terminal and JSON elsewhere, and in a file as JSON."""

import contextlib
import logging
import os
import select
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TextIO

# structlog reads all of rich if it finds it, for tracebacks in colour; ours are plain text, and start sooner
_rich = sys.modules.setdefault("rich", None)  # type: ignore[arg-type]
import structlog  # noqa: E402

if _rich is None:
    del sys.modules["rich"]

MESSAGE_CHARS = 2000
READER_SECONDS = 0.5
"""How long a line waits for whoever reads the standard error."""
MASKED_FIELDS = frozenset({"api_key", "apikey", "authorization", "token", "headers"})


def _mask_secrets(_logger: object, _name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for key in event.keys() & MASKED_FIELDS:
        event[key] = "***"
    return event


class _Stderr:
    """The standard error, which may be closed, on a full disk, or a pipe or a terminal that nobody reads.

    A line is lost then, and nothing else: whoever writes, which may be the event loop, waits for a moment, and from
    then on for nobody until the first line gets through again.
    """

    def __init__(self) -> None:
        self.lost = 0
        """Lines that nobody took, ever."""
        self._is_stopped = False
        self._is_torn = False
        # a finalizer may have something to say while a line is written
        self._lock = threading.RLock()

    def msg(self, line: str) -> None:
        """Write a line. Never raises."""
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError), self._lock:
                self._write(sys.stderr, line + "\n")

    debug = info = warning = error = critical = msg

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            descriptor = stream.fileno()
        except (OSError, ValueError, AttributeError):
            # a stand-in, as of a test
            stream.write(text)
            return
        left = ("\n" * self._is_torn + text).encode(errors="backslashreplace")
        is_begun = False
        while left:
            if not select.select([], [descriptor], [], 0 if self._is_stopped else READER_SECONDS)[1]:
                self._is_stopped, self._is_torn = True, self._is_torn or is_begun
                self.lost += 1
                return
            # what a pipe takes without a wait once it takes anything
            left = left[os.write(descriptor, left[: select.PIPE_BUF]) :]
            self._is_stopped, self._is_torn, is_begun = False, False, True


STDERR = _Stderr()


WriteLine = Callable[[str], bool]
"""Writes a line somewhere, and tells whether it is written."""


class _Beside:
    """Renders for stderr, after each event was written to a file; without `to_stderr` only what the file lost."""

    def __init__(self, file: WriteLine, renderer: structlog.typing.Processor, *, to_stderr: bool) -> None:
        self._file = file
        self._json = structlog.processors.JSONRenderer(ensure_ascii=False)
        self._renderer = renderer
        self._to_stderr = to_stderr

    def __call__(
        self, logger: object, name: str, event: structlog.typing.EventDict
    ) -> structlog.typing.ProcessorReturnValue:
        is_written = self._file(str(self._json(logger, name, dict(event))))
        if is_written and not self._to_stderr:
            raise structlog.DropEvent
        return self._renderer(logger, name, event)


def configure(
    level: str,
    *,
    file: WriteLine | None = None,
    to_stderr: bool = True,
    filters: Sequence[structlog.typing.Processor] = (),
) -> None:
    """Send events of `level` (DEBUG, INFO, WARNING or ERROR) and above that pass the filters to stderr and `file`."""
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if sys.stderr is not None and sys.stderr.isatty():
        renderer = structlog.dev.ConsoleRenderer()
    if file is not None:
        renderer = _Beside(file, renderer, to_stderr=to_stderr)
    structlog.configure(
        processors=[
            *filters,
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _mask_secrets,
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=lambda *_: STDERR,
    )


def take_in_libraries() -> None:
    """Have warnings of libraries that log by the standard library go the way of our own events, and be bounded."""
    root = logging.getLogger()
    if not any(isinstance(handler, _OfLibraries) for handler in root.handlers):
        root.addHandler(_OfLibraries(logging.WARNING))


class _OfLibraries(logging.Handler):
    """Makes an event of a record: one kind for each library, whatever it says."""

    def emit(self, record: logging.LogRecord) -> None:
        # asyncio says thousands of times a second that no connection can be accepted, with numbers that differ
        library = record.name.partition(".")[0]
        events = structlog.get_logger("libraries")
        events.log(
            record.levelno,
            f"{library} has something to say",
            said=record.getMessage()[:MESSAGE_CHARS],
            exc_info=record.exc_info,
        )
