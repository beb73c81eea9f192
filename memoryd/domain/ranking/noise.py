"""The noise of a question: what its cosines with notes that have nothing to do with it look like.

Two sources tell: how near strangers come under this model at all, and the question's cosines with the notes themselves.
The first is all there is on the first day, when one of five notes may be the answer; with each note the second weighs
more. Both are put together as mean and variance of a normal distribution with its conjugate prior (normal and scaled
inverse χ²; Gelman et al., Bayesian Data Analysis, 3rd edition, section 3.3).
"""

from dataclasses import dataclass

from memoryd.domain.ranking.fusion import Noise

PRIOR_COUNT = 100
"""So many passages of the notes weigh as much as what is known of strangers."""
USUAL_COUNT, USUAL_DEVIATION = 20, 0.1
"""The same for the usual deviation of cosines, all that is known before a model's strangers are."""


@dataclass(frozen=True, slots=True)
class CosineSample:
    """How many cosines were looked at, their mean, and their variance (the mean square of what they are off it)."""

    count: int
    mean: float
    variance: float


def noise_of(sample: CosineSample, strangers: CosineSample | None) -> Noise:
    """Return the noise of a question from its cosines with a sample of the notes, and with strangers if they are known.

    Without either there is nothing to go by but the usual noise.
    """
    if strangers is None:
        prior, weight, pull = CosineSample(0, sample.mean, USUAL_DEVIATION**2), USUAL_COUNT, 0.0
    else:
        prior, weight = strangers, PRIOR_COUNT
        pull = weight * sample.count / (weight + sample.count) * (sample.mean - prior.mean) ** 2
    total = weight + sample.count
    mean = (weight * prior.mean + sample.count * sample.mean) / total
    variance = (weight * prior.variance + sample.count * sample.variance + pull) / total
    return Noise(mean, variance**0.5)
