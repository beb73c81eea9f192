"""`reference/http-api.md`: every call with its parameters and replies, from the table of routes and OpenAPI."""

import json
from collections.abc import Mapping
from typing import Any, Final

from memoryd.api.application import TABLE, description
from memoryd.api.call import Row
from memoryd.api.calls.index import EventStream
from memoryd.api.metrics import MetricsText
from memoryd.domain.access import Who
from memoryd.wire import Event
from tests.docs.meanings import meanings
from tests.docs.tables import table

Schema = Mapping[str, Any]

HEAD: Final = """# HTTP API

HTTP/1.1 with JSON bodies on the Unix socket, `$XDG_RUNTIME_DIR/memoryd/memoryd.sock` unless you
[say otherwise](files.md); [ask from a program](../how-to/ask-from-a-program.md) shows how. `GET /openapi.json` tells a
generator the same. Errors are `{"error": {"code", "message", "hint"}}` with a [code](codes.md) of a closed list.
Keys may be added to a reply; those that stand here stay. `?` marks what may be left out.

"""
LIMITS: Final = {
    "minimum": "≥",
    "maximum": "≤",
    "exclusiveMinimum": ">",
    "maxLength": "characters ≤",
    "maxItems": "items ≤",
}
STREAMS: Final = {
    EventStream: "[events](#events), as `text/event-stream`",
    MetricsText: "[metrics](metrics.md), as `text/plain`",
}
MAY: Final = {
    Who.ANYONE: "anyone with a socket",
    Who.AGENT: "the owner; an agent on its own socket",
    Who.SESSION: "whom [the access rules](../explanation/access.md) let in",
    Who.OWNER: "the owner's socket alone",
}


def page() -> str:
    """Return the page."""
    described = [row for row in TABLE if row.is_described]
    calls = [(f"[`{row.method} {row.path}`](#{_anchor(row)})", row.summary, MAY[row.who]) for row in described]
    schema = description(TABLE)
    entries = [_entry(row, schema["paths"][row.path][row.method.lower()]) for row in described]
    shapes = [_shape(name, shape) for name, shape in sorted(schema["components"]["schemas"].items())]
    text = meanings(Event)
    events = table(("event", "data"), [(f"`{event}`", text[event.name]) for event in Event])
    parts = [HEAD, table(("call", "does", "who may"), calls), *entries, "\n## Events\n\n", events, "\n## Shapes\n"]
    return "".join([*parts, *shapes])


def _anchor(row: Row) -> str:
    heading = f"{row.method} {row.path}".lower().replace(" ", "-")
    return "".join(sign for sign in heading if sign.isalnum() or sign in "-_")


def _entry(row: Row, call: Schema) -> str:
    text = " ".join(str(call.get("description", row.summary)).split())
    parts = [f"\n## {row.method} {row.path}\n\n{text}\n\nMay be asked by: {MAY[row.who]}.\n"]
    if parameters := [_parameter(schema) for schema in call.get("parameters", ())]:
        parts += ["\n", table(("parameter", "type", "meaning"), parameters)]
    if body := call.get("requestBody"):
        parts.append(f"\nTakes {_type(_content(body))}.\n")
    replies = {status: reply for status, reply in call["responses"].items() if int(status) < 400}
    stream = STREAMS[row.stream] if row.stream else None
    parts += [f"\nAnswers {status} with {stream or _type(_content(reply))}.\n" for status, reply in replies.items()]
    return "".join(parts)


def _content(holder: Schema) -> Schema:
    return next((dict(schema.get("schema") or {}) for schema in holder.get("content", {}).values()), {})


def _parameter(schema: Schema) -> tuple[str, str, str]:
    where = "in the path" if schema["in"] == "path" else "required" if schema.get("required") else ""
    meaning = str(schema.get("description") or schema["schema"].get("description", ""))
    return (
        f"`{schema['name']}`",
        _type(schema["schema"]),
        "; ".join(filter(None, (meaning, _limits(schema["schema"]), where))),
    )


def _shape(name: str, shape: Schema) -> str:
    text = " ".join(str(shape.get("description", "")).split())
    if "enum" in shape:
        return f"\n### {name}\n\n{text}\n\n{', '.join(f'`{value}`' for value in shape['enum'])}\n"
    required = shape.get("required", ())
    rows = [
        (f"`{key}`{'' if key in required else '?'}", _type(schema), _meaning(schema))
        for key, schema in shape.get("properties", {}).items()
    ]
    return f"\n### {name}\n\n{text}\n\n{table(('key', 'type', 'meaning'), rows)}"


def _meaning(schema: Schema) -> str:
    text = " ".join(str(schema.get("description", "")).split())
    default = schema.get("default")
    return "; ".join(
        filter(None, (text, _limits(schema), "" if default is None else f"default `{json.dumps(default)}`"))
    )


def _limits(schema: Schema) -> str:
    places = [schema, *schema.get("anyOf", ())]
    return ", ".join(f"{sign} {place[key]}" for key, sign in LIMITS.items() for place in places if key in place)


def _type(schema: Schema) -> str:
    """Write a type: `string`, `[shape](#shape)`, `string[]`, `number or null`."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if kinds := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(kind) for kind in kinds))
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{choice}`" for choice in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"{_type(schema.get('items', {}))}[]"
    if schema.get("type") == "object" and isinstance(inner := schema.get("additionalProperties"), Mapping):
        return f"object of {_type(inner)}"
    return str(schema.get("type", "anything"))
