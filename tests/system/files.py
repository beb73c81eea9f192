"""The files below a folder."""

from pathlib import Path


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder by its name in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
