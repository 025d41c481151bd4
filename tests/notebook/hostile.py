"""Three hundred texts that somebody may put into a name, a comment or a value to do harm.

They stand in ``cases/hostile_texts.jsonl``, each with its kind. Those that run a script open a
dialog or set ``zqcanary`` of the page; those that ask for something ask 192.0.2.1, which is nobody.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

FILE = Path(__file__).parents[1] / "cases" / "hostile_texts.jsonl"


@functools.cache
def payloads() -> tuple[tuple[str, str], ...]:
    """Return kind and text of each."""
    read = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return tuple((one["kind"], one["text"] * one.get("times", 1)) for one in read)


def strings() -> list[str]:
    """Return the texts."""
    return [text for _, text in payloads()]
