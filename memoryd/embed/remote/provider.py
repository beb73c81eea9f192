"""From settings to a remote embedder. Importing this loads no HTTP client; `open_remote` does."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from memoryd.domain.media import MODEL_PREFIXES
from memoryd.domain.provider_choice import INPUT_TYPES
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.embed.remote import gemini, voyage
from memoryd.embed.remote.api import Api
from memoryd.embed.remote.catalogue import CONTEXTS, GEMINI_2, GEMINI_2_DIMENSIONS, PROVIDERS
from memoryd.embed.remote.gate import EndpointGate
from memoryd.embed.remote.mistral import MistralApi
from memoryd.embed.remote.ollama import OllamaApi
from memoryd.embed.remote.openai import OpenAiApi
from memoryd.embed.remote.prompts import PromptOverride, PromptTemplates, family_prompts, overridden
from memoryd.embed.remote.remote_settings import CallTimeouts, RemoteSettings
from memoryd.errors import ModelError

if TYPE_CHECKING:
    from memoryd.embed.remote.remote_embedder import RemoteEmbedder

__all__ = ["CallTimeouts", "RemoteSettings", "api_of", "identity_of", "model_of", "open_remote"]

APIS: Final[dict[str, Callable[..., Api]]] = {
    "openai": OpenAiApi,
    "gemini": gemini.GeminiApi,
    "voyage": voyage.VoyageApi,
    "mistral": MistralApi,
    "ollama": OllamaApi,
}
PREFIXES: Final = {
    "openai": ("openai/",),
    "gemini": MODEL_PREFIXES,
    "voyage": ("voyage/",),
    "mistral": ("mistral/",),
    "ollama": ("ollama/",),
}
"""How other programs write the names of the same models."""


async def open_remote(settings: RemoteSettings, gate: EndpointGate | None = None) -> "RemoteEmbedder":
    """Ask the endpoint for one vector, of a word that is not the user's, and return the embedder it tells of.

    A `gate` that outlives the try remembers how long the endpoint asked to be left alone.

    Raises ModelError for settings that cannot work, and EmbedderUnavailable, with a hint where one is known, when
    the endpoint does not answer, refuses the key or does not know the model.
    """
    # httpx takes 70 ms to import, and a daemon with a local model never needs it
    from memoryd.embed.remote.opening import opened

    return await opened(settings, gate)


def model_of(settings: RemoteSettings) -> str:
    """The model as the endpoint names it."""
    facts = PROVIDERS[settings.provider]
    model = settings.model or facts.model
    # a router's models carry the maker's name: there it is part of theirs
    if settings.provider == "openai" and settings.base_url not in {"", facts.base_url}:
        return model
    for prefix in PREFIXES[settings.provider]:
        model = model.removeprefix(prefix)
    return model


def api_of(settings: RemoteSettings) -> Api:
    """The provider's wire format for these settings; raises ModelError."""
    facts = PROVIDERS.get(settings.provider)
    if facts is None:
        raise ModelError(f"there is no embedding provider {settings.provider}", hint=f"one of {', '.join(PROVIDERS)}")
    _require_dimensions(settings)
    return APIS[settings.provider](
        base_url=(settings.base_url or facts.base_url).rstrip("/"),
        model=model_of(settings),
        key=settings.api_key,
        dimensions=settings.dimensions,
        prompts=_prompts(settings),
        items=facts.items,
    )


def identity_of(settings: RemoteSettings, api: Api, dimensions: int) -> EmbedderIdentity:
    """What the vectors depend on. No key, no header, and of the address neither a password nor a query."""
    address = urlsplit(api.base_url)
    return EmbedderIdentity(
        provider=settings.provider,
        model=model_of(settings),
        revision="",
        endpoint=urlunsplit((address.scheme, address.netloc.rpartition("@")[2], address.path, "", "")),
        dimensions=dimensions,
        pooling="",
        query_prompt=api.prompts.query.name,
        document_prompt=api.prompts.document.name,
    )


def context_of(settings: RemoteSettings) -> int:
    """Tokens of one text that the model takes; 0 if the endpoint cuts by itself, or nobody knows."""
    facts = PROVIDERS[settings.provider]
    is_own = settings.base_url in {"", facts.base_url}
    return CONTEXTS.get(model_of(settings), facts.context if is_own else 0)


def _prompts(settings: RemoteSettings) -> PromptTemplates:
    model = model_of(settings)
    own = _own_prompts(settings.provider, model)
    query_type, document_type = settings.query_input_type, settings.document_input_type
    if settings.provider not in INPUT_TYPES:
        query_type = document_type = None
    document = overridden(own.document, PromptOverride(settings.document_instruction, document_type))
    is_beside = settings.provider == "gemini" and gemini.takes_title(model, document)
    return PromptTemplates(
        overridden(own.query, PromptOverride(settings.query_instruction, query_type)),
        document if is_beside else document.titled,
    )


def _own_prompts(provider: str, model: str) -> PromptTemplates:
    if provider == "gemini":
        return gemini.own_prompts(model)
    if provider == "voyage":
        return voyage.OWN_PROMPTS
    return PromptTemplates() if provider == "mistral" else family_prompts(model)


def _require_dimensions(settings: RemoteSettings) -> None:
    model, dimensions = model_of(settings), settings.dimensions
    if model in GEMINI_2 and dimensions not in {None, *GEMINI_2_DIMENSIONS}:
        choices = ", ".join(map(str, GEMINI_2_DIMENSIONS))
        raise ModelError(f"{model} gives no {dimensions} dimensions", hint=f"outputDimensionality is one of {choices}")
