"""The prompts and the pooling of each family of models."""

import pytest

from memoryd.models.families import ModelFamily, ModelMetadata, family_of, languages_of, names_embedding

EN = "Represent this sentence for searching relevant passages: "
WEB = "Given a web search query, retrieve relevant passages that answer the query"


def family(name: str, *, architecture: str = "bert", file_name: str = "", pooling: str | None = None) -> ModelFamily:
    return family_of(
        ModelMetadata(
            architecture=architecture, name=name, dimensions=384, context=512, pooling=pooling, file_name=file_name
        )
    )


@pytest.mark.parametrize(
    ("architecture", "name", "question", "passage", "pooling"),
    [
        (
            "gemma-embedding",
            "Embeddinggemma 300M Qat Q8_0 Unquantized",
            "task: search result | query: Q",
            "title: none | text: P",
            "mean",
        ),
        ("bert", "E5 Small v2", "query: Q", "passage: P", "mean"),
        ("bert", "Multilingual E5 Base", "query: Q", "passage: P", "mean"),
        ("bert", "multilingual-e5-small", "query: Q", "passage: P", "mean"),
        ("bert", "multilingual-e5-large-instruct", f"Instruct: {WEB}\nQuery: Q", "P", "mean"),
        ("llama", "e5-mistral-7b-instruct", f"Instruct: {WEB}\nQuery: Q", "P", "last"),
        ("nomic-bert", "nomic-embed-text-v1.5", "search_query: Q", "search_document: P", "mean"),
        ("nomic-bert-moe", "", "search_query: Q", "search_document: P", "mean"),
        ("nomic-bert", "snowflake-arctic-embed-m-long", f"{EN}Q", "P", "cls"),
        ("bert", "snowflake-arctic-embed-m-v1.5", f"{EN}Q", "P", "cls"),
        ("bert", "snowflake-arctic-embed-l-v2.0", "query: Q", "P", "cls"),
        ("bert", "mxbai-embed-large-v1", f"{EN}Q", "P", "cls"),
        ("bert", "bge-small-en-v1.5", f"{EN}Q", "P", "cls"),
        ("bert", "Bge Large Zh v1.5", "为这个句子生成表示以用于检索相关文章：Q", "P", "cls"),
        ("bert", "bge-m3", "Q", "P", "cls"),
        ("qwen3", "Qwen3 Embedding 0.6B", f"Instruct: {WEB}\nQuery:Q", "P", "last"),
        ("qwen2", "gte-Qwen2-1.5B-instruct", f"Instruct: {WEB}\nQuery: Q", "P", "last"),
        ("bert", "gte-base", "Q", "P", "mean"),
        ("modern-bert", "gte-modernbert-base", "Q", "P", "cls"),
        ("jina-bert-v2", "", "Q", "P", "mean"),
        ("bert", "all-MiniLM-L6-v2", "Q", "P", "mean"),
        ("bert", "somebody's own", "Q", "P", "mean"),
        ("llama", "somebody's own embedder", "Q", "P", "last"),
    ],
)
def test_family_has_its_prompts_and_pooling(
    architecture: str, name: str, question: str, passage: str, pooling: str
) -> None:
    found = family(name, architecture=architecture)

    assert (found.query("Q"), found.document("P"), found.pooling) == (question, passage, pooling)


def test_title_is_in_the_prompt_if_the_template_has_a_place() -> None:
    found = family("embeddinggemma-300m", architecture="gemma-embedding")

    assert found.document("fed at eight", "Cats > Food") == "title: Cats > Food | text: fed at eight"
    assert found.document("fed at eight", "  ") == "title: none | text: fed at eight"


def test_braces_in_a_note_stay_as_they_are() -> None:
    assert family("e5-small").document("{text} {0} {", "{title}") == "passage: {title}\n{text} {0} {"


def test_title_is_above_the_text_if_the_template_has_no_place() -> None:
    assert family("all-MiniLM-L6-v2").document("fed at eight", "Cats > Food") == "Cats > Food\nfed at eight"
    assert family("all-MiniLM-L6-v2").document("fed at eight", " ") == "fed at eight"


def test_file_name_counts_only_if_the_header_has_no_name() -> None:
    assert family("", file_name="multilingual-e5-small-q8_0").name == "e5"
    assert family("all-MiniLM-L6-v2", file_name="multilingual-e5-small-q8_0").name == "minilm"


def test_pooling_of_the_header_overrides_the_family() -> None:
    assert family("gte-base", pooling="cls").pooling == "cls"
    assert family("bge-small-en-v1.5", pooling="none").pooling == "cls"


def test_text_generator_is_no_embedder() -> None:
    assert not names_embedding(ModelMetadata("llama", "Llama 3.2 1B", 2048, 8192))
    assert names_embedding(ModelMetadata("llama", "Llama 3.2 1B", 2048, 8192, pooling="last"))
    assert names_embedding(ModelMetadata("bert", "", 384, 512))


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("multilingual-e5-small", "many languages"),
        ("hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf", "many languages"),
        ("paraphrase-multilingual-MiniLM-L12-v2", "many languages"),
        ("Qwen3-Embedding-0.6B-Q8_0.gguf", "many languages"),
        ("bge-small-zh-v1.5", "Chinese"),
        ("all-MiniLM-L6-v2", "English"),
        ("e5-small-v2", "English"),
        ("bge-small-en-v1.5-q8_0.gguf", "English"),
        ("somebody's model", ""),
    ],
)
def test_languages_follow_the_name(name: str, languages: str) -> None:
    assert languages_of("", name) == languages
