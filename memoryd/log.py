"""structlog set-up: one line an event on stderr, text on a terminal and JSON elsewhere."""

import contextlib
import logging
import sys
from typing import TextIO, cast

import structlog

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


def configure(level: str) -> None:
    """Send events of `level` (DEBUG, INFO, WARNING or ERROR) and above to stderr."""
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if sys.stderr is not None and sys.stderr.isatty():
        renderer = structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[
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
