"""The JSON Schema of the configuration, for editors."""

from typing import Any, Final

from memoryd.config.root import Config

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the schema of the file; keys of other programs are allowed where loading ignores them."""
    return {"$schema": DIALECT, **Config.model_json_schema(by_alias=True), "title": "memoryd configuration"}
