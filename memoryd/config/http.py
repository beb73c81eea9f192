"""`http`: the optional port on loopback, for programs that cannot ask on a Unix socket."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from memoryd.config.paths import expand, http_token_file
from memoryd.config.section import Section, Text

USUAL_PORT: Final = 18790
_HOST: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*)|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/*?#@]+")


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

    enabled: bool = Field(default=False, description="Whether the port is open.")
    host: Literal["127.0.0.1", "::1"] = Field(
        default="127.0.0.1", description="The address that is listened on; there is none but loopback."
    )
    port: int = Field(default=USUAL_PORT, ge=1, le=65_535, description="The number of the port.")
    token_file: Text | None = Field(
        default=None,
        description="The file that holds the token, made at the first start; unset: `http-token` in the state folder.",
    )
    allowed_hosts: Annotated[tuple[Annotated[str, AfterValidator(_host)], ...], Field(strict=False)] = Field(
        default=(),
        description="What a request may name as its host besides `127.0.0.1`, `localhost` and `[::1]` with the port, "
        "such as the other end of a tunnel.",
    )
    allowed_origins: Annotated[tuple[Annotated[str, AfterValidator(_origin)], ...], Field(strict=False)] = Field(
        default=(),
        description="Which origins a request may come from; one that names another is denied, and pages in a browser "
        "are never let in, for there are no CORS headers.",
    )

    def token_path(self) -> Path:
        """Return where the token lies; loading from a file has made a relative path absolute."""
        return http_token_file() if self.token_file is None else expand(self.token_file, Path.home())
