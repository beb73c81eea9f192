"""structlog set-up: one line an event on stderr, text on a terminal and JSON elsewhere, and in a file as JSON."""

import contextlib
import logging
import sys
from collections.abc import Callable, Sequence
from typing import TextIO, cast

import structlog

SAID_CHARS = 2000
MASKED_FIELDS = frozenset({"api_key", "apikey", "authorization", "token", "headers"})


def _mask_secrets(_logger: object, _name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for key in event.keys() & MASKED_FIELDS:
        event[key] = "***"
    return event


class _Stderr:
    """The standard error, which may be closed or on a full disk: a line is lost then, and nothing else."""

    def write(self, text: str) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(text)

    def flush(self) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()


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
        logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, _Stderr())),
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
            said=record.getMessage()[:SAID_CHARS],
            exc_info=record.exc_info,
        )
