"""What `memory.llm` needs to be of use."""

from collections.abc import Iterator, Sequence

from memoryd.config.loading.raw import KeyPath
from memoryd.config.root import Config


def misgiven_text_model(config: Config, broken: Sequence[KeyPath]) -> Iterator[str]:
    """Yield what is wrong with the text model as a whole, but for what rests on `broken` values."""
    llm = config.memory.llm
    if any(place[:2] == ("memory", "llm") for place in broken) or llm.provider == "none":
        return
    if llm.model is None:
        what = "a chat model" if llm.provider == "local" else "the model at the endpoint"
        yield f'memory.llm.model: must name {what} while memory.llm.provider is "{llm.provider}"'
    if llm.max_tokens >= llm.context_size and llm.provider == "local":
        yield f"memory.llm.maxTokens: must be less than memory.llm.contextSize ({llm.context_size})"


def text_model_notices(config: Config) -> Iterator[str]:
    """Yield a notice for each key that has no effect with the provider that is named."""
    llm = config.memory.llm
    if llm.provider == "openai" or (llm.base_url is None and llm.api_key is None):
        return
    given = [name for name, value in (("baseUrl", llm.base_url), ("apiKey", llm.api_key)) if value is not None]
    for name in given:
        yield f'memory.llm.{name} has no effect while memory.llm.provider is "{llm.provider}"'
