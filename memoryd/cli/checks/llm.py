"""The part of `memoryctl doctor` about the text model: is its file here and whole, or its key. Asks nobody."""

import os
from collections.abc import Iterator
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.config.providers import LlmSection
from memoryd.config.root import Config
from memoryd.errors import ConfigError
from memoryd.llm.access import TextKeys, access_of
from memoryd.models.families import WRITING, ChatModel, inspect_chat_model
from memoryd.models.store import ModelStore

PART: Final = "text model"


def text_model(examination: Examination) -> Iterator[Finding]:
    """Look at the file of the text model, or at the key of its endpoint, and say where memory text goes."""
    llm = examination.config.memory.llm
    if llm.provider == "none":
        yield Finding(PART, "off", "memory.llm names nobody")
        return
    look = _local if llm.provider == "local" else _endpoint
    yield look(llm, examination.config)


def _local(llm: LlmSection, config: Config) -> Finding:
    # all agents share it: the folder of the first one's models holds it
    local = config.resolved_agents()[0].memory_search.local
    store = ModelStore.configured(local, os.environ, use=WRITING)
    from memoryd.cli.checks.model_here import model_finding

    return model_finding(PART, store, llm.model or "", inspect_chat_model, _told)


def _told(found: ChatModel) -> str:
    form = "" if found.has_template else ", without a chat template"
    return f"{found.name} ({found.architecture}), {found.context} tokens{form}"


def _endpoint(llm: LlmSection, config: Config) -> Finding:
    access = access_of(llm, config.models)
    try:
        has_key = bool(TextKeys(config.models, os.environ).open(access).api_key)
    except ConfigError as exc:
        return Finding(PART, "wrong", "; ".join(exc.problems), "correct memory.llm.apiKey")
    key = "with a key" if has_key else "without a key"
    return Finding(PART, "ok", f"{llm.model} at {access.destination}, {key}: memories and messages are sent there")


LOOKS: Looks = {"llm.access": text_model}
