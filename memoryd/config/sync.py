"""`memorySearch.sync`: when the disk is looked at."""

from pydantic import Field

from memoryd.config.section import Section
from memoryd.domain.sessions.taking_turns import ReadingRule


class SyncSessionsSection(Section):
    """How much a transcript must grow before it is read on."""

    delta_bytes: int = Field(
        default=100_000,
        ge=0,
        le=1_073_741_824,
        description="Read a transcript on after this much growth, in bytes; 0: after any.",
    )
    delta_messages: int = Field(
        default=50,
        ge=0,
        le=1_000_000,
        description="Read a transcript on after this many lines, each a message or an event; 0: after any.",
    )
    idle_seconds: float = Field(
        default=300,
        ge=0,
        le=86_400,
        description="Read a transcript on when it has not grown for so long, however little came, in seconds.",
    )
    post_compaction_force: bool = Field(
        default=True,
        description="Whether a transcript is read on at once when its program has compacted what its model sees.",
    )

    def rule(self) -> ReadingRule:
        """Return it as the domain has it."""
        return ReadingRule(self.delta_bytes, self.delta_messages, self.idle_seconds, self.post_compaction_force)


class SyncSection(Section):
    """Watching, scanning and their grace periods; 0 turns an interval off.

    `paused` leaves passages without vectors until somebody asks for them.
    """

    watch: bool = Field(
        default=True, description="Whether the system's file events are followed; `false`: the folder is only scanned."
    )
    watch_debounce_ms: int = Field(
        default=1500, ge=0, le=600_000, description="How long after a change to wait for more, in milliseconds."
    )
    settle_ms: int = Field(
        default=200, ge=0, le=60_000, description="How long a file must rest before it is read, in milliseconds."
    )
    delete_grace_ms: int = Field(
        default=2000,
        ge=0,
        le=600_000,
        description="How long a file must be gone before it leaves the index, in milliseconds: some editors delete and "
        "write again.",
    )
    root_grace_seconds: float = Field(
        default=60,
        ge=0,
        le=86_400,
        description="How long a folder that vanished keeps its index, in seconds; so does whatever an entry of "
        "`extraPaths` names or matched.",
    )
    reconcile_seconds: float = Field(
        default=30,
        ge=0,
        le=86_400,
        description="How often folder and index are compared, watcher or not, in seconds; 0: never; on a network file "
        "system every 10 s at the latest, since no event tells what another machine changes.",
    )
    interval_minutes: float = Field(
        default=0,
        ge=0,
        le=525_600,
        description="Another interval at which folder and index are compared, in minutes; 0: none.",
    )
    on_session_start: bool = Field(
        default=True, description="Whether the folder is looked at, in the background, when a session starts."
    )
    on_search: bool = Field(
        default=True, description="Whether the folder is looked at, in the background, when somebody asks."
    )
    paused: bool = Field(
        default=False,
        description="`true`: notes get vectors only when asked for (`memoryctl index`); words stay current.",
    )
    embedding_batch_timeout_seconds: float | None = Field(
        default=None,
        gt=0,
        le=86_400,
        description="How long one request to a remote provider may take, in seconds; unset: 120.",
    )
    sessions: SyncSessionsSection = Field(
        default=SyncSessionsSection(), description="When a session's transcript is read on."
    )
