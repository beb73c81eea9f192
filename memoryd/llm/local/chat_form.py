"""A task and data as the tokens of one input, in the form that a chat model was taught.

The template of the GGUF is filled in with two placeholders and taken apart at them: marks of the model, such as
<|im_end|> or [INST], are read as marks where the template has them, and as plain text inside a task or data.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from memoryd.embed.local.worker_program import LoadError

TASK: Final = "\ue000task\ue000"
DATA: Final = "\ue000data\ue000"
"""Places in a template; of the private use area, so that no template has them."""
_PLACE: Final = re.compile(f"({TASK}|{DATA})")
PLAIN: Final = f"{TASK}\n\n{DATA}\n\nAnswer:\n"
"""For a model without a template."""
Tokenise = Callable[[bytes, bool], list[int]]
"""Make tokens of a text, with the marks inside read as such or not."""


class ChatForm:
    """The form of one model; raises LoadError where its template cannot be filled in."""

    def __init__(self, template: str, *, bos: str, eos: str, tokenise: Tokenise) -> None:
        form = _filled(template, bos=bos, eos=eos) if template else PLAIN
        self._tokenise = tokenise
        self._parts = _PLACE.split(form)
        if sorted(part for part in self._parts if _PLACE.fullmatch(part)) != [DATA, TASK]:
            raise LoadError("its chat template has no place for a message, or more than one")

    def tokens(self, task: str, data: str) -> list[int]:
        """Return the tokens of the whole input; the mark at the beginning is the caller's."""
        return [token for part in self._parts for token in self._of(part, task, data)]

    @property
    def text(self) -> str:
        """The form with its places."""
        return "".join(self._parts)

    def _of(self, part: str, task: str, data: str) -> list[int]:
        text = {TASK: task, DATA: data}.get(part)
        is_form = text is None
        encoded = (part if text is None else text).encode("utf-8", "replace")
        return self._tokenise(encoded, is_form) if encoded else []


def _filled(template: str, *, bos: str, eos: str) -> str:
    """Fill the template in with a message of the system and one of the user, or with one where it takes one alone."""
    failure = ""
    for messages in _conversations():
        try:
            # heavy, and with llama-cpp-python only
            from llama_cpp.llama_chat_format import Jinja2ChatFormatter

            form: Any = Jinja2ChatFormatter(template, eos_token=eos, bos_token=bos)
            # a date in the form would make another answer of each day
            form.strftime_now = lambda _format: ""
            text = str(form(messages=messages, enable_thinking=False).prompt)
        except Exception as exc:
            # a template is a program, and raises what it likes
            failure = f"{type(exc).__name__}: {exc}"
            continue
        if TASK in text and DATA in text:
            return text
    raise LoadError(f"its chat template cannot be filled in ({failure or 'it leaves the message out'})")


def _conversations() -> Iterator[list[dict[str, str]]]:
    yield [{"role": "system", "content": TASK}, {"role": "user", "content": DATA}]
    # some families know no role of the system
    yield [{"role": "user", "content": f"{TASK}\n\n{DATA}"}]
