"""Weights that another program put into the shared Hugging Face cache: read where they lie, never written or removed.

`models--owner--repository/refs/<revision>` holds a commit, `snapshots/<commit>/<file>` is a link into `blobs`:
https://huggingface.co/docs/huggingface_hub/guides/manage-cache
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from memoryd.errors import ModelError
from memoryd.models.inspection import inspect
from memoryd.models.source import HubSource

PLACES: Final = (("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub"))
"""(variable, where the cache lies below the folder it names), the first that is set counts."""
DEFAULT_PLACE: Final = "~/.cache/huggingface/hub"
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
REF_BYTES_MAX: Final = 64


def hub_cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Return where `environment` puts the shared cache; None if `~` leads nowhere."""
    named = (Path(environment[name], below) for name, below in PLACES if environment.get(name))
    try:
        return next(named, Path(DEFAULT_PLACE)).expanduser().absolute()
    except RuntimeError:
        return None


def find_in_hub_cache(source: HubSource, folder: Path, check: Callable[[Path], object] = inspect) -> Path | None:
    """Return the file of `source` in the shared cache `folder` if a whole model that passes `check` is there.

    `check` raises ModelError. Blocks as `inspect` does, once for each state of a file.
    """
    repository = folder / f"models--{source.owner}--{source.repository}"
    try:
        path = repository / "snapshots" / _commit(repository, source.revision) / source.file
        blob = path.resolve(strict=True)
        # others write here: a link may lead out of the cache, or to a pipe whose opening would never return
        if not blob.is_relative_to(folder.resolve()) or not blob.is_file() or blob.suffix == ".incomplete":
            return None
        status = blob.stat()
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle, before Python 3.13
        return None
    return path if _is_fit(path, check, (status.st_size, status.st_mtime_ns, status.st_ino)) else None


def _commit(repository: Path, revision: str) -> str:
    """Return the commit of `revision`; ValueError if what stands there is none, and might be a way out."""
    ref = repository / "refs" / revision
    text = revision
    if not COMMIT.fullmatch(revision) and ref.is_file():
        with ref.open("rb") as stream:
            text = stream.read(REF_BYTES_MAX).decode("ascii").strip()
    if not COMMIT.fullmatch(text):
        raise ValueError(f"{ref} names no commit")
    return text


@lru_cache(maxsize=16)
def _is_fit(path: Path, check: Callable[[Path], object], _stamp: tuple[int, ...]) -> bool:
    """Tell whether `path` may be loaded; remembered, for a waiting daemon looks again every few seconds."""
    try:
        check(path)
    except ModelError:
        return False
    return True
