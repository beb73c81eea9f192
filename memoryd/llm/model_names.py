"""How a text model is named where its words are on record."""

from typing import Final

NAME_CHARACTERS: Final = 100
_MARK_UP: Final = str.maketrans(dict.fromkeys("<>[]`*\\", "-"))


def recorded_name(provider: str, model: str, release: str) -> str:
    """Return `provider/model@release` on one line and without mark-up: a file says of itself what it likes."""
    name = "".join(sign for sign in " ".join(model.split()) if sign.isprintable()).translate(_MARK_UP)
    return f"{provider}/{name[:NAME_CHARACTERS]}@{release}"
