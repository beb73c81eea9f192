"""How the builtin search asks its arms, merges what they find, and chooses from it."""

from dataclasses import dataclass, field

from memoryd.domain.ranking.fusion import Evidence, Weights, relative, weighted


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """A half-life in days and a λ, None where decay or MMR is off. MMR chooses from `pool` hits."""

    half_life_days: float | None = None
    mmr_lambda: float | None = None
    pool: int = 24


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the arms are asked and merged; `depth` is how many candidates each arm gives.

    `weighted` asks for as many as its reference; `relative` is best with no fewer than `min_depth`. Without
    `is_hybrid` words answer only where vectors cannot. A half-life and a λ of None turn decay and MMR off.
    `vector_bytes` is what the vectors of a space may take in memory.
    """

    is_hybrid: bool = True
    fusion: str = "relative"
    weights: Weights = field(default_factory=Weights)
    multiplier: int = 4
    min_depth: int = 100
    max_depth: int = 400
    deepest: int = 6400
    half_life_days: float | None = None
    mmr_lambda: float | None = None
    vector_bytes: int = 256 * 2**20

    def depth(self, limit: int) -> int:
        """Return how many candidates each arm is asked for first."""
        least = 1 if self.fusion == "weighted" else self.min_depth
        return min(self.max_depth, max(least, limit * self.multiplier))

    def selection(self, limit: int) -> SelectionSettings:
        """Return how `limit` hits are chosen."""
        return SelectionSettings(self.half_life_days, self.mmr_lambda, limit * self.multiplier)

    def base_scores(self, evidence: Evidence) -> dict[int, float]:
        """Merge what the arms found into one score a chunk."""
        merge = weighted if self.fusion == "weighted" else relative
        return merge(evidence, self.weights)
