"""`memory.qa`: the question-and-answer store in a workspace."""

from datetime import timedelta

from pydantic import Field

from memoryd.config.section import Section, Texts
from memoryd.domain.sessions.documents import ARCHIVE_AFTER, MAX_BYTES, THRESHOLD, Keeping
from memoryd.domain.sessions.sequences import TURNS
from memoryd.wire import SEQUENCE_MAX


class QaSection(Section):
    """What is kept of conversations, and how much of one a message gets."""

    enabled: bool = Field(
        default=True, description="`false`: no questions and answers are kept in a workspace, and none are told."
    )
    significance: float = Field(
        default=THRESHOLD,
        ge=0,
        le=1,
        description="An answer is kept with its question if it is more significant than this, 0 to 1.",
    )
    archive_days: int = Field(
        default=ARCHIVE_AFTER.days,
        ge=1,
        le=36_500,
        description="After so many days without a turn a session moves to `memory/archive/`, in days.",
    )
    context_turns: int = Field(
        default=TURNS,
        ge=1,
        le=SEQUENCE_MAX,
        description="How many turns are put before an agent if a request does not say.",
    )
    interests: Texts = Field(
        default=(), description="Topics whose answers are kept however insignificant, such as `discord_config`."
    )
    max_bytes: int = Field(
        default=MAX_BYTES,
        ge=64 * 1024,
        le=1024**4,
        description="How large the files of questions and answers of a workspace may be, in bytes; beyond it the "
        "answers of the oldest sessions in the archive go, then of what is said the question alone is kept, and at "
        "four times as much no turn is taken any more, which its sender is told.",
    )
    from_transcripts: bool = Field(
        default=False,
        description="`true`: turns that are found in the session transcripts of an agent are kept too, each transcript "
        "in a session of its own.",
    )

    def keeping(self) -> Keeping:
        """Return it as the domain has it."""
        return Keeping(self.significance, frozenset(self.interests), timedelta(days=self.archive_days))
