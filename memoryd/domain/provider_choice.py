"""Who makes the embeddings: the one rule, and the sentence that says how it decided.

Text leaves the machine only for a provider that is named, or under `auto`, which names them all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

LOCAL: Final = "local"
NONE: Final = "none"
AUTO: Final = "auto"
BY_KEY: Final = ("openai", "gemini", "voyage", "mistral")
"""The order in which `auto` looks for a key. Ollama needs none, so that finding none says nothing: it must be named."""
REMOTE: Final = frozenset({*BY_KEY, "ollama"})
INPUT_TYPES: Final = frozenset({"openai", "gemini", "voyage"})
"""Those whose requests say of what kind a text is; at the others an input type has no place."""


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """What the configuration says, and what is there."""

    provider: str
    named_by: str
    """The key that names the provider; empty if none does."""
    fallback: str = NONE
    is_model_here: bool = False
    """Whether `local.modelPath` is given and its file is there."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Where the key of each provider that has one stands."""
    is_searchable: bool = True
    """Whether anybody may search; vectors that nobody may search are not worth a call, nor a note sent away."""


@dataclass(frozen=True, slots=True)
class Choice:
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
        return _found(options, f"{options.named_by} is auto")
    what = "no provider: words only" if options.provider == NONE else options.provider
    return options.provider, f"{options.named_by} names {what}"


def _found(options: ProviderOptions, start: str) -> tuple[str, str]:
    if options.is_model_here:
        return LOCAL, f"{start}: the model of local.modelPath is here"
    for name in BY_KEY:
        if name in options.keys:
            return name, f"{start}: no model file, but a key for {name} in {options.keys[name]}"
    names = f"{', '.join(BY_KEY[:-1])} or {BY_KEY[-1]}"
    return LOCAL, f"{start}: no model file and no key for {names}: the local model"
