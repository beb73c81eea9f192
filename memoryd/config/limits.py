"""`limits` and `log`: what the daemon refuses to exceed, and what it tells."""

from typing import Annotated, Literal

from pydantic import Field

from memoryd.config.section import Section, UpperCase

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]


class LimitsSection(Section):
    """Bounds of one file, one request and of all connections."""

    max_file_bytes: int = Field(default=64 * 1024 * 1024, ge=1024, le=1024**3)
    max_query_bytes: int = Field(default=4096, ge=16, le=1024 * 1024)
    max_query_tokens: int = Field(default=64, ge=1, le=8192)
    max_body_bytes: int = Field(default=1024 * 1024, ge=1024, le=1024**3)
    max_vector_bytes: int = Field(default=256 * 1024 * 1024, ge=0, le=1024**4)
    max_connections: int = Field(default=128, ge=1, le=65_536)
    max_connections_per_process: int = Field(default=96, ge=1, le=65_536)


class LogSection(Section):
    """The log; the level may be written in lower case."""

    level: Annotated[LogLevel, UpperCase] = "INFO"
