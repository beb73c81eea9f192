"""What is known of each remote provider: address, default model, limits of a request. Documented in docs/how-to.

Sources: the providers' API references as of 2026. Limits with no number in a reference are those its error texts name
(Gemini: "at most 100 requests can be in one batch"; Mistral: "Too many inputs in request" above 256).
"""

from dataclasses import dataclass
from typing import Final

from memoryd.domain import media


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """`items` and `tokens` bound one request; `context` one text, in tokens (0: the provider cuts by itself)."""

    name: str
    base_url: str
    model: str
    items: int
    tokens: int
    context: int
    concurrency: int = 4
    needs_key: bool = True
    has_batches: bool = False


_FACTS: Final = (
    ProviderFacts(
        "openai", "https://api.openai.com/v1", "text-embedding-3-small", 2048, 300_000, 8192, has_batches=True
    ),
    ProviderFacts(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-embedding-001",
        100,
        200_000,
        2048,
        has_batches=True,
    ),
    ProviderFacts("voyage", "https://api.voyageai.com/v1", "voyage-4-large", 1000, 120_000, 0, has_batches=True),
    ProviderFacts("mistral", "https://api.mistral.ai/v1", "mistral-embed", 256, 16_000, 8192),
    ProviderFacts(
        "ollama", "http://127.0.0.1:11434", "nomic-embed-text", 64, 32_000, 0, concurrency=1, needs_key=False
    ),
)
PROVIDERS: Final = {facts.name: facts for facts in _FACTS}

CONTEXTS: Final = {"gemini-embedding-2": 8192, "gemini-embedding-2-preview": 8192}
"""Tokens of models that take another number than their provider's default model."""

DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
    "gemini-embedding-2": 3072,
    "gemini-embedding-2-preview": 3072,
    "voyage-4-large": 1024,
    "mistral-embed": 1024,
    "nomic-embed-text": 768,
}
"""Dimensions when none are asked for. For people: what counts is what the endpoint answers to a first text."""

GEMINI_2: Final = media.MODELS
GEMINI_2_DIMENSIONS: Final = (768, 1536, 3072)

ESTIMATE_MARGIN: Final = 0.6
"""Share of a token limit that is used: token counts here are estimates."""
BUSY_ITEMS: Final = 128
"""More texts are not put into one request, whatever the provider allows: a failure then costs little."""
