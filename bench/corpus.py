"""Synthetic notes: Markdown of English words under a Zipf-like distribution, the same for the same seed."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

_FUNCTION = """
the of and to a in is it for on with that was at as be this by from we have are not or an but they which you will
has had its were when who can all more there their if so about out up into than then no our after before because
"""
_STEMS = """
gate lamp stone bridge river cloud garden kitchen window table paper letter cabin roof storm harbour ferry train
ticket invoice budget meeting project server backup disk cable router printer camera battery engine wheel brake
bottle bread butter coffee dinner recipe market apple lemon pepper doctor tablet clinic blood sleep walk swim climb
paint draw sing piano guitar novel chapter author teacher student lesson exam school office manager client contract
lawyer permit tax bank loan rent insurance policy passport visa flight hotel island beach forest field barn horse
dog cat bird fish honey winter summer spring autumn morning evening birthday wedding neighbour sister brother
cousin father mother uncle friend alarm clock calendar reminder plan draft review release deploy merge branch
commit patch error crash restart update schema index query token vector chunk model prompt agent memory daemon
socket queue thread process lock cache file folder path name user group password key secret certificate domain
network signal sensor pump valve pipe filter heater boiler radiator carpet curtain sofa shelf drawer hammer ladder
screw drill paintbrush bucket shovel fence hedge pond gravel
"""
_ENDINGS = ("", "", "", "s", "ed", "ing", "er")
_SIZE = 24_000
"""Distinct words: an English text of some megabytes has about as many."""


def _make_vocabulary() -> list[str]:
    """Return the words by rank: function words, stems and their forms, then compounds as the long tail."""
    stems = _STEMS.split()
    forms = [stem + ending for ending in dict.fromkeys(_ENDINGS) for stem in stems]
    shuffled = np.random.default_rng(1).permutation(len(stems) ** 2)
    pairs = list(product(stems, stems))
    compounds = ("".join(pairs[at]) for at in shuffled)
    words = [*_FUNCTION.split(), *forms, *compounds]
    return list(dict.fromkeys(words))[:_SIZE]


_FUNCTION_WORDS = frozenset(_FUNCTION.split())
VOCABULARY = _make_vocabulary()
"""The words by rank, the most frequent first."""
_WORDS = np.array(VOCABULARY, dtype=object)
_SHARES = 1.0 / (np.arange(len(_WORDS)) + 8.0)
_CUMULATED = np.cumsum(_SHARES / _SHARES.sum())


class Writer:
    """Writes notes; two writers of the same seed write the same."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)

    def words(self, count: int) -> list[str]:
        """Return words as a text would use them."""
        picked = np.searchsorted(_CUMULATED, self._random.random(count))
        return list(_WORDS[np.minimum(picked, len(_WORDS) - 1)])

    def sentence(self) -> str:
        """Return a sentence of 6 to 18 words, now and then with an identifier or a date in it."""
        words = self.words(self._between(6, 18))
        if self._between(0, 9) == 0:
            words[-1] = f"{words[-1][:2].upper()}-{self._between(1000, 9999)}"
        if self._between(0, 19) == 0:
            words[0] = f"2026-{self._between(1, 12):02}-{self._between(1, 28):02}"
        text = " ".join(words)
        return f"{text[0].upper()}{text[1:]}."

    def note(self, size: int) -> str:
        """Return a note of about `size` bytes: headings, paragraphs, lists, now and then a fence."""
        blocks = [f"# {self._title()}"]
        length = 0
        while length < size:
            blocks.append(self._block())
            length += len(blocks[-1]) + 2
        return "\n\n".join(blocks)[:size].rstrip() + "\n"

    def question(self, terms: int = 4) -> str:
        """Return a question with words as frequent as those of the notes."""
        return f"where is the {' '.join(self.words(terms))}"

    def keywords(self, count: int) -> list[str]:
        """Return words of three letters and more as frequent as those of the notes, none of them function words."""
        words: list[str] = []
        while len(words) < count:
            words += [word for word in self.words(count) if len(word) > 2 and word not in _FUNCTION_WORDS]
        return words[:count]

    def stranger(self) -> str:
        """Return a question without any word of the notes."""
        letters = self._random.integers(ord("a"), ord("z") + 1, (4, 9))
        return " ".join("zq" + "".join(map(chr, word)) for word in letters)

    def sizes(self, count: int, total: int) -> list[int]:
        """Split `total` bytes into `count` sizes, some several times as long as others."""
        shares = self._random.lognormal(0.0, 0.6, count)
        return [max(60, int(share)) for share in shares / shares.sum() * total]

    def _block(self) -> str:
        kind = self._between(0, 11)
        if kind <= 1:
            return f"## {self._title()}"
        if kind <= 4:
            return "\n".join(f"- {self.sentence()}" for _ in range(self._between(3, 7)))
        if kind == 5:
            return "```sh\n" + "\n".join(f"{' '.join(self.words(3))} --{self.words(1)[0]}" for _ in range(3)) + "\n```"
        return " ".join(self.sentence() for _ in range(self._between(2, 6)))

    def _title(self) -> str:
        return " ".join(self.words(self._between(2, 5))).capitalize()

    def _between(self, low: int, high: int) -> int:
        return int(self._random.integers(low, high + 1))


def write_notes(folder: Path, *, count: int, size: int, seed: int = 0) -> int:
    """Write `count` notes of `size` bytes in all below `folder`, a hundred to a folder; return the bytes written."""
    written = 0
    for path, text in notes(folder, count=count, size=size, seed=seed):
        path.parent.mkdir(parents=True, exist_ok=True)
        written += path.write_bytes(text.encode())
    return written


def notes(folder: Path, *, count: int, size: int, seed: int = 0) -> Iterator[tuple[Path, str]]:
    """Yield path and text of `count` notes of `size` bytes in all."""
    writer = Writer(seed)
    for number, length in enumerate(writer.sizes(count, size)):
        yield folder / f"{number // 100:03}" / f"note-{number:06}.md", writer.note(length)
