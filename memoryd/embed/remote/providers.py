"""The wire format of each remote provider, the prompts around a text, and the answer that most providers share.

What else is known of a provider says its row in `domain/embedding.py`.
"""

import base64
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain import media
from memoryd.domain.vector import Vector
from memoryd.embed.protocol import Purpose, Unembeddable
from memoryd.models.families import PLAIN, ModelMetadata, PromptTemplate, family_of, instructed

RawVector = Sequence[object]
"""A vector as it came: not yet known to be numbers, finite, or of the right length."""


class PromptTemplates(Struct, frozen=True):
    """Both sides."""

    query: PromptTemplate = PromptTemplate()
    document: PromptTemplate = PromptTemplate()

    def of(self, purpose: Purpose) -> PromptTemplate:
        """Return the one for a purpose."""
        return self.query if purpose is Purpose.QUERY else self.document


class PromptOverride(Struct, frozen=True):
    """What the configuration says of one purpose."""

    instruction: str | None = None
    """Stands before the text, or around it if it contains `{text}`; None means the model's own."""
    input_type: str | None = None
    """Is sent as it is; None means the provider's own."""


def overridden(own: PromptTemplate, override: PromptOverride) -> PromptTemplate:
    """Return what the model wants, except where the configuration says otherwise.

    A configured input type means that the server knows the prompt: the model's own would then stand twice.
    """
    prompt, input_type = own.prompt, own.input_type
    if override.input_type is not None:
        prompt, input_type = PLAIN, override.input_type
    return PromptTemplate(instructed(prompt, override.instruction), input_type)


class Input(Struct, frozen=True):
    """A text with its prompt; the title apart, for a provider that takes it so."""

    text: str
    title: str = ""


def indexed_rows(answer: object, count: int) -> list[RawVector]:
    """Return the rows of `{"data": [{"index": 0, "embedding": […]}, …]}`, in the order of `index` where it is given.

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


def list_rows(found: object, count: int) -> list[RawVector]:
    """Return the rows of a plain list of lists. Raises ValueError."""
    if not isinstance(found, list) or len(found) != count:
        raise ValueError(_miscounted(found, count))
    return [_row(row) for row in found]


def _row(embedding: object) -> RawVector:
    if isinstance(embedding, str):
        numbers: list[object] = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").tolist()
        return numbers
    if not isinstance(embedding, list) or not embedding:
        raise ValueError("an embedding is no list of numbers")
    return embedding


def _miscounted(found: object, count: int) -> str:
    return f"{len(found)} vectors for {count} texts" if isinstance(found, list) else "no vectors in the answer"


def bearer(key: str) -> dict[str, str]:
    """Return the header that carries a key at most providers."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def vector_of(row: RawVector) -> Vector | Unembeddable:
    """Return the row as float32 of Euclidean length 1; rejected if it is not made of finite numbers or is all zeros."""
    if not all(type(number) in (float, int) for number in row):
        return Unembeddable("the endpoint answered with something that is no number")
    try:
        # float64: the length of a long vector of large numbers overflows float32
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
"""Tokens of models that take another number than their provider's default model, wherever they are asked."""
SIZES = dict.fromkeys(media.MODELS, media.DIMENSIONS)
"""Dimensions of models that give no others."""

ESTIMATE_MARGIN = 0.6
"""Share of a token limit that is used: token counts here are estimates."""
BUSY_ITEMS = 128
"""More texts are not put into one request, whatever the provider allows: a failure then costs little."""


Call = tuple[str, Mapping[str, object]]
"""The path of a request below the base address, and its JSON body."""


class WireOptions(Struct, frozen=True, kw_only=True):
    """What a wire format is made for."""

    base_url: str
    model: str
    key: str
    dimensions: int | None
    prompts: PromptTemplates
    items: int


class OpenAiWire:
    """OpenAI's embeddings call, which most servers of open models speak, too; the others say where theirs differs.

    POST /embeddings {"model", "input": […], "dimensions"?} → {"data": [{"index", "embedding"}]}

    `prompts` carry an input type only if one is configured; it is sent as `input_type`. `rows` raises ValueError for an
    answer of another shape or number; `older` is the format to speak where this one's address does not exist.
    """

    path = "/embeddings"
    url_endings: tuple[str, ...] = ("/embeddings",)
    """Ends of an address that people copy along."""
    fixed: Mapping[str, object] = {}
    """Stands in each request."""
    size = "dimensions"
    """The field that asks for dimensions."""

    def __init__(self, given: WireOptions) -> None:
        self.base_url = given.base_url
        for tail in self.url_endings:
            self.base_url = self.base_url.removesuffix(tail)
        self.auth: Mapping[str, str] = bearer(given.key)
        self.prompts = given.prompts
        self.items = given.items
        self.older: OpenAiWire | None = None
        asked = {} if given.dimensions is None else {self.size: given.dimensions}
        self.body: Mapping[str, object] = {"model": given.model, **self.fixed, **asked}

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Return what the model wants unless the configuration says otherwise: plain for a name that says nothing."""
        family = family_of(ModelMetadata(architecture="", name=model, dimensions=0, context=0))
        return PromptTemplates(PromptTemplate(family.query_prompt), PromptTemplate(family.document_prompt))

    @staticmethod
    def takes_title(model: str, document: PromptTemplate) -> bool:
        """Tell whether the title of a passage has a field of its own in the request."""
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

    gemini-embedding-2 reads the task from the prompt and, as its guide says, not from `taskType`; both are sent, since
    a preview may change. Its prompts are those of the guide.
    """

    url_endings = ("/openai",)

    def __init__(self, given: WireOptions) -> None:
        super().__init__(given)
        self.auth = {"x-goog-api-key": given.key} if given.key else {}
        self.path = f"/models/{given.model}:batchEmbedContents"
        self.takes_media = given.model in media.MODELS
        self._model = given.model
        self._dimensions = given.dimensions

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Return task types, and for the second generation the prompts."""
        if model in media.MODELS:
            return PromptTemplates(
                PromptTemplate("task: search result | query: {text}", QUERY_TASK),
                PromptTemplate("title: {title} | text: {text}", DOCUMENT_TASK),
            )
        return PromptTemplates(PromptTemplate(input_type=QUERY_TASK), PromptTemplate(input_type=DOCUMENT_TASK))

    @staticmethod
    def takes_title(model: str, document: PromptTemplate) -> bool:
        """Only the first generation, and only beside its usual task."""
        return model not in media.MODELS and document.input_type == DOCUMENT_TASK

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return one request for all texts."""
        return self.path, {"requests": [self.request(item, purpose) for item in inputs]}

    def request(self, item: Input, purpose: Purpose) -> dict[str, object]:
        """Return one text's part of a request; a batch job takes the same."""
        request = self._request([{"text": item.text}], purpose)
        if item.title and purpose is Purpose.DOCUMENT and self.takes_title(self._model, self.prompts.document):
            request["title"] = item.title
        return request

    def media_call(self, data: bytes, mime: str, label: str) -> Call:
        """Return the request for one picture or sound, with the words that stand for it."""
        inline = {"mimeType": mime, "data": base64.b64encode(data).decode("ascii")}
        request = self._request([{"text": label}, {"inlineData": inline}], Purpose.DOCUMENT)
        return self.path, {"requests": [request]}

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        found = answer.get("embeddings") if isinstance(answer, dict) else None
        entries = found if isinstance(found, list) else []
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
    """Voyage's embeddings call: it cuts a text that is too long, and puts its prompts before the texts itself.

    POST /embeddings {"model", "input": […], "input_type", "truncation", "output_dimension"?}
    → {"data": [{"index", "embedding"}]}
    """

    fixed: Mapping[str, object] = {"truncation": True}
    size = "output_dimension"

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Return the input types."""
        return PromptTemplates(PromptTemplate(input_type="query"), PromptTemplate(input_type="document"))


class MistralWire(OpenAiWire):
    """Mistral's embeddings call.

    POST /embeddings {"model", "input": […], "output_dimension"?} → {"data": [{"index", "embedding"}]}
    """

    size = "output_dimension"

    @staticmethod
    def own_prompts(model: str) -> PromptTemplates:
        """Mistral's models want none."""
        return PromptTemplates()


class OllamaWire(OpenAiWire):
    """Ollama's /api/embed: puts no prompt before a text, so the model's own are applied here; cuts a text too long.

    POST /api/embed {"model", "input": […], "truncate", "dimensions"?} → {"embeddings": [[…], …]}
    """

    path = "/api/embed"
    url_endings = ("/api/embeddings", "/api/embed", "/api", "/v1")
    fixed: Mapping[str, object] = {"truncate": True}

    def __init__(self, given: WireOptions) -> None:
        super().__init__(given)
        self.older = OlderOllamaWire(replace(given, base_url=self.base_url, dimensions=None, items=1))

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the vectors in the order of the texts."""
        return list_rows(answer.get("embeddings") if isinstance(answer, dict) else None, count)


class OlderOllamaWire(OpenAiWire):
    """/api/embeddings of Ollama before 0.3: one text a request.

    POST /api/embeddings {"model", "prompt"} → {"embedding": […]}
    """

    path = "/api/embeddings"
    url_endings = ()

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call:
        """Return the request for the only text."""
        (only,) = inputs
        return self.path, {**self.body, "prompt": only.text}

    def rows(self, answer: object, count: int) -> list[RawVector]:
        """Return the only vector."""
        return list_rows([answer.get("embedding") if isinstance(answer, dict) else None], count)


WIRES: Mapping[str, type[OpenAiWire]] = {
    "openai": OpenAiWire,
    "gemini": GeminiWire,
    "voyage": VoyageWire,
    "mistral": MistralWire,
    "ollama": OllamaWire,
}
