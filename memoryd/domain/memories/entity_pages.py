"""The pages of entities, `bank/entities/<slug>.md`, as far as a person names an entity by them."""

from typing import Final

from memoryd.domain.documents import SUFFIX, RelativePath
from memoryd.domain.memories.book import EntityPage
from memoryd.domain.memories.entities import PAGES
from memoryd.domain.memories.generated import generated_in
from memoryd.domain.memories.sections import aliases_of
from memoryd.domain.text.headings import front_matter_bytes
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import FRONT_MATTER_CHARS, front_matter

MAX_PAGE_NAME: Final = 200
"""Signs of the name of an entity."""
_HEADING_BYTES: Final = 4096
"""So far behind the front matter the first heading is looked for."""


def is_entity_page(path: str) -> bool:
    """Tell whether a document is the page of an entity."""
    return path.startswith(PAGES) and "/" not in path[len(PAGES) :]


def entity_page_of(data: bytes, path: RelativePath) -> EntityPage | None:
    """Read the page of an entity, UTF-8 that ends in `PADDING`; None for any other document.

    Its name is its first heading, else that of the file.
    """
    if not is_entity_page(path):
        return None
    front, size = front_matter_bytes(data), len(data) - len(PADDING)
    values = front_matter(data[: min(4 * FRONT_MATTER_CHARS, size)].decode("utf-8", "replace")).values
    # a heading that reflect wrote is no name
    own = generated_in(data, front).blanked(data)
    body = own[front : min(front + _HEADING_BYTES, size)].decode("utf-8", "replace")
    return EntityPage(path, _heading(body) or path[len(PAGES) : -len(SUFFIX)], aliases_of(values))


def _heading(body: str) -> str:
    """Return the title of the first heading, empty if there is none or it is too long for a name."""
    lines = (line.strip("\ufeff \t\r") for line in body.split("\n"))
    titles = (line.lstrip("#").strip().rstrip("#").strip() for line in lines if line.startswith(("# ", "## ")))
    title = " ".join(next(titles, "").split())
    return title if len(title) <= MAX_PAGE_NAME else ""
