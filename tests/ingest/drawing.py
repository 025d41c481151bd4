"""Schemas of sources as texts: ``id BIGINT NOT NULL, v STRING DEFAULT x KEY(id) PARTIAL``."""

from __future__ import annotations

import re

from paimonlab.ingest.changes import SourceColumn, SourceSchema
from paimonlab.spec.types.text import parse_type

_END = re.compile(
    r"(?P<columns>.*?)(?:\s+KEY\((?P<key>[^)]*)\))?(?:\s+(?P<kind>PARTIAL|UNORDERED))?\s*"
)


def source(text: str) -> SourceSchema:
    """Make a schema of its drawing."""
    match = _END.fullmatch(text.strip())
    assert match, text
    keys = tuple(name.strip() for name in (match["key"] or "").split(",") if name.strip())
    columns = []
    for part in _split(match["columns"]):
        name, _, kind = part.partition(" ")
        kind, _, default = kind.partition(" DEFAULT ")
        columns.append(
            SourceColumn(name=name, type=parse_type(kind), default_value=default or None)
        )
    return SourceSchema(
        columns=tuple(columns),
        primary_keys=keys,
        is_partial=match["kind"] == "PARTIAL",
        is_unordered=match["kind"] == "UNORDERED",
    )


def _split(text: str) -> list[str]:
    """Split at commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "(<") - (character in ")>")
        if character == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]
