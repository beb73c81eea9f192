"""`limits`, `log` and `http`: what the daemon refuses to exceed, what it logs, and the optional port on loopback."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from memoryd.config.paths import expand, http_token_file
from memoryd.config.section import AnchoredPath, Effect, Many, Section, UpperCase
from memoryd.domain.expressions import expression
from memoryd.errors import TooLarge

ClientCount = Annotated[int, Field(ge=1, le=65_536)]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]


QUERY_BYTES = 4096


def check_question(text: str) -> None:
    """Raise TooLarge for a longer question than is answered."""
    if len(text.encode("utf-8", "surrogatepass")) > QUERY_BYTES:
        raise TooLarge(f"the query is longer than {QUERY_BYTES} bytes", hint="ask in fewer words")


class LimitsSection(Section):
    """Bounds of one file, one request and of all connections."""

    max_file_bytes: Annotated[int, Effect.EXCHANGE] = Field(default=64 * 1024 * 1024, ge=1024, le=1024**3)
    """The largest note that is indexed, in bytes; larger ones are left out and reported."""
    max_vector_bytes: Annotated[int, Effect.EXCHANGE] = Field(default=24 * 1024 * 1024, ge=0, le=1024**4)
    """How many bytes of a workspace's vectors are held in memory and all compared; of more only the signs are held, and
    the likeliest are read from the index."""
    max_requests: Annotated[ClientCount, Effect.AT_ONCE] = 128
    """How many requests may be at work at once, on sockets and port together; another one is refused as `overloaded`,
    save what asks for health and status."""
    max_connections: Annotated[ClientCount, Effect.AT_ONCE] = 128
    """How many connections may be open at once, three quarters of them of one client process."""


LogFileChoice = Literal["auto", "on", "off"]


class LogSection(Section):
    """The log; the level may be written in lower case."""

    level: Annotated[LogLevel, UpperCase] = "INFO"
    """The least grave events that are logged, in either case; notes and questions show at `DEBUG` only;
    `MEMORYD_LOG_LEVEL` overrides it."""
    file: LogFileChoice = "auto"
    """Whether there is a log file of our own, `log/memoryd.log` in the state folder, rotated and 20 MB at most: `auto`
    has one where nobody else keeps what is said (standard error is closed, `/dev/null` or launchd's file), and none
    under the journal, on a terminal or where it is led to a file or a program; `on` always; `off` never."""
    max_per_minute: int = Field(default=60, ge=1, le=1_000_000)
    """How many events of one kind are logged in a minute; the rest is counted and told once, save what is logged at
    `DEBUG`."""


USUAL_PORT = 18790
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
    """A port on loopback with a bearer token; who has the token is the owner."""

    enabled: bool = False
    """Whether the port is open."""
    host: Literal["127.0.0.1", "::1"] = "127.0.0.1"
    """The address that is listened on; there is none but loopback."""
    port: int = Field(default=USUAL_PORT, ge=1, le=65_535)
    """The number of the port."""
    token_file: AnchoredPath | None = None
    """The file that holds the token, made at the first start; unset: `http-token` in the state folder."""
    allowed_hosts: Many[Annotated[str, AfterValidator(_host)]] = ()
    """What a request may name as its host besides `127.0.0.1`, `localhost` and `[::1]` with the port, such as the other
    end of a tunnel."""
    allowed_origins: Many[Annotated[str, AfterValidator(_origin)]] = ()
    """Which origins a request may come from; one that names another is denied, and pages in a browser are never let in,
    for there are no CORS headers."""

    def token_path(self) -> Path:
        """Return where the token lies; loading from a file has made a relative path absolute."""
        return http_token_file() if self.token_file is None else expand(self.token_file, Path.home())
