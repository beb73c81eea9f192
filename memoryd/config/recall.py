"""`memory.recall`: what is told of the memories of a workspace, and how they are put in order."""

from typing import Literal

from pydantic import Field

from memoryd.config.section import Section
from memoryd.wire import RESULTS_MAX


class RecallSection(Section):
    """Size, order and budget of what is recalled."""

    k: int = Field(
        default=5, ge=1, le=RESULTS_MAX, description="How many memories and passages are recalled if nobody says."
    )
    fusion: Literal["relative", "rrf"] = Field(
        default="relative",
        description="How words and meaning are merged: `relative` measures each against itself, `rrf` knows ranks "
        "alone.",
    )
    budget: int = Field(
        default=1200,
        ge=50,
        le=100_000,
        description="How many tokens (estimated) a bundle for a prompt may have, what stays the same included.",
    )
