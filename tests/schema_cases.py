"""Definitions of tables in ``tests/cases/schema_options.txt``, and what is to become of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.support import cases

COLUMNS = {
    "k": "INT NOT NULL",
    "p": "STRING NOT NULL",
    "v": "INT",
    "t": "TIMESTAMP(3)",
    "b": "BYTES",
}
_KINDS: Mapping[str, tuple[list[str], list[str]]] = {
    "append": ([], []),
    "append by p": ([], ["p"]),
    "keyed": (["k"], []),
    "keyed by p": (["k", "p"], ["p"]),
    "keyed across p": (["k"], ["p"]),
}


class SchemaCase(NamedTuple):
    """A definition, and who refuses it."""

    title: str
    primary_keys: Sequence[str]
    partition_keys: Sequence[str]
    options: Mapping[str, str]
    is_java_willing: bool
    """Whether Java Paimon creates such a table."""
    error: str | None
    """What our error says; None: we create it, too."""

    def __str__(self) -> str:
        return self.title


def schema_cases() -> list[SchemaCase]:
    """Read all of them; a ``_`` at the beginning of a value is a blank."""
    found = []
    for title, given, verdict in cases("schema_options"):
        kind, *lines = [line.strip() for line in given.splitlines()]
        pairs = [line.partition(" =") for line in lines]
        options = {
            key: f" {value[2:]}" if value.startswith(" _") else value.strip()
            for key, _, value in pairs
        }
        who, _, error = verdict.strip().partition(": ")
        assert who in ("both accept", "both refuse", "only Java accepts"), verdict
        keys, partition = _KINDS[kind]
        is_willing = who != "both refuse"
        found.append(SchemaCase(title, keys, partition, options, is_willing, error or None))
    return found
