"""How common words are in English and Chinese, for workspaces whose few notes cannot tell.

The table was made by `bench/commonness.py`, which says where its figures come from; NOTICE names their owners.
"""

from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from memoryd.domain.ranking.calibration import Background

TABLE: Final = Path(__file__).with_name("word_background.zlib")
_PACKED: Final = TABLE.read_bytes()
"""Read with the module: when somebody first asks, the program may have been replaced by another version."""
_REMEMBERED: Final = 4_096


@lru_cache(_REMEMBERED)
def commonness(term: str) -> float:
    """Return the chance that a usual chunk of the language holds a term of the index, 0 to 1; 0 for what is rare."""
    return _background().commonness(term)


@cache
def _background() -> Background:
    """Return the table, unpacked when it is first asked: a daemon that nobody asks does without it."""
    return Background(_PACKED)
