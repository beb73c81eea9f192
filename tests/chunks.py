"""Chunks of a text with offsets in characters, for tests that compare them with slices of the text."""

from msgspec.structs import replace

from memoryd.domain.text.chunking import Chunk, Span, each_chunk
from memoryd.domain.text.lines import encode_padded


def chunk(text: str, *, tokens: int = 400, overlap: int = 80, passage_tokens: int = 100) -> list[Chunk]:
    """Cut a text as the package does."""
    data = encode_padded(text)
    cut = list(each_chunk(data, tokens=tokens, overlap=overlap, passage_tokens=passage_tokens))
    at, last = {0: 0}, 0
    for edge in sorted({edge for part in cut for edge in _edges(part)}):
        at[edge] = at[last] + len(data[last:edge].decode("utf-8", "surrogatepass"))
        last = edge
    return [
        replace(
            part,
            start=at[part.start],
            end=at[part.end],
            own_start=at[part.own_start],
            passages=tuple(Span(at[span.start], at[span.end]) for span in part.passages),
        )
        for part in cut
    ]


def _edges(part: Chunk) -> list[int]:
    return [part.start, part.end, part.own_start, *(edge for span in part.passages for edge in (span.start, span.end))]
