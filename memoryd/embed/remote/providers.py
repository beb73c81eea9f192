"""The wire format of each remote provider, the prompts around a text, and the answer format of most providers.

Other facts about a provider are in its row in `domain/embedding.py`.
"""

import base64
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain import media
from memoryd.domain.vector import Vector
from memoryd.embed.protocol import Purpose, Unembeddable
from memoryd.models.families import PLAIN, ModelMetadata, PromptTemplate, family_of, with_instruction

RawVector = Sequence[object]
"""A vector as received: not checked to have numbers, finite values, or the right length."""


class PromptTemplates(Struct, frozen=True):
    """The prompt templates for questions and documents."""

    query: PromptTemplate = PromptTemplate()
    document: PromptTemplate = PromptTemplate()

    def of(self, purpose: Purpose) -> PromptTemplate:
        """Return the template for a purpose."""
        return self.query if purpose is Purpose.QUERY else self.document


class PromptOverride(Struct, frozen=True):
    """The configured prompt for one purpose."""

    instruction: str | None = None
    """Text before the text, or around it if it contains `{text}`; None means the model's own."""
    input_type: str | None = None
    """The input type to send; None means the provider's own."""


def overridden(own: PromptTemplate, override: PromptOverride) -> PromptTemplate:
    """Return the model's template with the configured values.

    With a configured input type the server adds the prompt, so that the model's own prompt is not added here.
    """
    prompt, input_type = own.prompt, own.input_type
    if override.input_type is not None:
        prompt, input_type = PLAIN, override.input_type
    return PromptTemplate(with_instruction(prompt, override.instruction), input_type)


class Input(Struct, frozen=True):
    """A text with its prompt; the title is separate, for providers with a field for it."""

    text: str
    title: str = ""


def indexed_rows(answer: object, count: int) -> list[RawVector]:
    """Return the rows of `{"data": [{"index": 0, "embedding": […]}, …]}`, in the order of `index` if it is present.

    An embedding may be base64 of little-endian float32 instead of numbers. Raises ValueError.
    """
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise ValueError(_miscounted(data, count))
    rows: dict[int, RawVector] = {}
    for place, entry in enumerate(data):
        if not isinstance(entry, dict):
            raise ValueError("an entry of `data` is no object")
        index = entry.get("index", place)
        rows[index if isinstance(index, int) else place] = _row(entry.get("embedding"))
    if sorted(rows) != list(range(count)):
        raise ValueError("the indices in `data` are not those of the texts")
    return [rows[index] for index in range(count)]


def list_rows(rows: object, count: int) -> list[RawVector]:
    """Return the rows of a plain list of lists. Raises ValueError."""
    if not isinstance(rows, list) or len(rows) != count:
        raise ValueError(_miscounted(rows, count))
    return [_row(row) for row in rows]


def _row(embedding: object) -> RawVector:
    if isinstance(embedding, str):
        numbers: list[object] = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").tolist()
        return numbers
    if not isinstance(embedding, list) or not embedding:
        raise ValueError("an embedding is no list of numbers")
    return embedding


def _miscounted(rows: object, count: int) -> str:
    return f"{len(rows)} vectors for {count} texts" if isinstance(rows, list) else "no vectors in the answer"


def bearer(key: str) -> dict[str, str]:
    """Return the header with the key that most providers use."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def vector_of(row: RawVector) -> Vector | Unembeddable:
    """Return the row as float32 of Euclidean length 1; Unembeddable if not all finite numbers, or all zeros."""
    if not all(type(number) in (float, int) for number in row):
        return Unembeddable("the endpoint answered with something that is no number")
    try:
        # float64, because the length of a long vector of large numbers may overflow float32
        vector = np.asarray(row, dtype=np.float64)
        length = float(np.linalg.norm(vector))
    except (OverflowError, ValueError):
        return Unembeddable("the endpoint answered with numbers out of range")
    if not np.isfinite(length):
        return Unembeddable("the endpoint answered with numbers that are not finite")
    if length == 0.0:
        return Unembeddable("the endpoint answered with zeros only")
    return (vector / length).astype(np.float32)


CONTEXTS = dict.fromkeys(media.MODELS, 8192)
"""Context in tokens of models that differ from their provider's default model, at every address."""
SIZES = dict.fromkeys(media.MODELS, media.DIMENSIONS)
"""The possible dimensions of models with a fixed choice."""

ESTIMATE_MARGIN = 0.6
"""Share of a token limit that is used, because token counts are estimates."""
BUSY_ITEMS = 128
"""Upper bound of texts per request, also if the provider allows more, so that a failure costs little."""


Call = tuple[str, Mapping[str, object]]
"""The path of a request below the base address, and its JSON body."""


class WireOptions(Struct, frozen=True, kw_only=True):
    """The settings of a wire format."""

    base_url: str
    model: str
    key: str
    dimensions: int | None
    prompts: PromptTemplates
    items: int


class OpenAiWire:
    """OpenAI's embeddings call, which most servers of open models support, too; subclasses define their differences.

    POST /embeddings {"model", "input": […], "dimensions"?} → {"data": [{"index", "embedding"}]}

    `prompts` have an input type only if one is configured; it is sent as `input_type`. `rows` raises ValueError for an
    answer of another shape or number; `older` is the format to use if the address of this format does not exist.
    """

    path = "/embeddings"
    url_endings: tuple[str, ...] = ("/embeddings",)
    """Suffixes to remove from a configured address."""
    fixed: Mapping[str, object] = {}
    """Fields of every request."""
    size = "dimensions"
    """The name of the request field for the number of dimensions."""

    def __init__(self, options: WireOptions) -> None:
        self.base_url = options.base_url
        for tail in self.url_endings:
            self.base_url = self.base_url.removesuffix(tail)
        self.auth: Mapping[str, str] = bearer(options.key)
        self.prompts = options.prompts
        self.items = options.items
        self.older: OpenAiWire | None = None
        size = {} if options.dimensions is None else {self.size: options.dimensions}
        self.body: Mapping[str, object] = {"model": options.model, **self.fixed, **size}

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Return the default prompts of the model; plain ones for an unknown model."""
        family = family_of(ModelMetadata(architecture="", name=model, dimensions=0, context=0))
        return PromptTemplates(PromptTemplate(family.query_prompt), PromptTemplate(family.document_prompt))

    @staticmethod
    def takes_title(model: str, document: PromptTemplate) -> bool:
        """Return whether the title of a passage has its own field in the request."""
        return False

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        body = {**self.body, "input": [item.text for item in inputs]}
        input_type = self.prompts.of(purpose).input_type
        return self.path, body | {"input_type": input_type} if input_type else body

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        return indexed_rows(answer, count)


QUERY_TASK = "RETRIEVAL_QUERY"
DOCUMENT_TASK = "RETRIEVAL_DOCUMENT"


class GeminiWire(OpenAiWire):
    """Gemini's embedding calls.

    POST /models/{model}:batchEmbedContents {"requests": [{"model", "content": {"parts": […]}, "taskType", …}]}
    → {"embeddings": [{"values": […]}]}

    According to its guide gemini-embedding-2 takes the task from the prompt, not from `taskType`; both are sent, since
    a preview may change. Its prompts are those of the guide.
    """

    url_endings = ("/openai",)

    def __init__(self, options: WireOptions) -> None:
        super().__init__(options)
        self.auth = {"x-goog-api-key": options.key} if options.key else {}
        self.path = f"/models/{options.model}:batchEmbedContents"
        self.takes_media = options.model in media.MODELS
        self._model = options.model
        self._dimensions = options.dimensions

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Return the task types, and for the second generation of models also prompts."""
        if model in media.MODELS:
            return PromptTemplates(
                PromptTemplate("task: search result | query: {text}", QUERY_TASK),
                PromptTemplate("title: {title} | text: {text}", DOCUMENT_TASK),
            )
        return PromptTemplates(PromptTemplate(input_type=QUERY_TASK), PromptTemplate(input_type=DOCUMENT_TASK))

    @staticmethod
    def takes_title(model: str, document: PromptTemplate) -> bool:
        """Return True for the first generation of models with the default task."""
        return model not in media.MODELS and document.input_type == DOCUMENT_TASK

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        return self.path, {"requests": [self.request(item, purpose) for item in inputs]}

    def request(self, item: Input, purpose: Purpose) -> dict[str, object]:
        """Return the part of a request for one text, also used in batch jobs."""
        request = self._request([{"text": item.text}], purpose)
        if item.title and purpose is Purpose.DOCUMENT and self.takes_title(self._model, self.prompts.document):
            request["title"] = item.title
        return request

    def media_call(self, data: bytes, mime: str, label: str) -> Call:
        """Return the request for one picture or sound, with a text that labels it."""
        inline = {"mimeType": mime, "data": base64.b64encode(data).decode("ascii")}
        request = self._request([{"text": label}, {"inlineData": inline}], Purpose.DOCUMENT)
        return self.path, {"requests": [request]}

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        embeddings = answer.get("embeddings") if isinstance(answer, dict) else None
        entries = embeddings if isinstance(embeddings, list) else []
        return list_rows([entry.get("values") if isinstance(entry, dict) else None for entry in entries], count)

    def _request(self, parts: list[object], purpose: Purpose) -> dict[str, object]:
        request: dict[str, object] = {"model": f"models/{self._model}", "content": {"parts": parts}}
        task = self.prompts.of(purpose).input_type
        if task:
            request["taskType"] = task
        if self._dimensions is not None:
            request["outputDimensionality"] = self._dimensions
        return request


class VoyageWire(OpenAiWire):
    """Voyage's embeddings call; the server truncates long texts, and adds the prompts itself.

    POST /embeddings {"model", "input": […], "input_type", "truncation", "output_dimension"?}
    → {"data": [{"index", "embedding"}]}
    """

    fixed: Mapping[str, object] = {"truncation": True}
    size = "output_dimension"

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Return Voyage's input types, without prompts."""
        return PromptTemplates(PromptTemplate(input_type="query"), PromptTemplate(input_type="document"))


class MistralWire(OpenAiWire):
    """Mistral's embeddings call.

    POST /embeddings {"model", "input": […], "output_dimension"?} → {"data": [{"index", "embedding"}]}
    """

    size = "output_dimension"

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Return empty templates: Mistral's models use no prompts."""
        return PromptTemplates()


class OllamaWire(OpenAiWire):
    """Ollama's /api/embed; it adds no prompts, so that the model's own are added here, and truncates long texts.

    POST /api/embed {"model", "input": […], "truncate", "dimensions"?} → {"embeddings": [[…], …]}
    """

    path = "/api/embed"
    url_endings = ("/api/embeddings", "/api/embed", "/api", "/v1")
    fixed: Mapping[str, object] = {"truncate": True}

    def __init__(self, options: WireOptions) -> None:
        super().__init__(options)
        self.older = OlderOllamaWire(replace(options, base_url=self.base_url, dimensions=None, items=1))

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        return list_rows(answer.get("embeddings") if isinstance(answer, dict) else None, count)


class OlderOllamaWire(OpenAiWire):
    """/api/embeddings of Ollama before 0.3: one text per request.

    POST /api/embeddings {"model", "prompt"} → {"embedding": […]}
    """

    path = "/api/embeddings"
    url_endings = ()

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return the request for the single text."""
        (item,) = inputs
        return self.path, {**self.body, "prompt": item.text}

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the single vector."""
        return list_rows([answer.get("embedding") if isinstance(answer, dict) else None], count)


WIRES: Mapping[str, type[OpenAiWire]] = {
    "openai": OpenAiWire,
    "gemini": GeminiWire,
    "voyage": VoyageWire,
    "mistral": MistralWire,
    "ollama": OllamaWire,
}
