"""Who is to make vectors when somebody sets memoryd up: what is proposed, and what must be agreed to first."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memoryd.domain.provider_choice import LOCAL, NONE, REMOTE


@dataclass(frozen=True, slots=True)
class ModelsHere:
    """What a machine has: llama.cpp, models, leave to fetch one, and keys of providers."""

    has_llama: bool
    default_spec: str
    """The model that is taken if nobody names one."""
    stored: tuple[str, ...] = ()
    """Embedding models that are here whole, by their specs."""
    may_fetch: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)
    """The environment variable that holds the key of each provider which has one."""


@dataclass(frozen=True, slots=True)
class FirstModel:
    """The provider that a configuration is to name, the model if it is not the usual one, and why."""

    provider: str
    spec: str = ""
    reason: str = ""

    @property
    def leaves_machine(self) -> bool:
        """Whether the text of notes would be sent to somebody."""
        return self.provider in REMOTE and self.provider != "ollama"


def proposed_model(here: ModelsHere) -> FirstModel:
    """Return what is taken unless somebody says otherwise: never a provider that notes would be sent to."""
    return local_model(here) if here.has_llama and (here.stored or here.may_fetch) else _words_only(here)


def named_model(provider: str, here: ModelsHere) -> FirstModel:
    """Return the provider that somebody named, with what is still missing for it."""
    if provider == LOCAL:
        return local_model(here)
    if provider == NONE:
        return FirstModel(NONE, reason="search is by words only")
    if provider == "ollama" or provider in here.keys:
        return FirstModel(provider)
    return FirstModel(provider, reason="its key is not in the environment: give it in memorySearch.remote.apiKey")


def local_model(here: ModelsHere) -> FirstModel:
    """Return the local model: the usual one, or the only one that is here, so that nothing needs to be fetched."""
    if not here.has_llama:
        return FirstModel(LOCAL, reason="llama-cpp-python is missing: pip install 'memoryd[local]'; until then words")
    if here.default_spec in here.stored:
        return FirstModel(LOCAL, reason="its model is here")
    if len(here.stored) == 1:
        return FirstModel(LOCAL, here.stored[0], f"{here.stored[0]} is here")
    if here.may_fetch:
        return FirstModel(LOCAL, reason="memoryd fetches its model when it starts, once: a few hundred megabytes")
    return FirstModel(LOCAL, reason="its model is not here and must not be fetched; until it is, words")


def _words_only(here: ModelsHere) -> FirstModel:
    if not here.has_llama:
        return FirstModel(
            NONE, reason="llama-cpp-python is not installed, so search is by words; pip install 'memoryd[local]'"
        )
    return FirstModel(NONE, reason="no model is here and none must be fetched, so search is by words")
