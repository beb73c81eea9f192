"""Families of embedding models: the prompts each was trained with, and how its token vectors become one.

Prompts are those of the models' own cards. A wrong one raises no error and costs a good part of the answers,
so an unknown model gets none.
"""

import re
from dataclasses import dataclass
from typing import Final

POOLINGS: Final = frozenset({"mean", "cls", "last"})
DECODER_POOLING: Final = "last"
ENCODERS: Final = frozenset(
    {
        "bert",
        "eurobert",
        "gemma-embedding",
        "jina-bert-v2",
        "jina-bert-v3",
        "llama-embed",
        "modern-bert",
        "neo-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "t5encoder",
    }
)
"""Architectures of llama.cpp that are made for embedding; the others embed only if their header says how."""
NO_TITLE: Final = "none"


@dataclass(frozen=True, slots=True)
class ModelMetadata:
    """What the header of a GGUF says about an embedding model."""

    architecture: str
    name: str
    """`general.name`; empty if the file has none."""
    dimensions: int
    context: int
    """Tokens."""
    pooling: str | None = None
    """mean, cls or last; None if the header is silent."""
    basename: str = ""
    """`general.basename`: the name without size and version."""
    file_name: str = ""
    """Only a hint: used when the header names no family."""


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """How to ask one kind of model: templates with `{text}` and `{title}`, the pooling, the context in tokens."""

    name: str
    query_prompt: str
    document_prompt: str
    pooling: str
    context: int

    def query(self, text: str) -> str:
        """Return the prompt for a question."""
        return self.query_prompt.format(text=text)

    def document(self, text: str, title: str = "") -> str:
        """Return the prompt for a passage.

        Where the model's own form has no place for the title, it stands as a line above the text: measured, a
        paragraph of a long page is told from its like by the headings it stands under. Where it has one, an empty
        title reads `none`.
        """
        title = title.strip()
        if "{title}" in self.document_prompt:
            return self.document_prompt.format(text=text, title=title or NO_TITLE)
        return self.document_prompt.format(text=f"{title}\n{text}" if title else text)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A family and the names it goes by: a pattern over lower-case words joined by hyphens."""

    family: str
    pattern: str
    query_prompt: str = "{text}"
    document_prompt: str = "{text}"
    pooling: str = "mean"


SEARCH_PASSAGES: Final = "Represent this sentence for searching relevant passages: {text}"
TASK: Final = "Given a web search query, retrieve relevant passages that answer the query"

# the first match counts: special cases stand before the family they resemble
RULES: Final = (
    _Rule(
        "embeddinggemma",
        r"embedding-?gemma",
        "task: search result | query: {text}",
        "title: {title} | text: {text}",
    ),
    # no blank after "Query:" here, one in the older instruct models below: so say the model cards
    _Rule("qwen3-embedding", r"qwen3-embedding", f"Instruct: {TASK}\nQuery:{{text}}", pooling="last"),
    _Rule("gte-qwen2", r"gte-qwen2", f"Instruct: {TASK}\nQuery: {{text}}", pooling="last"),
    _Rule("e5-mistral", r"e5-mistral", f"Instruct: {TASK}\nQuery: {{text}}", pooling="last"),
    _Rule("e5-instruct", r"e5-(small|base|large)-instruct", f"Instruct: {TASK}\nQuery: {{text}}"),
    _Rule("e5", r"(^|-)e5-", "query: {text}", "passage: {text}"),
    _Rule("arctic-embed-2", r"arctic-embed-\w+-v2", "query: {text}", pooling="cls"),
    _Rule("arctic-embed", r"arctic-embed", SEARCH_PASSAGES, pooling="cls"),
    _Rule("mxbai-embed", r"mxbai-embed-(large|xsmall)", SEARCH_PASSAGES, pooling="cls"),
    _Rule("nomic-embed", r"nomic-(embed-text|bert)", "search_query: {text}", "search_document: {text}"),
    _Rule("bge-m3", r"bge-m3", pooling="cls"),
    _Rule("bge-zh", r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：{text}", pooling="cls"),
    _Rule("bge", r"bge-(small|base|large|micro)", SEARCH_PASSAGES, pooling="cls"),
    _Rule("gte-new", r"gte-(multilingual|modernbert)|gte-(base|large)-en-v1-5", pooling="cls"),
    _Rule("gte", r"(^|-)gte-"),
    _Rule(
        "jina-3",
        r"jina-(embeddings|bert)-v3",
        "Represent the query for retrieving evidence documents: {text}",
        "Represent the document for retrieval: {text}",
    ),
    _Rule("jina", r"jina-(embeddings|bert)-v2"),
    _Rule("minilm", r"minilm"),
)
ARCHITECTURE_RULES: Final = {"gemma-embedding": RULES[0]}
"""An architecture that one family alone uses."""


def family_of(metadata: ModelMetadata) -> ModelFamily:
    """Return the family that the header names, else the one that the file name hints at, else no prompts.

    Pooling: what the header says counts; where it is silent, what the family was trained with.
    """
    rule = _rule_of(metadata)
    return ModelFamily(
        name=rule.family,
        query_prompt=rule.query_prompt,
        document_prompt=rule.document_prompt,
        pooling=metadata.pooling if metadata.pooling in POOLINGS else rule.pooling,
        context=metadata.context,
    )


def _rule_of(metadata: ModelMetadata) -> _Rule:
    by_architecture = ARCHITECTURE_RULES.get(metadata.architecture)
    if by_architecture is not None:
        return by_architecture
    for name in (metadata.name, metadata.basename, metadata.file_name, metadata.architecture):
        words = _words(name)
        for rule in RULES:
            if re.search(rule.pattern, words):
                return rule
    pooling = "mean" if metadata.architecture in ENCODERS else DECODER_POOLING
    return _Rule("plain", "", pooling=pooling)


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def names_embedding(metadata: ModelMetadata) -> bool:
    """Tell whether the architecture, the header or the name says that this model is for embedding."""
    if metadata.architecture in ENCODERS or metadata.pooling in POOLINGS:
        return True
    return _rule_of(metadata).family != "plain" or "embed" in _words(f"{metadata.name} {metadata.file_name}")
