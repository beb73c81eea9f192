"""Write a file so that whoever reads it sees the old bytes or the new ones, never a part."""

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file whole, for its owner alone (mode 0600); raises OSError, and leaves the old one then."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
