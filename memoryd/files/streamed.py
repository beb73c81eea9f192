"""Write a file that is too large to be handed over as bytes: whole or not at all, and never over a stranger's."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from memoryd.files.drafts import draft_beside
from memoryd.files.writing import FileChangedError


@contextlib.contextmanager
def streamed_file(path: Path, *, replaces: bool) -> Iterator[IO[bytes]]:
    """Give a file to write to, for its owner alone (mode 0600), which takes its place when the block ends well.

    With `replaces` it does so over what is there; without, it raises FileChangedError if anything is. Raises OSError
    where the disk stands in the way; then, and when the block raises, what was there stays.
    """
    with draft_beside(path) as (draft, file):
        yield file
        file.flush()
        if replaces:
            draft.replace(path)
            return
        try:
            # unlike a rename, a link never takes the place of what is there
            os.link(draft, path)
        except FileExistsError as exc:
            raise FileChangedError(f"{path.name} is there already") from exc
