"""Messages of eight formats of Kafka, and what the parsers of Paimon 1.3.1 make of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "cases" / "kafka_messages.jsonl"


@dataclass(frozen=True)
class Sample:
    """A message, and what Java makes of it."""

    format: str
    key: str | None
    value: str
    java: Any = None


def samples() -> list[Sample]:
    """Return all of them."""
    return [Sample(**json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines()]
