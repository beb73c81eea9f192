"""Identifies a model file by its metadata: an embedding model, a reranker, a chat model, or why it is none of them.

Prompts of embedding models are those of the models' cards. A wrong prompt causes no error, but spoils many answers, so
an unknown model gets none. llama.cpp ranks with any model that has a classification head; the metadata shows what
the head's output means, and whether the file must contain a template for the pairs.
"""

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import expression, word_set
from memoryd.errors import ModelError
from memoryd.models.gguf import EMBEDDING_KEY, RERANKING_KEY, WRITING_KEY, GgufHeader, Value, read_header

Meaning = TypeVar("Meaning")
POOLINGS = frozenset({"mean", "cls", "last"})
DECODER_POOLING = "last"
ENCODERS = word_set("""
bert eurobert gemma-embedding jina-bert-v2 jina-bert-v3 llama-embed modern-bert neo-bert nomic-bert
nomic-bert-moe t5encoder
""")
"""Architectures of llama.cpp for embedding; others embed only if their header specifies a pooling."""
NO_TITLE = "none"
PLAIN = "{text}"
TITLE = "{title}"
TITLE_LINE = "{title_line}"
"""The title and a line break; empty without a title."""
PLACES = expression(r"\{(text|title|title_line)\}")


class ModelMetadata(Struct, frozen=True):
    """Metadata of an embedding model, from its GGUF header."""

    architecture: str
    name: str
    """`general.name`; empty if the file has none."""
    dimensions: int
    context: int
    """Tokens."""
    pooling: str | None = None
    """mean, cls or last; None if the header does not say."""
    basename: str = ""
    """`general.basename`: the name without size and version."""
    file_name: str = ""
    """A hint, used only if the header names no family."""


class PromptTemplate(Struct, frozen=True):
    """The prompt (a template with `{text}`, `{title}` and `{title_line}`) and the input type for one purpose."""

    prompt: str = PLAIN
    input_type: str = ""

    def apply(self, text: str, title: str = "") -> str:
        """Put the text into the prompt; an empty title reads `none`."""
        title = title.strip()
        values = {"text": text, "title": title or NO_TITLE, "title_line": f"{title}\n" if title else ""}
        return PLACES.sub(lambda place: values[place[1]], self.prompt)

    @property
    def titled(self) -> "PromptTemplate":
        """The template with the title as a line before the text, unless the prompt has a place for it.

        Measured: the headings above a paragraph of a long page help to distinguish it from similar ones.
        """
        if TITLE in self.prompt:
            return self
        return replace(self, prompt=self.prompt.replace(PLAIN, TITLE_LINE + PLAIN, 1))

    @property
    def name(self) -> str:
        """The template as part of the model's identity, since all of it affects the vector."""
        return f"{self.input_type}|{self.prompt}" if self.input_type else self.prompt


def with_instruction(own: str, instruction: str | None) -> str:
    """Return the instruction as prompt, before the text or around it if it has `{text}`; `own` if there is none."""
    if instruction is None:
        return own
    return instruction if PLAIN in instruction else instruction + PLAIN


class ModelFamily(Struct, frozen=True):
    """How to use one kind of model: templates with `{text}` and `{title}`, pooling, context in tokens."""

    name: str
    query_prompt: str = PLAIN
    document_prompt: str = PLAIN
    pooling: str = "mean"
    context: int = 0

    def query(self, text: str) -> str:
        """Return the prompt for a question."""
        return PromptTemplate(self.query_prompt).apply(text)

    def document(self, text: str, title: str = "") -> str:
        """Return the prompt for a passage."""
        return PromptTemplate(self.document_prompt).titled.apply(text, title)


SEARCH_PASSAGES = "Represent this sentence for searching relevant passages: {text}"
TASK = "Given a web search query, retrieve relevant passages that answer the query"

# the first match counts, so special cases come before similar families
FAMILY_RULES = (
    (
        r"embedding-?gemma",
        ModelFamily("embeddinggemma", "task: search result | query: {text}", "title: {title} | text: {text}"),
    ),
    # no blank after "Query:" here, but one in the older instruct models below, as in the model cards
    (r"qwen3-embedding", ModelFamily("qwen3-embedding", f"Instruct: {TASK}\nQuery:{{text}}", pooling="last")),
    (r"gte-qwen2", ModelFamily("gte-qwen2", f"Instruct: {TASK}\nQuery: {{text}}", pooling="last")),
    (r"e5-mistral", ModelFamily("e5-mistral", f"Instruct: {TASK}\nQuery: {{text}}", pooling="last")),
    (r"e5-(small|base|large)-instruct", ModelFamily("e5-instruct", f"Instruct: {TASK}\nQuery: {{text}}")),
    (r"(^|-)e5-", ModelFamily("e5", "query: {text}", "passage: {text}")),
    (r"arctic-embed-\w+-v2", ModelFamily("arctic-embed-2", "query: {text}", pooling="cls")),
    (r"arctic-embed", ModelFamily("arctic-embed", SEARCH_PASSAGES, pooling="cls")),
    (r"mxbai-embed-(large|xsmall)", ModelFamily("mxbai-embed", SEARCH_PASSAGES, pooling="cls")),
    (r"nomic-(embed-text|bert)", ModelFamily("nomic-embed", "search_query: {text}", "search_document: {text}")),
    (r"bge-m3", ModelFamily("bge-m3", pooling="cls")),
    (
        r"bge-(small|base|large)-zh",
        ModelFamily("bge-zh", "为这个句子生成表示以用于检索相关文章：{text}", pooling="cls"),
    ),
    (r"bge-(small|base|large|micro)", ModelFamily("bge", SEARCH_PASSAGES, pooling="cls")),
    (r"gte-(multilingual|modernbert)|gte-(base|large)-en-v1-5", ModelFamily("gte-new", pooling="cls")),
    (r"(^|-)gte-", ModelFamily("gte")),
    (
        r"jina-(embeddings|bert)-v3",
        ModelFamily(
            "jina-3",
            "Represent the query for retrieving evidence documents: {text}",
            "Represent the document for retrieval: {text}",
        ),
    ),
    (r"jina-(embeddings|bert)-v2", ModelFamily("jina")),
    (r"minilm", ModelFamily("minilm")),
)
"""(pattern over lower-case words joined by hyphens, family)."""
ARCHITECTURE_RULES = {"gemma-embedding": FAMILY_RULES[0][1]}
"""Architectures that only one family uses."""


def family_of(metadata: ModelMetadata) -> ModelFamily:
    """Return the family named by the header, else by the file name, else one without prompts.

    The pooling is that of the header; if it does not say, that of the family.
    """
    family = _named_family(metadata)
    pooling = metadata.pooling if metadata.pooling in POOLINGS else family.pooling
    return replace(family, pooling=pooling, context=metadata.context)


def _named_family(metadata: ModelMetadata) -> ModelFamily:
    by_architecture = ARCHITECTURE_RULES.get(metadata.architecture)
    if by_architecture is not None:
        return by_architecture
    names = (metadata.name, metadata.basename, metadata.file_name, metadata.architecture)
    pooling = "mean" if metadata.architecture in ENCODERS else DECODER_POOLING
    return _first_match(FAMILY_RULES, names) or ModelFamily("plain", pooling=pooling)


LANGUAGE_RULES = (
    (r"multilingual|embedding-?gemma|qwen3|gte-qwen2|bge-m3|arctic-embed-\w+-v2|jina-\w+-v3|text-v2", "many languages"),
    (r"-zh(-|$)", "Chinese"),
    (r"minilm|(^|-)(e5|bge|gte)-|arctic-embed|mxbai-embed|nomic-(embed|bert)|-en(-|$)", "English"),
)
"""(pattern over lower-case words joined by hyphens, the languages)."""


def languages_of(*names: str) -> str:
    """Return the languages of a model with one of these names, as text; empty if the names do not show them."""
    return _first_match(LANGUAGE_RULES, names) or ""


def _first_match(rules: Iterable[tuple[str, Meaning]], names: Iterable[str]) -> Meaning | None:
    """Return the meaning of the first rule that matches the first name that any rule matches; None if none does."""
    words = map(_words, names)
    return next((meaning for name in words for pattern, meaning in rules if re.search(pattern, name)), None)


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def names_embedding(metadata: ModelMetadata) -> bool:
    """Return whether the architecture, the header or the name marks an embedding model."""
    if metadata.architecture in ENCODERS or metadata.pooling in POOLINGS:
        return True
    return _named_family(metadata).name != "plain" or "embed" in _words(f"{metadata.name} {metadata.file_name}")


class _ModelFile(Struct, frozen=True):
    """The header of a model file of any kind; `key` is the configuration key that names the file."""

    path: Path
    key: str
    header: GgufHeader
    architecture: str
    name: str
    """`general.name`; empty if the file has none."""

    @classmethod
    def of(cls, path: Path, key: str) -> Self:
        """Read a header. Raises ModelError: missing, unreadable, a web page, no GGUF, truncated."""
        header = read_header(path, key=key)
        values = header.values
        name = str(values.get("general.name", "")).strip()
        return cls(path, key, header, str(values.get("general.architecture", "")), name)

    @property
    def context(self) -> int:
        """Tokens; 0 if the file does not say."""
        return self.count(f"{self.architecture}.context_length")

    @property
    def pooling(self) -> Value | None:
        return self.header.values.get(f"{self.architecture}.pooling_type")

    @property
    def has_rank_head(self) -> bool:
        return not HEADS.isdisjoint(self.header.heads)

    def count(self, *keys: str) -> int:
        """Return the first positive number among these keys, 0 if there is none."""
        numbers = (self.header.values.get(key) for key in keys)
        return next((number for number in numbers if isinstance(number, int) and number > 0), 0)

    def require(self, what: str, flaw: str) -> None:
        """Raise ModelError if the file is one of several parts, contains no model, or has the given flaw."""
        if (parts := self.count("split.count")) > 1:
            flaw = f"is one of {parts} parts; a model in one file is needed"
        elif not self.architecture or not self.header.tensors or not self.context:
            flaw = "has no weights or does not say what it is"
        if flaw:
            raise ModelError(f"the model {self.path} {flaw}", hint=f"name {what} in {self.key}")


CHAT_TEMPLATE_KEY = "tokenizer.chat_template"


class ChatModel(Struct, frozen=True):
    """Metadata of a chat model, from its GGUF header."""

    name: str
    """`general.name`, else the file's name."""
    architecture: str
    context: int
    """Tokens of prompt and answer together."""
    has_template: bool
    """Whether it has a chat template."""


def inspect_chat_model(path: Path) -> ChatModel:
    """Return the metadata of a complete chat model.

    Raises ModelError as `inspect` does, and blocks as it does.
    """
    file = _ModelFile.of(path, WRITING_KEY)
    flaw = "is a reranker; it does not write" if file.has_rank_head else ""
    if file.architecture in ENCODERS or file.pooling:
        flaw = f"makes vectors (architecture {file.architecture}); it does not write"
    file.require("a chat model", flaw)
    has_template = CHAT_TEMPLATE_KEY in file.header.values
    return ChatModel(file.name or path.stem, file.architecture, file.context, has_template)


DIMENSIONS_MAX = 65_536
POOLING_BY_NUMBER = {1: "mean", 2: "cls", 3: "last"}
POOLING_RANK = 4


def inspect(path: Path) -> ModelMetadata:
    """Return the metadata of a complete embedding model.

    Raises ModelError with a plain message: missing, unreadable, a web page, no GGUF, truncated, not for embedding.
    Blocks (0.2 s for a vocabulary of 262,000): call it in a thread.
    """
    file = _ModelFile.of(path, EMBEDDING_KEY)
    architecture, pooling = file.architecture, file.pooling
    metadata = ModelMetadata(
        architecture=architecture,
        name=file.name,
        dimensions=file.count(f"{architecture}.embedding_length_out", f"{architecture}.embedding_length"),
        context=file.context,
        pooling=POOLING_BY_NUMBER.get(pooling) if isinstance(pooling, int) else None,
        basename=str(file.header.values.get("general.basename", "")).strip(),
        file_name=path.stem,
    )
    flaw = ""
    if pooling == POOLING_RANK:
        flaw = "is a reranker, not an embedding model"
    elif not names_embedding(metadata):
        flaw = f"writes text (architecture {architecture}); it is not an embedding model"
    elif not 0 < metadata.dimensions <= DIMENSIONS_MAX:
        flaw = f"has vectors of {metadata.dimensions} numbers"
    file.require("an embedding model", flaw)
    return metadata


HEADS = frozenset({"cls.weight", "cls.output.weight"})
"""Tensors of a classification head; a model may have only one of them."""
RERANK_TEMPLATE_KEY = "tokenizer.chat_template.rerank"
YES_OR_NO = frozenset({"qwen3", "qwen3vl"})
"""Architectures for which llama.cpp returns a probability: a softmax over yes and no, yes first."""

RERANKER_RULES = (
    (r"bge-reranker", "bge-reranker"),
    (r"jina-reranker", "jina-reranker"),
    (r"qwen3(-vl)?-reranker", "qwen3-reranker"),
)
"""(pattern over lower-case words joined by hyphens, family)."""


class Reranker(Struct, frozen=True):
    """Metadata of a reranker, from its GGUF header."""

    name: str
    """`general.name`, else the file's name."""
    family: str
    """bge-reranker, jina-reranker, qwen3-reranker, or plain."""
    architecture: str
    context: int
    """Tokens of a question and a text together."""

    def relevance(self, score: float) -> float:
        """Return the head's output as 0 to 1, in the same order: a probability unchanged, a logit by the sigmoid.

        Raises ValueError if it is not finite.
        """
        if not math.isfinite(score):
            raise ValueError("the model gives a score that is not finite")
        if self.architecture in YES_OR_NO:
            return min(1.0, max(0.0, score))
        # two forms of the sigmoid: the first would overflow for negative numbers
        return 1 / (1 + math.exp(-score)) if score >= 0 else math.exp(score) / (1 + math.exp(score))


def inspect_reranker(path: Path) -> Reranker:
    """Return the metadata of a complete reranker.

    Raises ModelError as `inspect` does, and if there is no ranking head; blocks as it does.
    """
    file = _ModelFile.of(path, RERANKING_KEY)
    architecture, values = file.architecture, file.header.values
    flaw = ""
    if not file.has_rank_head:
        flaw = f"has no head that ranks (architecture {architecture}); it is not a reranker, or was converted as none"
    elif architecture in YES_OR_NO and not values.get(RERANK_TEMPLATE_KEY):
        flaw = f"does not say how a question and a text are put to it ({RERANK_TEMPLATE_KEY} is missing)"
    file.require("a reranker", flaw)
    names = (file.name, str(values.get("general.basename", "")), path.stem)
    family = _first_match(RERANKER_RULES, names) or "plain"
    return Reranker(file.name or path.stem, family, architecture, file.context)


class ModelUse(Struct, frozen=True):
    """A use of models. `check` raises ModelError unless a file is a complete model for it."""

    key: str
    check: Callable[[Path], object]
    without: str


def _inspect_either(path: Path) -> object:
    return inspect_reranker(path) if _ModelFile.of(path, EMBEDDING_KEY).has_rank_head else inspect(path)


EMBEDDING = ModelUse(EMBEDDING_KEY, inspect, "keyword search works without it; to have vectors")
RERANKING = ModelUse(RERANKING_KEY, inspect_reranker, "answers come without it; to have them reranked")
WRITING = ModelUse(WRITING_KEY, inspect_chat_model, "all works without it; to have it label and write")
EITHER = ModelUse(EMBEDDING_KEY, _inspect_either, EMBEDDING.without)
"""For fetching a model by name, for either use."""
