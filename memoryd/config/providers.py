"""Who makes the embeddings: a remote endpoint or the local model; and `models`, where the keys stand."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from memoryd.config.secret import SecretValue
from memoryd.config.section import Section, SharedSection, Text

Provider = Literal["local", "none", "auto", "openai", "gemini", "voyage", "mistral", "ollama"]
Fallback = Literal["none", "local", "openai", "gemini", "voyage", "mistral", "ollama"]

DEFAULT_MODEL: Final = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf"


def _address(text: str) -> str:
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError("must be an address that starts with http:// or https://")
    return text


Address = Annotated[Text, AfterValidator(_address)]
Headers = dict[Text, SecretValue]


def _auto_is_unset(value: object) -> object:
    return None if value == "auto" else value


ContextSize = Annotated[
    Annotated[int, Field(ge=1, le=1_048_576)] | None,
    BeforeValidator(_auto_is_unset),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "auto"}, {"type": "null"}]}),
]


class Batch(Section):
    """The asynchronous batch interface of a remote provider."""

    enabled: bool = False
    wait: bool = True
    concurrency: int = Field(default=2, ge=1, le=64)
    poll_interval_ms: int = Field(default=2000, ge=100, le=3_600_000)
    timeout_minutes: float = Field(default=60, gt=0, le=10_080)


class Remote(Section):
    """A remote embedding endpoint; wins over `models.providers`. `tokens_per_day` unset: no budget."""

    base_url: Address | None = None
    api_key: SecretValue | None = None
    headers: Headers = Field(default_factory=dict)
    non_batch_concurrency: int = Field(default=4, ge=1, le=64)
    tokens_per_day: Annotated[int, Field(ge=1, le=1_000_000_000_000)] | None = None
    batch: Batch = Batch()


class Local(Section):
    """The model that the daemon runs itself.

    `threads` unset means half the cores, `context_size` "auto" the model's own, `idle_unload_minutes` 0 never. A
    passage has some 100 tokens, and the worker's memory grows with the context times the vocabulary.
    """

    model_path: Text = DEFAULT_MODEL
    model_cache_dir: Text | None = None
    context_size: ContextSize = 512
    download: bool = True
    threads: Annotated[int, Field(ge=1, le=512)] | None = None
    idle_unload_minutes: float = Field(default=10, ge=0, le=525_600)


class ProviderEntry(SharedSection):
    """What is known of one provider of models."""

    api_key: SecretValue | None = None
    base_url: Address | None = None
    headers: Headers = Field(default_factory=dict)


class Models(SharedSection):
    """Providers of models, by name."""

    providers: dict[Text, ProviderEntry] = Field(default_factory=dict)
