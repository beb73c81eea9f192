"""How a question and a passage are put to a remote model: the prompt around the text, and the input type beside it."""

import re
from dataclasses import dataclass, replace
from typing import Final

from memoryd.embed.protocol import Purpose
from memoryd.models.families import NO_TITLE, ModelMetadata, family_of

PLAIN: Final = "{text}"
TITLE: Final = "{title}"
TITLE_LINE: Final = "{title_line}"
"""The title and a line break, or nothing where there is no title."""
PLACES: Final = re.compile(r"\{(text|title|title_line)\}")


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """The prompt (a template with `{text}`, `{title}` and `{title_line}`) and the input type for one purpose."""

    prompt: str = PLAIN
    input_type: str = ""

    def apply(self, text: str, title: str = "") -> str:
        """Put the text into the prompt; an empty title reads `none`."""
        title = title.strip()
        values = {"text": text, "title": title or NO_TITLE, "title_line": f"{title}\n" if title else ""}
        return PLACES.sub(lambda place: values[place[1]], self.prompt)

    @property
    def titled(self) -> "PromptTemplate":
        """The same with the title as a line above the text, unless the prompt has a place of its own for it.

        As with a local model: a paragraph of a long page is told from its like by the headings it stands under.
        """
        if TITLE in self.prompt:
            return self
        return replace(self, prompt=self.prompt.replace(PLAIN, TITLE_LINE + PLAIN, 1))

    @property
    def name(self) -> str:
        """What stands in the identity: all of it decides the vector."""
        return f"{self.input_type}|{self.prompt}" if self.input_type else self.prompt


@dataclass(frozen=True, slots=True)
class PromptTemplates:
    """Both sides."""

    query: PromptTemplate = PromptTemplate()
    document: PromptTemplate = PromptTemplate()

    def of(self, purpose: Purpose) -> PromptTemplate:
        """Return the one for a purpose."""
        return self.query if purpose is Purpose.QUERY else self.document


@dataclass(frozen=True, slots=True)
class PromptOverride:
    """What the configuration says of one purpose."""

    instruction: str | None = None
    """Stands before the text, or around it if it contains `{text}`; None means the model's own."""
    input_type: str | None = None
    """Is sent as it is; None means the provider's own."""


def family_prompts(model: str) -> PromptTemplates:
    """Return the prompts that the name of an open model asks for; plain for a name that says nothing."""
    family = family_of(ModelMetadata(architecture="", name=model, dimensions=0, context=0))
    return PromptTemplates(PromptTemplate(family.query_prompt), PromptTemplate(family.document_prompt))


def overridden(own: PromptTemplate, override: PromptOverride) -> PromptTemplate:
    """Return what the model wants, except where the configuration says otherwise.

    A configured input type means that the server knows the prompt: the model's own would then stand twice.
    """
    prompt, input_type = own.prompt, own.input_type
    if override.input_type is not None:
        prompt, input_type = PLAIN, override.input_type
    if override.instruction is not None:
        prompt = override.instruction if PLAIN in override.instruction else override.instruction + PLAIN
    return PromptTemplate(prompt, input_type)
