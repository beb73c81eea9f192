"""`memory.sessions`: transcripts of agent programs beside those of OpenClaw."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from memoryd.config.section import Section, Text
from memoryd.domain.access import folded_id
from memoryd.domain.sessions.transcripts.records import TranscriptFormat


class TranscriptFolderSection(Section):
    """A folder with transcripts, of one agent by name: projects must not leak into each other."""

    path: Text = Field(
        description="The folder whose `.jsonl` files are read, and never written, without the folders below it; "
        "relative to the folder of the configuration file."
    )
    agent: Annotated[Text, AfterValidator(folded_id)] = Field(
        description="The id of the one agent whose conversations these are."
    )
    format: Literal["auto", "openclaw", "claude-code"] = Field(
        default="auto", description="The program that writes them; `auto`: seen from their first lines."
    )

    @property
    def whose(self) -> TranscriptFormat | None:
        return None if self.format == "auto" else TranscriptFormat(self.format)


class SessionsSection(Section):
    """Where transcripts lie."""

    max_bytes: int = Field(
        default=2 * 1024**3,
        ge=64 * 1024,
        le=1024**4,
        description="How many bytes of transcripts are indexed for an agent; beyond it those that were written longest "
        "ago leave the index, and status names them.",
    )
    folders: Annotated[tuple[TranscriptFolderSection, ...], Field(strict=False)] = Field(
        default=(),
        description="Folders of transcripts beside OpenClaw's own (`~/.openclaw/agents/ID/sessions`); read only for an "
        'agent with `experimental.sessionMemory: true` and `"sessions"` in `sources`.',
    )
