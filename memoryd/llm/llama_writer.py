"""The writing worker: a child process that loads one GGUF with llama.cpp and answers in JSON, under a grammar.

Run as `python -m memoryd.llm.llama_writer FD`, FD being one end of a socket pair; it ends when the other end closes.

The template of the GGUF is filled in with two placeholders and split at them. Marks of the model, such as <|im_end|> or
[INST], are read as marks in the template, and as plain text inside a task or data.
"""

import ctypes
import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from memoryd.domain.expressions import expression
from memoryd.embed.local.frames import WRITE_POOLING, Load, Message, NoResult, WorkerRequest, Write, Written
from memoryd.embed.local.worker_program import ErrorLog, LoadError, library, serve

TASK = "\ue000task\ue000"
DATA = "\ue000data\ue000"
"""Placeholders for a template, with characters of the private use area, so that no template contains them."""
_PLACE = expression(f"({TASK}|{DATA})")
PLAIN = f"{TASK}\n\n{DATA}\n\nAnswer:\n"
"""The form for a model without a template."""
Tokenise = Callable[[bytes, bool], list[int]]
"""Tokenises a text; the flag is whether marks in it are read as marks."""
SEED = 7
BATCH = 256
"""Tokens computed at once; a larger batch takes more memory and is hardly faster on a CPU."""
PIECE_BYTES = 1024
"""Size of the buffer for the text of a token; more than any token needs."""
_CHARACTER = expression(r"^char ::= .*$", re.MULTILINE)
_VALID = (
    r"char ::= [\x20-\x21\x23-\x5B\x5D-\x7E\u00A0-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]"
    r' | "\\" ["\\/bfnrt]'
)
"""Grammar of a character of a JSON string, RFC 8259 section 7, without `\\u` escapes, which could be lone surrogates.

It replaces the rule of llama-cpp-python, which allows control characters, although they are no valid JSON.
"""


class ChatForm:
    """The prompt form of one model. Raises LoadError if its template cannot be filled in."""

    def __init__(self, template: str, *, bos: str, eos: str, tokenise: Tokenise) -> None:
        form = _fill_template(template, bos=bos, eos=eos) if template else PLAIN
        self._tokenise = tokenise
        self._parts = _PLACE.split(form)
        if sorted(part for part in self._parts if _PLACE.fullmatch(part)) != [DATA, TASK]:
            raise LoadError("its chat template has no place for a message, or more than one")

    def tokens(self, task: str, data: str) -> list[int]:
        """Return the tokens of the complete input; the caller adds the mark at the beginning."""
        return [token for part in self._parts for token in self._tokens_of(part, task, data)]

    @property
    def text(self) -> str:
        """The form with its placeholders."""
        return "".join(self._parts)

    def _tokens_of(self, part: str, task: str, data: str) -> list[int]:
        text = {TASK: task, DATA: data}.get(part)
        is_form = text is None
        encoded = (part if text is None else text).encode("utf-8", "replace")
        return self._tokenise(encoded, is_form) if encoded else []


def _fill_template(template: str, *, bos: str, eos: str) -> str:
    """Fill in the template with a system and a user message, or with a user message only if it allows no other."""
    failure = ""
    conversations = (
        [{"role": "system", "content": TASK}, {"role": "user", "content": DATA}],
        # some model families have no system role
        [{"role": "user", "content": f"{TASK}\n\n{DATA}"}],
    )
    for messages in conversations:
        try:
            # imported here: slow to load, and only available with llama-cpp-python
            from llama_cpp.llama_chat_format import Jinja2ChatFormatter

            form: Any = Jinja2ChatFormatter(template, eos_token=eos, bos_token=bos)
            # without a date, which would change the answers every day
            form.strftime_now = lambda _format: ""
            text = str(form(messages=messages, enable_thinking=False).prompt)
        except Exception as exc:
            # a template is a program, and may raise anything
            failure = f"{type(exc).__name__}: {exc}"
            continue
        if TASK in text and DATA in text:
            return text
    raise LoadError(f"its chat template cannot be filled in ({failure or 'it leaves the message out'})")


class WritingModel:
    """A loaded model that answers in JSON; it has no vectors, so `dimensions` is 0."""

    dimensions = 0

    def __init__(self, library: Any, llama: Any, is_unwanted: Callable[[], bool]) -> None:
        self._library = library
        self._llama = llama
        self._is_unwanted = is_unwanted
        # keep a reference: llama.cpp stores only the pointer
        self._abort = library.ggml_abort_callback(lambda _data: is_unwanted())
        library.llama_set_abort_callback(llama.ctx, self._abort, None)
        self._vocabulary = library.llama_model_get_vocab(llama.model)
        self._piece = ctypes.create_string_buffer(PIECE_BYTES)
        self.context = int(llama.n_ctx())
        self._form = self._chat_form()

    def answer(self, request: WorkerRequest) -> Message:
        """Return the answer to a task, or the reason why there is none."""
        if not isinstance(request, Write):
            return NoResult(request.id, "a chat model writes only")
        tokens = self._tokens(request)
        if len(tokens) + request.max_tokens > self.context:
            needed = f"{len(tokens)} tokens and an answer of {request.max_tokens}"
            return NoResult(request.id, f"the question has {needed}, and the model takes {self.context} in all")
        try:
            return self._write_answer(request, tokens)
        except (RuntimeError, ValueError) as exc:
            return NoResult(request.id, "cancelled" if self._is_unwanted() else f"it cannot be computed: {exc}")

    def _tokens(self, request: Write) -> list[int]:
        tokens, begin = self._form.tokens(request.task, request.data), int(self._llama.token_bos())
        has_begin = bool(self._library.llama_vocab_get_add_bos(self._vocabulary)) and begin >= 0
        return [begin, *tokens] if has_begin and tokens[:1] != [begin] else tokens

    def _write_answer(self, request: Write, tokens: list[int]) -> Message:
        grammar = grammar_of(request.schema)
        # drop cached state of another question: computed in other batches, it may differ in the last bits
        self._llama.reset()
        text = bytearray()
        for count, token in enumerate(self._llama.generate(tokens, temp=0.0, repeat_penalty=1.0, grammar=grammar), 1):
            if self._is_unwanted():
                return NoResult(request.id, "cancelled")
            text += self._text_of(token)
            if text.rstrip().endswith(b"}") and _is_json(answer := _decode(text)):
                return Written(request.id, answer)
            if count >= request.max_tokens or self._library.llama_vocab_is_eog(self._vocabulary, token):
                break
        return NoResult(request.id, f"no whole answer within {request.max_tokens} tokens")

    def _text_of(self, token: int, *, is_mark_shown: bool = False) -> bytes:
        buffer = self._piece
        size = self._library.llama_token_to_piece(self._vocabulary, token, buffer, len(buffer), 0, is_mark_shown)
        return buffer.raw[: max(0, size)]

    def _chat_form(self) -> ChatForm:
        llama, template = self._llama, self._library.llama_model_chat_template(self._llama.model, None)
        begin, end = (
            self._text_of(mark, is_mark_shown=True).decode(errors="replace") if mark >= 0 else ""
            for mark in (int(llama.token_bos()), int(llama.token_eos()))
        )
        return ChatForm(
            template.decode(errors="replace") if template else "",
            bos=begin,
            eos=end,
            tokenise=lambda text, has_marks: list(llama.tokenize(text, add_bos=False, special=has_marks)),
        )


def grammar_of(schema: str) -> Any:
    """Return llama.cpp's grammar of a JSON schema. Raises ValueError if that is not possible."""
    from llama_cpp.llama_grammar import LlamaGrammar, json_schema_to_gbnf

    try:
        rules = json_schema_to_gbnf(schema)
    except Exception as exc:
        raise ValueError(f"no grammar can be made of the schema: {type(exc).__name__}") from exc
    return LlamaGrammar.from_string(_CHARACTER.sub(lambda _rule: _VALID, rules), verbose=False)


def _decode(text: bytearray) -> str:
    """Decode a text. A run of invalid UTF-8, which the grammar accepts as a character, becomes one U+FFFD."""
    return re.sub("\ufffd+", "\ufffd", text.decode(errors="replace"))


def _is_json(text: str) -> bool:
    """Return whether this is a complete JSON text; a model may continue with spaces after it."""
    with suppress(ValueError):
        json.loads(text)
        return True
    return False


def load(order: Load, is_unwanted: Callable[[], bool]) -> WritingModel:
    """Load the model. Raises LoadError. An answer may take minutes; it is aborted when `is_unwanted` returns true."""
    if order.pooling != WRITE_POOLING:
        raise LoadError(f"pooling {order.pooling!r} is not {WRITE_POOLING}")
    if not Path(order.model).is_file():
        raise LoadError("no such file")
    llama_cpp = library(is_whole=True)
    errors = ErrorLog(llama_cpp)
    try:
        llama = llama_cpp.Llama(
            order.model,
            n_ctx=order.context,
            n_batch=BATCH,
            n_ubatch=BATCH,
            n_threads=order.threads,
            n_threads_batch=order.threads,
            seed=SEED,
            no_perf=True,
            verbose=False,
        )
    except Exception as exc:
        # it also compiles the chat template, which is a program and may fail in any way
        raise LoadError(f"{errors.reason()} ({type(exc).__name__}: {exc})") from exc
    return WritingModel(llama_cpp, llama, is_unwanted)


if __name__ == "__main__":
    serve(int(sys.argv[1]), load)
