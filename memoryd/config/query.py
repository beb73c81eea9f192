"""`memorySearch.query`: how a question becomes hits."""

from typing import Final, Literal, Self

from pydantic import Field

from memoryd.config.section import Section, Text

REFERENCE_SPLIT: Final = (0.7, 0.3)
"""Weights of meaning and words in OpenClaw: what `weighted` uses for one that is not given, and for two that are 0."""


class MmrSection(Section):
    """Diversity: `lambda` 1 is pure relevance, 0 is pure difference."""

    enabled: bool = Field(default=False, description="`true`: prefer different hits over hits that are near-copies.")
    lambda_: float = Field(default=0.7, ge=0, le=1, description="1 is relevance alone, 0 is difference alone.")


class TemporalDecaySection(Section):
    """Recency: the score halves every `half_life_days`."""

    enabled: bool = Field(
        default=False, description="`true`: dated notes fade, so that new ones stand before old ones."
    )
    half_life_days: float = Field(
        default=30, gt=0, le=36_500, description="The number of days after which a score counts half."
    )


class HybridSection(Section):
    """How words and vectors are weighed against each other; the defaults of the weights are those of `relative`."""

    enabled: bool = Field(default=True, description="`false`: search by vectors alone, where there are some.")
    fusion: Literal["relative", "weighted"] = Field(
        default="relative",
        description="How the scores of words and vectors are merged: `relative` measures each against itself, "
        "`weighted` adds the raw scores, as OpenClaw does.",
    )
    vector_weight: float = Field(
        default=0.3,
        ge=0,
        le=1_000_000,
        description="Weight of meaning; the two weights are made to add up to 1; unset with `weighted`: 0.7.",
    )
    text_weight: float = Field(
        default=0.7,
        ge=0,
        le=1_000_000,
        description="Weight of words; the two weights are made to add up to 1; unset with `weighted`: 0.3.",
    )
    candidate_multiplier: int = Field(
        default=4,
        ge=1,
        le=20,
        description="Words and vectors each fetch `maxResults` times this, no more than 400; `relative` fetches no "
        "fewer than 100.",
    )
    mmr: MmrSection = Field(
        default=MmrSection(), description="Maximal marginal relevance: hits that differ from those before them."
    )
    temporal_decay: TemporalDecaySection = Field(
        default=TemporalDecaySection(), description="How the score of a dated note fades with its age."
    )

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


class RerankSection(Section):
    """A cross-encoder that reads the first candidates beside the question; late or failing, the order stands."""

    model_path: Text | None = Field(
        default=None,
        description="The reranker: a GGUF of bge-reranker, jina-reranker, qwen3-reranker or their like, named as in "
        "`local.modelPath`; unset: nothing is reranked.",
    )
    candidates: int = Field(
        default=20, ge=2, le=200, description="How many candidates it reads, the best of what words and meaning found."
    )
    deadline_ms: int = Field(
        default=1500,
        ge=1,
        le=600_000,
        description="The time for reading them all, in milliseconds, within `query.deadlineMs`; in what is not enough "
        "time the order stands as it was.",
    )
    threads: int = Field(default=1, ge=1, le=512, description="How many threads read.")
    idle_unload_minutes: float = Field(
        default=10,
        ge=0,
        le=525_600,
        description="After how long without a question the model's memory is given back, in minutes; 0: never.",
    )


class QuerySection(Section):
    """Size, threshold and time of an answer."""

    max_results: int = Field(
        default=6, ge=1, le=1000, description="How many hits an answer has at most, if the question does not say."
    )
    min_score: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="The least score of a hit, from 0 to 1; lower ones that hold no word of the question are left out.",
    )
    deadline_ms: int = Field(
        default=5000,
        ge=1,
        le=600_000,
        description="The time for an answer, in milliseconds; it comes by then, with what is there.",
    )
    fresh_ms: int = Field(
        default=100,
        ge=0,
        le=60_000,
        description="How long a question first waits until notes that changed are read, in milliseconds, and never "
        "longer than half of its deadline; 0: not at all; what is not read by then makes the answer incomplete.",
    )
    hybrid: HybridSection = Field(default=HybridSection(), description="How words and vectors are searched together.")
    rerank: RerankSection = Field(
        default=RerankSection(), description="A second model that puts the best candidates in order; off by default."
    )
