"""What settings come to at their provider: the model's name there, its prompts, the wire format and the identity."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from memoryd.domain.embedding import INPUT_TYPES
from memoryd.domain.media import MODEL_PREFIXES
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.embed.remote import gemini, voyage
from memoryd.embed.remote.api import Api
from memoryd.embed.remote.catalogue import CONTEXTS, GEMINI_2, GEMINI_2_DIMENSIONS, PROVIDERS
from memoryd.embed.remote.mistral import MistralApi
from memoryd.embed.remote.ollama import OllamaApi
from memoryd.embed.remote.openai import OpenAiApi
from memoryd.embed.remote.prompts import PromptTemplates, family_prompts, overridden
from memoryd.embed.remote.remote_settings import RemoteSettings
from memoryd.errors import ModelError

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


def model_of(settings: RemoteSettings) -> str:
    """Return the model as the endpoint names it."""
    model = settings.model_name
    # a router's models carry the maker's name: there it is part of theirs
    if settings.provider == "openai" and not settings.is_own_address:
        return model
    for prefix in PREFIXES[settings.provider]:
        model = model.removeprefix(prefix)
    return model


def api_of(settings: RemoteSettings, api_key: str = "") -> Api:
    """Return the provider's wire format for these settings; raises ModelError."""
    facts = PROVIDERS.get(settings.provider)
    if facts is None:
        raise ModelError(f"there is no embedding provider {settings.provider}", hint=f"one of {', '.join(PROVIDERS)}")
    _require_dimensions(settings)
    return APIS[settings.provider](
        base_url=settings.base_url,
        model=model_of(settings),
        key=api_key,
        dimensions=settings.dimensions,
        prompts=_prompts(settings),
        items=facts.items,
    )


def identity_of(settings: RemoteSettings, api: Api, dimensions: int) -> EmbedderIdentity:
    """Return what the vectors depend on. No key, no header, and of the address neither a password nor a query."""
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
    """Return the tokens of one text that the model takes; 0 if the endpoint cuts by itself, or nobody knows."""
    facts = PROVIDERS[settings.provider]
    return CONTEXTS.get(model_of(settings), facts.context if settings.is_own_address else 0)


def _prompts(settings: RemoteSettings) -> PromptTemplates:
    model = model_of(settings)
    own = _own_prompts(settings.provider, model)
    query, document = settings.query, settings.document
    if settings.provider not in INPUT_TYPES:
        query, document = replace(query, input_type=None), replace(document, input_type=None)
    template = overridden(own.document, document)
    is_beside = settings.provider == "gemini" and gemini.takes_title(model, template)
    return PromptTemplates(overridden(own.query, query), template if is_beside else template.titled)


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
