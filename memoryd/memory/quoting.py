"""Memory text as data in a prompt: one line between marks that the text itself cannot hold."""

import json
from typing import Final

TEXT_CHARACTERS: Final = 2000
"""A longer text is cut before it is put into a prompt."""


def quoted(name: str, text: str) -> str:
    """Return `<name>"text"</name>`: the text is a JSON string without line breaks or angle brackets.

    So nothing in it can close the mark, begin a turn of a chat template, or stand on a line of its own.
    """
    line = json.dumps(" ".join(text[:TEXT_CHARACTERS].split()), ensure_ascii=False)
    # a lone half of a character cannot be sent
    line = line.encode("utf-8", "replace").decode().replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<{name}>{line}</{name}>"
