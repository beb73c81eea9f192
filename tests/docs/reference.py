"""The generated reference pages: `python -m tests.docs.reference` writes them, and a test compares them."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.docs import codes, commands, configuration, files, http_api, metrics, performance, troubleshooting

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "configuration.md": configuration.page,
    "commands.md": commands.page,
    "http-api.md": http_api.page,
    "metrics.md": metrics.page,
    "codes.md": codes.page,
    "files.md": files.page,
    "troubleshooting.md": troubleshooting.page,
    "performance.md": performance.page,
}
NOTE = "<!-- Made from the code by `make docs`; a test compares the two. -->\n\n"


def render(name: str) -> str:
    """Return the text of one page."""
    return NOTE + PAGES[name]().rstrip() + "\n"


def main() -> None:
    """Write all pages."""
    for name in PAGES:
        (FOLDER / name).write_text(render(name), encoding="utf-8")


if __name__ == "__main__":
    main()
