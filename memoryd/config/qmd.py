"""`memory.qmd`: the qmd sidecar."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from memoryd.config.access import AccessSection
from memoryd.config.duration import Duration
from memoryd.config.section import Section, Text


def _never_relative(command: str) -> str:
    if "/" in command and not command.startswith(("/", "~")):
        raise ValueError("must be a bare command name or an absolute path")
    return command


Executable = Annotated[Text, AfterValidator(_never_relative)]
"""A relative path could name a program inside a workspace."""

Milliseconds = Annotated[int, Field(ge=1, le=86_400_000)]


class QmdPathSection(Section):
    """A directory or file that qmd indexes besides the memory files."""

    path: Text
    name: Text | None = None
    pattern: Text = "**/*.md"


QmdPaths = Annotated[tuple[QmdPathSection, ...], Field(strict=False)]


class QmdMcporterSection(Section):
    """Queries through the `mcporter` MCP client."""

    enabled: bool = False
    server_name: Text = "qmd"
    start_daemon: bool = True


class QmdSessionsSection(Section):
    """Export of transcripts to Markdown."""

    enabled: bool = False
    export_dir: Text | None = None
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None


class QmdUpdateSection(Section):
    """When the index of qmd is refreshed."""

    interval: Duration = timedelta(minutes=5)
    debounce_ms: int = Field(default=15_000, ge=0, le=86_400_000)
    on_boot: bool = True
    startup: Literal["off", "idle", "immediate"] = "off"
    startup_delay_ms: int = Field(default=120_000, ge=0, le=86_400_000)
    wait_for_boot_sync: bool = False
    embed_interval: Duration = timedelta(minutes=60)
    command_timeout_ms: Milliseconds = 30_000
    update_timeout_ms: Milliseconds = 120_000
    embed_timeout_ms: Milliseconds = 120_000


class QmdLimitsSection(Section):
    """Bounds of what a qmd search returns."""

    max_results: int = Field(default=6, ge=1, le=1000)
    max_snippet_chars: int = Field(default=700, ge=1, le=100_000)
    max_injected_chars: int = Field(default=4000, ge=1, le=1_000_000)
    timeout_ms: Milliseconds = 4000


class QmdSection(Section):
    """The sidecar as a whole."""

    command: Executable = "qmd"
    search_mode: Literal["search", "vsearch", "query"] = "search"
    search_tool: Text | None = None
    rerank: bool | None = None
    include_default_memory: bool = True
    paths: QmdPaths = ()
    mcporter: QmdMcporterSection = QmdMcporterSection()
    sessions: QmdSessionsSection = QmdSessionsSection()
    update: QmdUpdateSection = QmdUpdateSection()
    limits: QmdLimitsSection = QmdLimitsSection()
    scope: AccessSection = AccessSection()
