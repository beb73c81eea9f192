"""`memory.evolution`: when memories come nearer to hand, and when they fade. RsClaw's keys in its own spelling."""

from pydantic import Field

from memoryd.config.section import Section
from memoryd.domain.memories.tiers import Demotion, Promotion, TierSettings


class PromotionSection(Section):
    """What makes a memory core by itself, any one of three ways, and a peripheral one working again."""

    access_only: int = Field(
        default=15, alias="access_only", ge=1, le=1_000_000, description="Core from so many touches on."
    )
    importance_only: float = Field(
        default=0.95, alias="importance_only", ge=0, le=1, description="Core from this importance on."
    )
    both_access: int = Field(
        default=5,
        alias="both_access",
        ge=0,
        le=1_000_000,
        description="Core from so many touches on, if it is as important as `both_importance`.",
    )
    both_importance: float = Field(
        default=0.8, alias="both_importance", ge=0, le=1, description="The importance that goes with `both_access`."
    )
    working_access: int = Field(
        default=3,
        alias="working_access",
        ge=0,
        le=1_000_000,
        description="From peripheral to working from so many touches on, if `working_relevance` is reached too.",
    )
    working_relevance: float = Field(
        default=0.4,
        alias="working_relevance",
        ge=0,
        le=1,
        description="The composite that goes with `working_access`.",
    )


class DemotionSection(Section):
    """What makes a working memory peripheral; one that is core or pinned never becomes so."""

    relevance: float = Field(default=0.15, ge=0, le=1, description="Peripheral below this composite.")
    age_days: float = Field(
        default=60,
        alias="age_days",
        gt=0,
        le=36_500,
        description="Peripheral when it was not touched for more days than these, and seldom before.",
    )
    access: int = Field(
        default=3, ge=0, le=1_000_000, description="Touches from which on age alone makes nothing peripheral."
    )


class EvolutionSection(Section):
    """Thresholds of the three tiers, and how much they count."""

    half_life_days: float = Field(
        default=30,
        gt=0,
        le=36_500,
        description="After how many days a memory without importance is half as recent; the most important have ten "
        "times as many at most.",
    )
    strength: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="How much age and use count in the order of recall: 0 not at all, 1 as much as evidence.",
    )
    promotion: PromotionSection = Field(
        default=PromotionSection(), description="When a memory becomes core, or working again."
    )
    demotion: DemotionSection = Field(default=DemotionSection(), description="When a memory becomes peripheral.")

    def to_tiers(self) -> TierSettings:
        """Return the thresholds."""
        return TierSettings(
            half_life_days=self.half_life_days,
            promotion=Promotion(**self.promotion.model_dump(by_alias=False)),
            demotion=Demotion(**self.demotion.model_dump(by_alias=False)),
        )
