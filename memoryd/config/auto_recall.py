"""What a turn recalls by itself, in the spellings of RsClaw's `memory` of an agent."""

from typing import Final

from pydantic import Field

from memoryd.config.section import SharedSection

MOST: Final = 12
"""More memories than these help no answer."""


class RetrievalSection(SharedSection):
    """How much of a prompt may be spent on what is recalled."""

    max_tokens: int = Field(
        default=1200,
        ge=50,
        le=100_000,
        description="How many tokens (estimated) the bundle of a turn may have, what stays the same included.",
    )


class AutoRecallSection(SharedSection):
    """Whether a message is answered with what is recalled for it, and with how much."""

    auto_recall: bool = Field(
        default=True,
        alias="auto_recall",
        description="`false`: a turn gives no bundle; the agent recalls when it needs to.",
    )
    recall_final_k: int = Field(
        default=5,
        ge=1,
        le=MOST,
        alias="recall_final_k",
        description="How many memories and passages a turn recalls, 12 at most.",
    )
    retrieval: RetrievalSection = Field(default=RetrievalSection(), description="The size of the bundle of a turn.")
