"""Messages of Debezium with their schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_KINDS = {"id": "int32", "a": "int32", "b": "string"}


def typed(
    database: str, row: Mapping[str, Any], table: str = "t", kinds: Mapping[str, str] = _KINDS
) -> bytes:
    """Write a message of a row that is new."""
    fields = [{"field": name, "type": kinds[name], "optional": name != "id"} for name in row]
    after = {"field": "after", "type": "struct", "optional": True, "fields": fields}
    source = {"db": database, "table": table}
    payload = {"before": None, "after": row, "source": source, "op": "c"}
    told = {"schema": {"type": "struct", "fields": [after]}, "payload": payload}
    return json.dumps(told).encode()
