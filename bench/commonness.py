"""`python -m bench.commonness DICT`: make the table of how common words are.

English comes from the order of the whole words in the WordPiece vocabulary of BERT, uncased (Apache-2.0), which the
starter model carries: words stand there by how often they are, and how often follows from the place (Zipf's law as
Mandelbrot has it: https://en.wikipedia.org/wiki/Zipf-Mandelbrot_law). A word counts for all with its stem, as in the
index. Chinese comes from DICT, the dictionary of jieba 0.42.1 (MIT; `pip download jieba`, jieba/dict.txt): pairs of
characters within words, and where one word ends and another begins, as if they followed each other by chance.
Terms stand in it as they are written, with the figure of their stem: to stem a question would need a stemmer here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import apsw
import click

from memoryd.config.paths import models_dir
from memoryd.domain.ranking.calibration import pack_background
from memoryd.models.store import ModelStore
from memoryd.search.ranking import TABLE
from tests.daemon import STARTER

WORD_MARK = "\u2581"
"""Begins a whole word in the vocabulary, as llama.cpp keeps it."""
MANDELBROT = 2.7
PAIRS = 12_000
STEMMER = ("porter", ["unicode61"])


@click.command()
@click.argument("dictionary", type=click.Path(exists=True, path_type=Path))
def main(dictionary: Path) -> None:
    """Write the table into the package."""
    model = ModelStore(models_dir()).locate(STARTER)
    if model is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {STARTER}")
    table = {**_english(_vocabulary(model)), **_chinese(dictionary)}
    TABLE.write_bytes(pack_background(table))
    click.echo(f"{len(table)} terms in {TABLE.stat().st_size} bytes")


def _vocabulary(model: Path) -> Iterator[str]:
    """Yield the whole words of a model's vocabulary, the most common first."""
    from gguf import GGUFReader  # heavy, and nothing else here wants it

    field = GGUFReader(model).fields["tokenizer.ggml.tokens"]
    tokens = [bytes(field.parts[at]).decode() for at in field.data]
    # what stands before is signs and single letters, in the order of Unicode
    for token in tokens[tokens.index(f"{WORD_MARK}the") :]:
        word = token.removeprefix(WORD_MARK)
        if word != token and len(word) > 1 and word.isascii() and word.isalpha():
            yield word


def _english(words: Iterator[str]) -> dict[str, float]:
    """Return how often each word is, of all words, together with those of its stem."""
    shares = {word: 1 / (rank + MANDELBROT) for rank, word in enumerate(words, start=1)}
    total = sum(shares.values())
    cut = apsw.Connection("").fts5_tokenizer(*STEMMER)
    flags = apsw.FTS5_TOKENIZE_DOCUMENT
    stems = {word: str(cut(word.encode(), flags, None, include_offsets=False)) for word in shares}
    by_stem: dict[str, float] = defaultdict(float)
    for word, share in shares.items():
        by_stem[stems[word]] += share / total
    return {word: by_stem[stems[word]] for word in shares}


def _chinese(dictionary: Path) -> dict[str, float]:
    """Return how often each of the commonest pairs of characters is, of all pairs."""
    within, first, last, total = Counter[str](), Counter[str](), Counter[str](), 0
    for line in dictionary.read_text(encoding="utf-8").splitlines():
        word, count, _ = line.split(" ")
        if not all("\u4e00" <= sign <= "\u9fff" for sign in word):
            continue
        times = int(count)
        total += times
        first[word[0]] += times
        last[word[-1]] += times
        for pair in pairwise(word):
            within["".join(pair)] += times
    across = {
        one + other: last[one] * first[other] / total
        for one, _ in last.most_common(400)
        for other, _ in first.most_common(400)
    }
    counts = Counter(across)
    counts.update(within)
    pairs = sum(within.values()) + total
    return {pair: count / pairs for pair, count in counts.most_common(PAIRS)}


if __name__ == "__main__":
    main()
