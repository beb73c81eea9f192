"""`limits`, `log` and `http`: bounds of the daemon, its log, and the optional port on loopback."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from memoryd.config.paths import expand, http_token_file
from memoryd.config.section import AnchoredPath, Effect, Section, TupleOf, UpperCase
from memoryd.domain.expressions import expression
from memoryd.errors import TooLarge

ClientCount = Annotated[int, Field(ge=1, le=65_536)]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]


QUERY_BYTES = 4096


def check_question(text: str) -> None:
    """Raise TooLarge if the query is longer than QUERY_BYTES."""
    if len(text.encode("utf-8", "surrogatepass")) > QUERY_BYTES:
        raise TooLarge(f"the query is longer than {QUERY_BYTES} bytes", hint="ask in fewer words")


class LimitsSection(Section):
    """Bounds for files, vectors, requests and connections."""

    max_file_bytes: Annotated[int, Effect.EXCHANGE] = Field(default=64 * 1024 * 1024, ge=1024, le=1024**3)
    """The largest note that is indexed, in bytes; larger ones are left out and reported."""
    max_vector_bytes: Annotated[int, Effect.EXCHANGE] = Field(default=24 * 1024 * 1024, ge=0, le=1024**4)
    """How many bytes of a workspace's vectors are kept in memory and compared in full; above that only their signs are
    kept in memory, and the most similar vectors are read from the index."""
    max_requests: Annotated[ClientCount, Effect.AT_ONCE] = 128
    """How many requests may be at work at once, on sockets and port together; others are refused as `overloaded`,
    except health and status."""
    max_connections: Annotated[ClientCount, Effect.AT_ONCE] = 128
    """How many connections may be open at once; one client process may have three quarters of them."""


LogFileChoice = Literal["auto", "on", "off"]


class LogSection(Section):
    """The log; the level may be written in lower case."""

    level: Annotated[LogLevel, UpperCase] = "INFO"
    """The lowest level that is logged, in upper or lower case; texts of notes and queries appear at `DEBUG` only;
    `MEMORYD_LOG_LEVEL` overrides it."""
    file: LogFileChoice = "auto"
    """Whether memoryd writes its own log file, `log/memoryd.log` in the state folder, rotated and 20 MB at most;
    `auto`: only if nothing else keeps the log, that is if standard error is closed, `/dev/null` or launchd's file, and
    not the journal, a terminal, another file or a program; `on`: always; `off`: never."""
    max_per_minute: int = Field(default=60, ge=1, le=1_000_000)
    """How many events of one kind are logged in a minute; the rest is counted and reported once; `DEBUG` events are not
    limited."""


DEFAULT_PORT = 18790
_HOST = expression(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*)|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_ORIGIN = expression(r"[a-z][a-z0-9+.-]*://[^\s/*?#@]+")


def _host(text: str) -> str:
    if not _HOST.fullmatch(text):
        raise ValueError('must be one host as a client names it, such as "memory.internal:18790", without wildcards')
    return text.lower()


def _origin(text: str) -> str:
    if not _ORIGIN.fullmatch(text):
        raise ValueError('must be one origin, such as "http://localhost:3000", without a path and without wildcards')
    return text.lower()


class HttpSection(Section):
    """A port on loopback with a bearer token; a client with the token has the owner's rights."""

    enabled: bool = False
    """Whether the port is open."""
    host: Literal["127.0.0.1", "::1"] = "127.0.0.1"
    """The address to listen on; only loopback is possible."""
    port: int = Field(default=DEFAULT_PORT, ge=1, le=65_535)
    """The number of the port."""
    token_file: AnchoredPath | None = None
    """The file with the token, created at the first start; unset: `http-token` in the state folder."""
    allowed_hosts: TupleOf[Annotated[str, AfterValidator(_host)]] = ()
    """Accepted `Host` headers besides `127.0.0.1`, `localhost` and `[::1]` with the port, such as the other end of a
    tunnel."""
    allowed_origins: TupleOf[Annotated[str, AfterValidator(_origin)]] = ()
    """Accepted `Origin` headers; a request with another origin is denied, and pages in a browser never get access,
    because there are no CORS headers."""

    def token_path(self) -> Path:
        """Return the path of the token file; loading has made a relative path absolute."""
        return http_token_file() if self.token_file is None else expand(self.token_file, Path.home())
