"""The evidence for an item beside a message without an explicit question: words, entities, concepts, and meaning.

Each kind of evidence is measured like a word, by the natural logarithm of its rarity: a word in one note of forty is
3.7, an entity up to 3, a concept up to 3, a meaning up to 3.5. A logistic regression weighs them together with the
wording of the message: an item is included if its log-odds are above 0. The weights were fitted on messages of twelve
invented persons and of the first days of twelve more, in English, Chinese and German, with words alone and with a small
model; docs/explanation/memory.md has the figures.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import expression, word_set
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.times.grammar import asks
from memoryd.domain.memories.unasked.concepts import (
    FULL,
    LEAST_OF_COMPOUND,
    LEAST_OF_FAMILY,
    WEAK_WORDS,
    Concept,
    concepts_in,
    families_in,
    family_of,
    frequent_concepts_in,
    is_of_people,
    significant_words,
    width_weight,
)
from memoryd.domain.memories.unasked.form import word_count
from memoryd.domain.memories.unasked.german import german_weights, is_german
from memoryd.domain.memories.unasked.messages import MessageParts
from memoryd.domain.ranking.calibration import Idf
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.text.dates import MONTH
from memoryd.domain.text.words import UNSPACED_RUN, normalised, query_terms

WEIGHTS: Mapping[str, float] = {
    "nothing": -0.78,
    "form": 0.51,
    "words": 0.18,
    "asked": 0.8,
    "entity": 0.22,
    "named": 0.24,
    "meaning": 0.33,
    "days": 2.5,
}
"""Log-odds per unit of evidence: of the message first (`nothing` is the bias), then of an item."""
SHORT = 6
"""A message with fewer words that names an entity is about little else: *email Marguerite*."""
MOST = 0.8
"""Least share of the total weight of a message's words for an item that counts as having all of them."""
SHARE_OF_ENTITY = 0.4
"""What naming its entity counts for an item beside a question, as a share of the message's words."""
LEAST_EVIDENCE, LEAST_RISE = 1.4, 3.0
"""Least evidence of an item whatever the message is; or least cosine, in deviations of the model's noise."""
FURTHER = 1.5
"""Greatest distance of any item from the best one, in log-odds."""
MANY_NOTES = 100
"""In more chunks, words weigh less by half of the logarithm of the ratio, because chance matches increase."""
FEW_NOTES = 30
"""In at most so many chunks, a word in two of them weighs less than it would among more chunks."""

WEAK_WORD = 0.4
"""Factor for a word that is frequent in talk: times, numbers, and general verbs and nouns."""
OF_CODE = 1.5
"""Factor for an identifier: *E18*."""
WEAK_SIGN, WEAK_SIGNS = 0.35, 0.1
"""Factors for a pair of characters with one or two particles, numbers or the like: most such pairs cross two words."""
IN_PASSAGE = 0.7
"""Factor for matches in a passage: chance puts more words into several lines than into one."""
OF_FAMILY = 0.6
"""Factor for a word derived from a word of the message, or the reverse."""
WITHIN_RUN, OTHER_PARTS = 0.5, 0.5
"""Factors for further pairs of one run of characters, and for the other parts of the message."""
INITIALS = 3.5
FULL_ENTITY, MIN_ENTITY, FEW_LINES = 3.0, 1.5, 3
"""Evidence of an entity for each of its lines: in full up to a few lines, and half a point less for each doubling."""
MENTIONED = 0.7
"""Factor for a line that names the entity but is about another one."""
NEAR_FROM, NEAR_WEIGHT, NEAR_MAX = 1.9, 0.8, 3.5
"""Least deviations of a cosine above the noise that count, the weight of one more, and the upper limit."""
_ENDING = 3
"""Most letters of the ending of a German word."""
RARE = 6.4
"""The weight of a word that is in no list of common words, and in hardly another note."""
_MEANINGLESS = word_set("""
remember forget 记住 statt ab um im ins der das dem
im ive id youre youve theyre weve hes shes thats whats wheres whens whos hows whys theres heres lets dont doesnt didnt
isnt arent wasnt werent wont wouldnt cant couldnt shouldnt havent hasnt hadnt
""")
"""`Remember that`, with which many memories begin, German words that a search may mean (a certificate in DER), and
function words without their apostrophe, which are in no list of common words."""
_PARTICLES = frozenset(
    "的了是在我你他她它们这那有和与跟给把被要会能可就也都还再又很太个点些下上里去来到从对向为吗呢吧啊呀么哪谁几多少不没"
    "一二三四五六七八九十年月日号时大小好人家想看说做用过得着回帮"
)
_ASKING = frozenset("在是哪谁什么几吗呢")
_TIMES = expression(
    r"(?:周|星期|礼拜)[一二三四五六日天末]|[今明昨后前]天|早上|上午|中午|下午|傍晚|晚上|夜里|周末|[月年][底初]|最近"
    r"|刚才|时间|时候|小时|分钟|以前|以后|第[一二三]"
)
"""Pairs that are frequent in talk, as English words for times are."""
_NUMBERED = expression(
    r"\b(?:number|no\.|nr|room|cue|gate|platform|desk|page|line|pipe|bus|row) ?(\d{1,3})\b|第?(\d{1,3})[号路排]"
)
"""A number that serves as a name."""
_CODE = expression(r"[a-z]+\d\w*")
_YEAR = expression(
    rf"(?:{MONTH})\.? (?:\d{{1,2}},? )?((?:19|20)\d\d)|\d[./-]\d{{1,2}}[./-]((?:19|20)\d\d)|((?:19|20)\d\d)[年-]"
)
_OWN_DOING = expression(
    r"\b(?:where|what|which|whom?|when|how)\b[^.?!]{0,30}?"
    r"(?<!can )(?<!could )(?<!should )(?<!would )(?<!will )(?<!shall )\b(?:i|we) "
    r"(?!can|could|should|would|will|may|must|have|need|want|think|know|mean|get|are|was|were)([a-z]{3,})\b"
    r"|\bwo ([a-z]{3,}) (?:ich|wir)\b"
)
"""A question about what the speaker does, and its verb: *where do I work*, *wo wohnen wir*."""
_ASKS_IN_GERMAN = expression(r"\s*(?:und |so |also )?(?:wann|wo|wer|wem|wie|was|welche[rmns]?)\b")
_ASKS_LAST = expression(r"(?:\S+\s+){1,4}(?:wann|wo|wer|wem|welche[rmns]?|when|where|which)\W*\Z")
"""A short question with its question word last: *TÜV wann*."""
_ACRONYM = expression(r"\b[A-Z]{2,5}\b")


class ItemWeight(Struct, frozen=True):
    """The evidence for an item in log-odds, its best part of the message, the decision, and each kind.

    The evidence of the message itself is not included, because it is the same for all items.
    """

    score: float
    part: int
    is_included: bool
    kinds: Mapping[str, float]


class Item(Struct, frozen=True):
    """The properties of an item for weighing: its text, the message terms that it has, its cosine, and its entities."""

    text: str
    terms: Collection[str] = ()
    cosine: float | None = None
    slugs: Collection[EntitySlug] = ()
    of_days: float = 0.0
    """The lift by the days that the message is about."""
    is_passage: bool = False
    """Whether it is several lines of a note rather than a memory."""


class MessageEvidence:
    """Weighs items for one message.

    `entities` are those that the message means, each with the certainty (0 to 1) and its number of lines; `names` are
    the terms of their names, which are no evidence beyond that; `called` are other terms that may mean them.
    """

    def __init__(
        self,
        message: MessageParts,
        *,
        idf: Idf,
        noise: Noise,
        entities: Mapping[EntitySlug, tuple[float, int]],
        names: Mapping[EntitySlug, frozenset[str]],
        called: Mapping[EntitySlug, frozenset[str]] = {},
    ) -> None:
        self._noise = noise
        self._named, self._called = names, called
        # in full for a few lines, and half a point less for each doubling
        self._entities = {
            slug: sure * max(MIN_ENTITY, FULL_ENTITY - 0.5 * math.log2(max(1.0, lines / FEW_LINES)))
            for slug, (sure, lines) in entities.items()
        }
        of_names = frozenset[str]().union(*names.values())
        self._text = " ".join(message.parts)
        small = self._text.lower()
        numbers = {match[1] or match[2] for match in _NUMBERED.finditer(small)}
        self._is_german = is_german(small)
        forms = (_ASKS_IN_GERMAN, _ASKS_LAST) if self._is_german else (_ASKS_LAST,)
        self._asks = any(form.match(small) for form in forms) or asks(self._text)
        known = german_weights(idf.weights) if self._is_german else idf.weights
        # a year is evidence of the days
        of_names |= {year for groups in _YEAR.findall(small) for year in groups if year}
        self._weights = {
            term: 0.0 if term in of_names else weight if term in numbers else term_weight(term, weight)
            for term, weight in known.items()
        }
        spaced = [term for term, weight in self._weights.items() if term.isalpha() and term.isascii() and weight]
        self._long = {term for term in spaced if len(term) >= LEAST_OF_COMPOUND and self._weights[term] >= RARE}
        self._pairs = {
            first + second: (first, second) for first, second in pairwise(spaced) if len(first) > 2 < len(second)
        }
        self._families = {
            family_of(term): (term, OF_FAMILY * self._weights[term])
            for term in spaced
            if len(term) >= LEAST_OF_FAMILY and term not in WEAK_WORDS
        }
        self._doings = [verb for pair in _OWN_DOING.findall(small) for verb in pair if verb]
        self._total = sum(weight for term, weight in self._weights.items() if not _is_asking(term))
        self._chance = 0.5 * max(0.0, math.log(max(1, idf.chunks) / MANY_NOTES))
        self._are_few = idf.chunks <= FEW_NOTES
        self._parts = [frozenset(query_terms(part)) for part in message.parts]
        self._concepts, self._frequent = concepts_in(self._text), frequent_concepts_in(self._text)
        self.kinds: Mapping[str, float] = {"nothing": 1, "form": message.form}
        self._is_short = 0 < word_count(message.wording) < SHORT
        self._prior = _log_odds(self.kinds)
        self._significant = significant_words(self._text)
        self._acronyms = (
            {acronym.lower() for acronym in _ACRONYM.findall(self._text)} if not self._text.isupper() else set()
        )

    def of(self, items: Sequence[Item]) -> list[ItemWeight]:
        """Return the evidence for each of the candidate items, in their order."""
        # a concept that both state with the same word is already counted as that word
        spoken: list[frozenset[Concept]] = [
            concepts_in(item.text, beside=self._significant) & self._concepts if self._concepts else frozenset()
            for item in items
        ]
        rarity = {concept: self._rarity(concept, spoken) for concept in self._concepts}
        worths = [self._worth(item, shared, rarity) for item, shared in zip(items, spoken, strict=True)]
        least = max((worth.score for worth in worths if worth.is_included), default=0.0) - FURTHER
        return [replace(worth, is_included=worth.is_included and worth.score >= least) for worth in worths]

    def _rarity(self, concept: Concept, spoken: Sequence[Collection[Concept]]) -> float:
        holding = sum(concept in concepts for concepts in spoken)
        others = max(60, len(spoken)) - holding
        return max(0.3, min(width_weight(concept), math.log((others + 0.5) / (holding + 0.5))))

    def _worth(self, item: Item, shared: Collection[Concept], rarity: Mapping[Concept, float]) -> ItemWeight:
        text = normalised(item.text)
        small = text.lower()
        matches = {term for term in item.terms if self._has_word(term, small, text)}
        beginning = self._with_beginning_in(small, matches)
        matches = {*matches, *self._compounds_in(small, matches)} - beginning
        # a word that only means the item's entity is counted as evidence of the entity
        matches = matches.difference(*(self._called.get(slug, ()) for slug in item.slugs))
        words, part = self._words(matches, item.text)
        words *= IN_PASSAGE if item.is_passage else 1.0
        entity = self._entity(item, matches)
        is_about_entity = any(slug in self._entities for slug in item.slugs)
        excluded = frozenset(concept for concept in self._concepts if is_about_entity and is_of_people(concept))
        does_so = any(re.search(rf"\b(?:i|we|ich|wir) {verb}\b", small) for verb in self._doings)
        share = self._of_part(matches, matches) / self._total if self._total else 0.0
        words = words or self._relatives(item, beginning)
        if self._are_few and 0 < words < FULL and self._concepts:
            # in few notes, a shared word weighs little: it counts at least as much as a shared concept in other words
            same = (concepts_in(item.text) & self._concepts).difference(shared, excluded)
            words = max(words, _in_other_words(rarity, same))
        if weak := self._frequent.intersection(shared):
            weak &= frequent_concepts_in(item.text)
            rarity = {**rarity, **{concept: WEAK_WORD * rarity[concept] for concept in weak}}
        concept_weight = _in_other_words(rarity, frozenset(shared) - excluded)
        if any(map(UNSPACED_RUN.match, matches)):
            concept_weight = 0.0  # 图书馆 contains the character for book
        rise = 0.0 if item.cosine is None else self._noise.rise(item.cosine)
        near = min(NEAR_MAX, max(0.0, rise - NEAR_FROM) * NEAR_WEIGHT)
        kinds = {
            "words": words,
            # a question is answered by what has most of its words; by a line about the speaker's own action, most
            "asked": self._asks * (share * (1 + does_so) + SHARE_OF_ENTITY * entity / FULL_ENTITY),
            "entity": entity,
            "named": entity * self._is_short,
            # a concept and the model measure the same
            "meaning": max(concept_weight, near),
            # days only count together with other evidence
            "days": item.of_days if words or entity or concept_weight or near else 0.0,
        }
        score = _log_odds(kinds)
        has_evidence = (
            words + entity + concept_weight >= LEAST_EVIDENCE
            or (does_so and share >= MOST)
            or self._is_near(item.cosine)
        )
        is_enough = has_evidence and self._prior + score >= 0
        return ItemWeight(score, part, is_enough, kinds)

    def _is_near(self, cosine: float | None) -> bool:
        """Return whether the cosine alone is sufficient evidence; it is only if the noise of the model is known."""
        is_known = self._noise.unrelated is not None and self._noise.is_clear
        return cosine is not None and is_known and self._noise.rise(cosine) >= LEAST_RISE

    def _compounds_in(self, small: str, matches: Collection[str]) -> Iterator[str]:
        """Yield terms that a text writes as two words, and both terms of a pair that it writes as one word."""
        if self._long and (missing := self._long.difference(matches)):
            squeezed = small.replace(" ", "").replace("-", "")
            yield from (term for term in missing if term in squeezed)
        for compound, pair in self._pairs.items():
            if compound in small:
                yield from pair

    def _with_beginning_in(self, small: str, matches: Collection[str]) -> set[str]:
        """Return the compounds of a German message of which a text has only the beginning, such as *Arbeit*."""
        long = (term for term in matches if self._is_german and len(term) >= LEAST_OF_COMPOUND)
        return {term for term in long if term.isalpha() and term[:-_ENDING] not in small}

    def _relatives(self, item: Item, beginning: Collection[str]) -> float:
        """Return the greatest weight of a word that is related to one of the message: *toaster* and *toast*."""
        families = families_in(item.text, self._families.keys()) if self._families else ()
        weights = [weight for term, weight in map(self._families.__getitem__, families) if term not in item.terms]
        return max((*weights, *(OF_FAMILY * self._weights[term] for term in beginning)), default=0.0)

    def _has_word(self, term: str, small: str, text: str) -> bool:
        """Return whether a short word is in a text itself, because a stemmer turns *his* into *hi*."""
        if len(term) > 3 or not term.isascii() or term.isdigit():
            return True
        if term in self._acronyms:
            return re.search(rf"\b{term.upper()}s?\b", text) is not None
        plural = "(?:s|es)?" if len(term) == 3 else ""
        return re.search(rf"(?<![a-z]){term}{plural}(?![a-z])", small) is not None

    def _words(self, matches: Collection[str], text: str) -> tuple[float, int]:
        by_part = [self._of_part(matches, part) + self._initials(part, text) for part in self._parts]
        if not by_part:
            return 0.0, 0
        best = max(range(len(by_part)), key=by_part.__getitem__)
        words = by_part[best] + OTHER_PARTS * (sum(by_part) - by_part[best])
        return (max(0.0, words - self._chance) if words else 0.0), best

    def _of_part(self, matches: Collection[str], part: Collection[str]) -> float:
        runs: list[list[float]] = []
        last = ""
        for term, weight in self._weights.items():
            if term not in matches or term not in part or not weight:
                continue
            if last and len(term) == 2 and last[-1] == term[0] and UNSPACED_RUN.match(term):
                runs[-1].append(weight)
            else:
                runs.append([weight])
            last = term if UNSPACED_RUN.match(term) else ""
        return sum(max(run) + WITHIN_RUN * (sum(run) - max(run)) for run in runs)

    def _initials(self, part: Collection[str], text: str) -> float:
        """Return the weight of an abbreviation for a text that has its words in full: *MR*, merge request."""
        for short in self._acronyms.intersection(part):
            if re.search(r"\b" + r"[\w'’]*[ -]".join(short) + r"[\w'’]+", text, re.IGNORECASE):
                return INITIALS
        return 0.0

    def _entity(self, item: Item, matches: Collection[str]) -> float:
        weights = [
            weight if slug in item.slugs else MENTIONED * weight
            for slug, weight in self._entities.items()
            if slug in item.slugs or ((names := self._named.get(slug)) and names.issubset(matches))
        ]
        return max(weights, default=0.0)


def _log_odds(kinds: Mapping[str, float]) -> float:
    return sum(WEIGHTS[name] * value for name, value in kinds.items() if value)


def _in_other_words(rarity: Mapping[Concept, float], concepts: Collection[Concept]) -> float:
    """Return the combined weight of the two rarest concepts; the second counts half."""
    weights = sorted((rarity[concept] for concept in concepts), reverse=True)[:2]
    return sum(weight * share for weight, share in zip(weights, (1.0, 0.5), strict=False))


def term_weight(term: str, weight: float) -> float:
    """Return the weight of a message's term for an item that has it, from its rarity."""
    if term in _MEANINGLESS:
        return 0.0
    if term.isdigit():
        # a small number is in many lines, and does not say what it counts
        return weight if len(term) > 2 else 0.0
    if UNSPACED_RUN.match(term):
        if _TIMES.fullmatch(term):
            return weight * WEAK_WORD
        weak = sum(sign in _PARTICLES for sign in term)
        return weight * (WEAK_SIGN if len(term) == 1 else (1.0, WEAK_SIGN, WEAK_SIGNS)[min(weak, 2)])
    if len(term) == 1:
        return 0.0
    return weight * (WEAK_WORD if term in WEAK_WORDS else OF_CODE if _CODE.fullmatch(term) else 1.0)


def _is_asking(term: str) -> bool:
    """Return whether a pair of characters has one of a question, as the last two pairs of 钥匙在哪 do."""
    return UNSPACED_RUN.match(term) is not None and not _ASKING.isdisjoint(term)


def parts_first(parts: Iterable[int]) -> list[int]:
    """Return indices ordered so that the first one of each part comes first, for at most three parts."""
    parts = list(parts)
    first = [parts.index(part) for part in dict.fromkeys(parts)][:3]
    return [*first, *(at for at in range(len(parts)) if at not in first)]
