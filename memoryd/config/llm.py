"""`memory.llm`: a model that writes text: it may label memories, write prose about them, and find them in messages."""

from typing import Annotated, Literal

from pydantic import Field

from memoryd.config.providers import HttpAddress
from memoryd.config.secret import SecretValue
from memoryd.config.section import Section, Text


class LlmSection(Section):
    """Who writes, and how much. Everything works without; what such a model says is held against what it was given."""

    provider: Literal["none", "local", "openai"] = Field(
        default="none",
        description="Who labels memories, writes prose about them and finds them in messages: nobody, a model that "
        "memoryd runs itself, or an endpoint that speaks OpenAI's chat completions, which memories and messages are "
        "then sent to.",
    )
    model: Text | None = Field(
        default=None,
        description="With `local` the chat model, a GGUF named as in `local.modelPath`; with `openai` the name of the "
        "model at the endpoint.",
    )
    base_url: HttpAddress | None = Field(
        default=None,
        description="The address of the endpoint, such as `http://127.0.0.1:11434/v1`; unset: that of "
        "`models.providers.openai`, else OpenAI's own.",
    )
    api_key: SecretValue | None = Field(
        default=None,
        description='The key: `{ env: "NAME" }`, `{ file: "/absolute/path" }` or the key itself; unset, for an address '
        "that is not given here: that of `models.providers.openai` or `OPENAI_API_KEY`.",
    )
    timeout_ms: int = Field(
        default=60_000, ge=1000, le=600_000, description="The time for one answer, in milliseconds, loading included."
    )
    max_tokens: int = Field(
        default=1024, ge=64, le=16_384, description="How long an answer may be at most, in tokens of the model."
    )
    max_calls_per_day: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=1000,
        description="How many questions are sent to the endpoint in a day (UTC); work goes on without beyond it; "
        "`null`: no bound.",
    )
    context_size: int = Field(
        default=8192,
        ge=1024,
        le=131_072,
        description="How many tokens a question and its answer have together in a local model; more costs memory.",
    )
    threads: Annotated[int, Field(ge=1, le=512)] | None = Field(
        default=None, description="How many threads a local model uses; unset: half of the cores, at least one."
    )
    idle_unload_minutes: float = Field(
        default=5,
        ge=0,
        le=525_600,
        description="After how long without a question a local model's memory is given back, in minutes; 0: never.",
    )
