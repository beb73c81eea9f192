"""What giving every passage a vector would send away: counted before anything is sent."""

from dataclasses import dataclass

import apsw

from memoryd.domain.media import modality_of, token_estimate
from memoryd.domain.text.tokens import estimate


@dataclass(frozen=True, slots=True)
class PendingCost:
    """Files and distinct passages without a vector, and their tokens (estimated).

    `media` of the passages are pictures and sounds, of `media_bytes` together.
    """

    files: int
    passages: int
    tokens: int
    media: int = 0
    media_bytes: int = 0


_PENDING = """
FROM passages p JOIN chunks c ON c.id = p.chunk_id JOIN files f ON f.id = c.file_id
WHERE NOT EXISTS (SELECT 1 FROM vectors v JOIN spaces s ON s.id = v.space_id
                  WHERE s.fingerprint = :space AND v.hash = p.hash)
  AND NOT EXISTS (SELECT 1 FROM rejected r JOIN spaces s ON s.id = r.space_id
                  WHERE s.fingerprint = :space AND r.hash = p.hash)
"""
_COUNT_FILES = f"SELECT count(DISTINCT c.file_id) {_PENDING}"
_SELECT_TEXTS = f"""
SELECT c.heading, iif(p.stop, substr(c.text, p.start + 1, p.stop - p.start), c.text), iif(p.stop, '', f.path), f.size
{_PENDING} GROUP BY p.hash
"""


def pending_cost(db: apsw.Connection, fingerprint: str) -> PendingCost:
    """Count what has no vector of this fingerprint; of an unknown one, everything. Reads every such text once."""
    files: int = db.execute(_COUNT_FILES, {"space": fingerprint}).get
    passages = tokens = media = media_bytes = 0
    for heading, text, path, size in db.execute(_SELECT_TEXTS, {"space": fingerprint}):
        passages += 1
        tokens += estimate(heading) + estimate(text)
        if modality := modality_of(path):
            media += 1
            media_bytes += size
            tokens += token_estimate(modality, size)
    return PendingCost(files, passages, tokens, media, media_bytes)
