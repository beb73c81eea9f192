"""`memorySearch.sync`: when the disk is looked at."""

from pydantic import Field

from memoryd.config.section import Section


class SyncSessionsSection(Section):
    """How much a transcript must grow before it is indexed again."""

    delta_bytes: int = Field(default=100_000, ge=0, le=1_073_741_824)
    delta_messages: int = Field(default=50, ge=0, le=1_000_000)
    post_compaction_force: bool = True


class SyncSection(Section):
    """Watching, scanning and their grace periods; 0 turns an interval off.

    `paused` leaves passages without vectors until somebody asks for them.
    """

    watch: bool = True
    watch_debounce_ms: int = Field(default=1500, ge=0, le=600_000)
    settle_ms: int = Field(default=200, ge=0, le=60_000)
    delete_grace_ms: int = Field(default=2000, ge=0, le=600_000)
    root_grace_seconds: float = Field(default=60, ge=0, le=86_400)
    reconcile_seconds: float = Field(default=30, ge=0, le=86_400)
    interval_minutes: float = Field(default=0, ge=0, le=525_600)
    on_session_start: bool = True
    on_search: bool = True
    paused: bool = False
    embedding_batch_timeout_seconds: float | None = Field(default=None, gt=0, le=86_400)
    sessions: SyncSessionsSection = SyncSessionsSection()
