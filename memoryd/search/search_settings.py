"""How the builtin search asks its arms, merges what they find, and chooses from it.

Both settings hold the section of the configuration itself: a new rule reads its key where it is applied.
"""

from dataclasses import dataclass, field

from memoryd.config.memory_search import HybridSection
from memoryd.domain.ranking.fusion import Evidence, Weights, relative, weighted


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """How hits are chosen; MMR chooses from `pool` of them."""

    hybrid: HybridSection = field(default_factory=HybridSection)
    pool: int = 24

    @property
    def may_reorder(self) -> bool:
        """Whether a rule may put the last candidate first, so that all of them are looked at."""
        return self.half_life_days is not None

    @property
    def half_life_days(self) -> float | None:
        """The half-life of dated notes, None where decay is off."""
        decay = self.hybrid.temporal_decay
        return decay.half_life_days if decay.enabled else None

    @property
    def mmr_lambda(self) -> float | None:
        """The λ of MMR, 0 to 1, None where it is off."""
        return self.hybrid.mmr.lambda_ if self.hybrid.mmr.enabled else None


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the arms are asked and merged; the weights of `hybrid` add up to 1.

    `weighted` asks for as many candidates as its reference; `relative` is best with no fewer than `min_depth`.
    `vector_bytes` is what the vectors of a space may take in memory.
    """

    hybrid: HybridSection = field(default_factory=HybridSection)
    min_depth: int = 100
    max_depth: int = 400
    deepest: int = 6400
    vector_bytes: int = 256 * 2**20

    def depth(self, limit: int) -> int:
        """Return how many candidates each arm is asked for first."""
        least = 1 if self.hybrid.fusion == "weighted" else self.min_depth
        return min(self.max_depth, max(least, limit * self.hybrid.candidate_multiplier))

    def selection(self, limit: int) -> SelectionSettings:
        """Return how `limit` hits are chosen."""
        return SelectionSettings(self.hybrid, limit * self.hybrid.candidate_multiplier)

    @property
    def weights(self) -> Weights:
        """The shares of words and meaning."""
        return Weights(vector=self.hybrid.vector_weight, text=self.hybrid.text_weight)

    def base_scores(self, evidence: Evidence) -> dict[int, float]:
        """Merge what the arms found into one score a chunk."""
        merge = weighted if self.hybrid.fusion == "weighted" else relative
        return merge(evidence, self.weights)
