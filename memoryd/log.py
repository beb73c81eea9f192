"""structlog setup: one line per event, on stderr (text on a terminal, else JSON) and in an optional file (JSON)."""

import contextlib
import logging
import os
import select
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TextIO

# structlog imports all of rich if it is installed, for coloured tracebacks; plain text makes the start faster
_rich = sys.modules.setdefault("rich", None)  # type: ignore[arg-type]
import structlog  # noqa: E402

if _rich is None:
    del sys.modules["rich"]

MESSAGE_CHARS = 2000
READER_SECONDS = 0.5
"""How long a write waits for the reader of stderr."""
MASKED_FIELDS = frozenset({"api_key", "apikey", "authorization", "token", "headers"})


def _mask_secrets(_logger: object, _name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for key in event.keys() & MASKED_FIELDS:
        event[key] = "***"
    return event


class _Stderr:
    """Stderr, which may be closed, on a full disk, or a pipe or terminal that no process reads.

    In these cases only the line is lost. The caller may be the event loop: it waits READER_SECONDS once, and then not
    at all until a line can be written again.
    """

    def __init__(self) -> None:
        self.lost = 0
        """Number of lines that were dropped since the start."""
        self._is_stopped = False
        self._is_torn = False
        # reentrant: a finalizer may log while a line is written
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
            # a replaced stream without a descriptor, as in a test
            stream.write(text)
            return
        rest = ("\n" * self._is_torn + text).encode(errors="backslashreplace")
        is_begun = False
        while rest:
            if not select.select([], [descriptor], [], 0 if self._is_stopped else READER_SECONDS)[1]:
                self._is_stopped, self._is_torn = True, self._is_torn or is_begun
                self.lost += 1
                return
            # a writable pipe takes PIPE_BUF bytes without blocking
            rest = rest[os.write(descriptor, rest[: select.PIPE_BUF]) :]
            self._is_stopped, self._is_torn, is_begun = False, False, True


STDERR = _Stderr()


WriteLine = Callable[[str], bool]
"""Writes a line and returns whether it was written."""


class _FileRenderer:
    """Writes each event to the file, then renders it for stderr; without `to_stderr` only if the file write failed."""

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
    """Send events of at least `level` (DEBUG, INFO, WARNING, ERROR) that pass the filters to stderr and `file`."""
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if sys.stderr is not None and sys.stderr.isatty():
        renderer = structlog.dev.ConsoleRenderer()
    if file is not None:
        renderer = _FileRenderer(file, renderer, to_stderr=to_stderr)
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


def route_library_logs() -> None:
    """Route warnings of libraries that use the `logging` module through structlog, so that the rate limit applies."""
    root = logging.getLogger()
    if not any(isinstance(handler, _LibraryHandler) for handler in root.handlers):
        root.addHandler(_LibraryHandler(logging.WARNING))


class _LibraryHandler(logging.Handler):
    """Turns a log record into an event; all records of one library have the same event name."""

    def emit(self, record: logging.LogRecord) -> None:
        # asyncio may report thousands of times a second that it cannot accept a connection, with varying numbers
        library = record.name.partition(".")[0]
        events = structlog.get_logger("libraries")
        events.log(
            record.levelno,
            f"{library} has something to say",
            said=record.getMessage()[:MESSAGE_CHARS],
            exc_info=record.exc_info,
        )
