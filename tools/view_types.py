"""Write `views.d.ts` of the browser modules: the values of views as TypeScript sees them.

``python -m tools.view_types`` writes it; a test compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from paimonlab.notebook import views

NOTEBOOK = Path(__file__).parents[1] / "paimonlab" / "notebook"
TARGET = NOTEBOOK / "display" / "browser" / "views.d.ts"

_PRIMITIVES = {
    "boolean": "boolean",
    "integer": "number",
    "null": "null",
    "number": "number",
    "string": "string",
}


def declarations() -> str:
    """Return the text of the file."""
    _, components = msgspec.json.schema_components(views.INTERACTIVE, ref_template="{name}")
    parts = ["// Written by tools/view_types.py from paimonlab/notebook/views.", ""]
    for name in sorted(components):
        parts += [*_interface(name, components[name]), ""]
    return "\n".join(parts)


def _interface(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if "properties" not in schema:
        yield f"export type {name} = {_type(schema)};"
        return
    yield f"export interface {name} {{"
    required = set(schema.get("required", ()))
    for key, inner in schema["properties"].items():
        # Only empty texts may be left out.
        is_there = key in required or (isinstance(inner.get("default"), str) and inner["default"])
        yield f"  {key}{'' if is_there else '?'}: {_type(inner)};"
    yield "}"


def _type(schema: Mapping[str, Any]) -> str:
    for key, write in _WRITERS.items():
        if key in schema:
            return write(schema)
    return _PRIMITIVES.get(schema.get("type", ""), "unknown")


def _array(schema: Mapping[str, Any]) -> str:
    return f"({_type(schema['items'])})[]"


def _tuple(schema: Mapping[str, Any]) -> str:
    return "[" + ", ".join(map(_type, schema["prefixItems"])) + "]"


def _record(schema: Mapping[str, Any]) -> str:
    return f"Record<string, {_type(schema['additionalProperties'])}>"


def _choice(schema: Mapping[str, Any]) -> str:
    return " | ".join(dict.fromkeys(map(_type, schema["anyOf"])))


def _literal(schema: Mapping[str, Any]) -> str:
    return " | ".join(msgspec.json.encode(value).decode() for value in schema["enum"])


_WRITERS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "$ref": lambda schema: str(schema["$ref"]),
    "anyOf": _choice,
    "enum": _literal,
    "prefixItems": _tuple,
    "items": _array,
    "additionalProperties": _record,
}


if __name__ == "__main__":
    TARGET.write_text(declarations(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
