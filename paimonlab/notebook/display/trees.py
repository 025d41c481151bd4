"""Nested values as trees, for cells that open.

A tree is null, a text, or a list that begins with what it is: ``["list", tree, …]``,
``["struct", [name, tree], …]``, ``["map", [key tree, tree], …]``.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from paimonlab.notebook.display.cells import value_text
from paimonlab.spec.visible_text import visible

ITEMS = 200
"""Items of a list, map or struct that are shown."""


def is_nested(kind: pa.DataType) -> bool:
    """Tell whether values of a type have values inside."""
    return bool(pa.types.is_nested(kind))


def tree(value: Any, kind: pa.DataType) -> Any:
    """Write a value, as Arrow gives it to Python, as a tree."""
    if value is None:
        return None
    if isinstance(value, str) and not isinstance(kind, pa.DictionaryType):
        return visible(value)
    if pa.types.is_struct(kind):
        fields = list(kind)[:ITEMS]
        return [
            "struct",
            *([visible(field.name), tree(value[field.name], field.type)] for field in fields),
        ]
    if pa.types.is_map(kind):
        entries = value[:ITEMS]
        pairs = ([tree(key, kind.key_type), tree(item, kind.item_type)] for key, item in entries)
        return ["map", *pairs, *_rest(value, is_pair=True)]
    if pa.types.is_nested(kind):
        items = (tree(item, kind.value_type) for item in value[:ITEMS])
        return ["list", *items, *_rest(value)]
    return value_text(value)


def _rest(value: list[Any], *, is_pair: bool = False) -> list[Any]:
    if len(value) <= ITEMS:
        return []
    text = f"… {len(value) - ITEMS:,} more"
    return [["…", text]] if is_pair else [text]
