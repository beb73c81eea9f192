"""`memorySearch.query`: how a question becomes hits."""

from typing import Final, Literal, Self

from pydantic import Field

from memoryd.config.section import Section

REFERENCE_SPLIT: Final = (0.7, 0.3)
"""Weights of meaning and words in OpenClaw: what `weighted` uses for one that is not given, and for two that are 0."""


class MmrSection(Section):
    """Diversity: `lambda` 1 is pure relevance, 0 is pure difference."""

    enabled: bool = False
    lambda_: float = Field(default=0.7, ge=0, le=1)


class TemporalDecaySection(Section):
    """Recency: the score halves every `half_life_days`."""

    enabled: bool = False
    half_life_days: float = Field(default=30, gt=0, le=36_500)


class HybridSection(Section):
    """How words and vectors are weighed against each other; the defaults of the weights are those of `relative`."""

    enabled: bool = True
    fusion: Literal["relative", "weighted"] = "relative"
    vector_weight: float = Field(default=0.3, ge=0, le=1_000_000)
    text_weight: float = Field(default=0.7, ge=0, le=1_000_000)
    candidate_multiplier: int = Field(default=4, ge=1, le=20)
    mmr: MmrSection = MmrSection()
    temporal_decay: TemporalDecaySection = TemporalDecaySection()

    def normalised(self) -> Self:
        """Return the same with weights that add up to 1, so that 70 and 30 work as percentages."""
        vector, text = self._given()
        total = vector + text
        vector, text = (vector / total, text / total) if total else REFERENCE_SPLIT
        return self.model_copy(update={"vector_weight": vector, "text_weight": text})

    def _given(self) -> tuple[float, float]:
        if self.fusion == "relative":
            return self.vector_weight, self.text_weight
        given = self.model_fields_set
        vector, text = REFERENCE_SPLIT
        return (
            self.vector_weight if "vector_weight" in given else vector,
            self.text_weight if "text_weight" in given else text,
        )


class QuerySection(Section):
    """Size, threshold and time of an answer."""

    max_results: int = Field(default=6, ge=1, le=1000)
    min_score: float = Field(default=0.0, ge=0, le=1)
    deadline_ms: int = Field(default=5000, ge=1, le=600_000)
    hybrid: HybridSection = HybridSection()
