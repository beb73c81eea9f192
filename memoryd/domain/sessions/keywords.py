"""What a question is about, without a model: its telling words, and of scripts without spaces its telling pairs.

A run of Chinese is cut into pairs that are frequent in the language and do not overlap: of all ways to cut it the one
whose pairs are the most common together (a shortest path, as dictionary segmenters do it, over a table of pairs).
"""

import math
import re
from collections.abc import Callable
from typing import Final

from memoryd.domain.text.words import STOP_WORDS, UNSPACED, normalised

Commonness = Callable[[str], float]
"""The chance that a usual text holds a word or pair, 0 to 1, as `ranking.background` tells it; 0 for what is rare."""

MAX_KEYWORDS: Final = 16
_UNITS: Final = re.compile(f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_KANA: Final = re.compile("[\u3040-\u309f]+\\Z")
"""Pairs of hiragana are endings and particles."""
_ENGLISH = """
hi hello hey ok okay yes yeah thanks thank please really maybe
think know want need like get got let lets go use make way
thing things something anything everything much many lot bit sure right good great well now here again always never
every still even else anyway supposed remind
"""
_CHINESE = """
这个 那个 这些 那些 这样 那样 这里 那里 什么 怎么 么样 为什 哪里 哪个 如何 可以 一个 一下 一些 我们 你们 他们 没有
因为 所以 时候 觉得 知道 想知 问题 里面 才能 能够 还是 或者
但是 如果 就是 不是 不能 都要 要不 需要 应该 现在 已经 自己
大家 请问 谢谢 你好 您好 好的 你觉 是不 有没 能不 可能 其实
然后 而且 以及 还有 一样 这种 那种 东西 事情 怎样 多少 是否 帮我
另外 多久 来着 上次 当时
给我 告诉 帮忙 我想 我要 不要 一直 每次 认为 看看 想想
"""
_SPOKEN: Final = frozenset((_ENGLISH + _CHINESE).split())
"""Words of talk, beside the stop words: they say nothing of what a question is about."""
_PARTICLES: Final = frozenset("让就都也又才把被从到对为会要很再还不没去来后前里上下中")
"""Characters that are words of their own as often as parts of others: a pair with one must be a common word."""
_COMMON_ENOUGH: Final = 0.004
_WORDS_WITH_STOPS: Final = frozenset({"目的", "拥有", "有效", "私有"})
_TOO_COMMON: Final = 0.25
"""What so many texts hold is no keyword."""
_RARE: Final = 0.001
_UNKNOWN, _KNOWN = 0.1, 1.0
"""What a pair is worth that nobody has counted, and the least that a known one is."""


def never_common(_: str) -> float:
    """Return 0, for whoever knows nothing of a language."""
    return 0.0


def rarity(commonness: float) -> float:
    """Return 1 for a word that fewer than one of 1,000 usual texts hold, less for others: 1/3 for one of ten."""
    return min(1.0, math.log10(max(commonness, _RARE)) / math.log10(_RARE))


def keywords(text: str, commonness: Commonness = never_common, *, limit: int = MAX_KEYWORDS) -> tuple[str, ...]:
    """Return the distinct telling words of a text in order, in small letters; the rarest of them if there are many."""
    small = normalised(text).lower()
    words = [word for unit in _UNITS.findall(small) for word in _words_of(unit, commonness)]
    telling = list(dict.fromkeys(word for word in words if _is_telling(word, commonness)))
    if len(telling) > limit:
        rarest = frozenset(sorted(telling, key=commonness)[:limit])
        telling = [word for word in telling if word in rarest]
    return tuple(telling)


def _words_of(unit: str, commonness: Commonness) -> list[str]:
    return _pairs(unit, commonness) if _UNSPACED.match(unit) else [unit]


def _is_telling(word: str, commonness: Commonness) -> bool:
    if word in STOP_WORDS or word in _SPOKEN or _KANA.match(word):
        return False
    if len(word) == 2 and _UNSPACED.match(word) and _is_torn(word, commonness):
        return False
    is_letter = len(word) == 1 and not _UNSPACED.match(word)
    return not is_letter and commonness(word) < _TOO_COMMON


def _pairs(run: str, commonness: Commonness) -> list[str]:
    """Cut a run without spaces into pairs that do not overlap; what stands alone between them says nothing."""
    if len(run) < 2:
        return [run]
    # best[at]: the worth of the best cut of the first `at` characters, and whether a pair ends there
    best: list[tuple[float, bool]] = [(0.0, False), (0.0, False)]
    for end in range(2, len(run) + 1):
        paired = best[end - 2][0] + _worth(run[end - 2 : end], commonness)
        best.append((paired, True) if paired > best[end - 1][0] else (best[end - 1][0], False))
    found, end = [], len(run)
    while end > 1:
        if best[end][1]:
            found.append(run[end - 2 : end])
        end -= 2 if best[end][1] else 1
    return found[::-1]


def _worth(pair: str, commonness: Commonness) -> float:
    """Return what a pair is worth in a cut: more the more common it is, by its logarithm; words of talk as known."""
    if pair in _SPOKEN:
        return 2 * _KNOWN
    if _is_torn(pair, commonness):
        return _UNKNOWN / 2
    if (share := commonness(pair)) <= 0:
        return _UNKNOWN
    return _KNOWN + max(0.0, 1 + math.log10(share) / 5)


def _is_torn(pair: str, commonness: Commonness) -> bool:
    """Tell whether a pair is no word, but a particle and a piece of its neighbour."""
    if pair in _WORDS_WITH_STOPS:
        return False
    is_rare_particle = not _PARTICLES.isdisjoint(pair) and commonness(pair) < _COMMON_ENOUGH
    return is_rare_particle or not STOP_WORDS.isdisjoint(pair)
