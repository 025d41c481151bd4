"""What is expected of a golden table, whatever the layout of its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import paimonlab
from paimonlab.catalog import Catalog
from tests.golden import ROOTS, golden

SCAN_OPTIONS = frozenset({"scan.snapshot-id", "scan.tag-name", "scan.timestamp-millis"})
"""Options of reads that are built in; a read with others may be refused."""

Rows = list[list[Any]]

COPIES: dict[Path, Mapping[str, str]] = {}
"""Options of a catalog with a copy of a warehouse, which is read in its place."""


@dataclass(frozen=True)
class Case:
    """A line of ``tables.txt``."""

    writer: str
    table: str
    refusal: str | None = None
    """What the error says; None: the table is read."""
    unreadable: str | None = None
    """The column that is refused, while the others are read."""
    recorded_at: int | None = None
    """The snapshot that was the latest when the answers were recorded; None: it still is."""

    def __str__(self) -> str:
        return f"{self.writer}/{self.table}"


def cases() -> list[Case]:
    """Read ``tables.txt``, which explains itself."""
    lines = (Path(__file__).parent / "tables.txt").read_text(encoding="utf-8").splitlines()
    return [_case(line) for line in lines if line and not line.startswith("#")]


def _case(line: str) -> Case:
    name, verdict = line.split(maxsplit=1)
    writer, _, table = name.partition("/")
    match verdict.split(maxsplit=2):
        case ["read"]:
            return Case(writer, table)
        case ["read", "without", column]:
            return Case(writer, table, unreadable=column)
        case ["read", "at", snapshot]:
            return Case(writer, table, recorded_at=int(snapshot))
        case ["refused", *words]:
            return Case(writer, table, refusal=" ".join(words))
    raise AssertionError(line)


def stored_tables() -> list[str]:
    """``writer/table`` of every table in the archives that has an expected answer."""
    return [
        f"{writer}/{path.stem}"
        for writer in ROOTS
        for path in sorted((golden(writer) / "expected").glob("*.json"))
        if not path.stem.startswith("sys_")
    ]


@dataclass(frozen=True)
class Expected:
    """What Java reads from one table."""

    warehouse: Path
    document: Mapping[str, Any]

    @property
    def options(self) -> Mapping[str, str]:
        """Options of the catalog that the table is read from."""
        return COPIES.get(self.warehouse, {"warehouse": str(self.warehouse)})

    def catalog(self) -> Catalog:
        """Open that catalog."""
        return paimonlab.connect(self.options)

    @property
    def path(self) -> Path:
        """The folder of the table."""
        database, _, table = self.document["table"].partition(".")
        return self.warehouse / f"{database}.db" / table

    @property
    def is_keyed(self) -> bool:
        """Whether the first schema of the table has a primary key; no change gives it one."""
        text = (self.path / "schema" / "schema-0").read_text(encoding="utf-8")
        return bool(json.loads(text)["primaryKeys"])

    @property
    def latest(self) -> Rows:
        """Rows of the latest snapshot."""
        return values(self.document.get("latest", self.document.get("rows")))

    @property
    def snapshots(self) -> Mapping[int, Rows]:
        """Rows of every snapshot that Java reads."""
        found = self.document.get("snapshots", {})
        return {int(id): values(one["rows"]) for id, one in found.items() if "rows" in one}

    def snapshot_documents(self) -> Mapping[int, Mapping[str, Any]]:
        """The snapshots' JSON by id."""
        return {int(id): one["meta"] for id, one in self.document.get("snapshots", {}).items()}

    def reads(self) -> list[Mapping[str, Any]]:
        """Further reads of the table itself that Java answers."""
        return [
            read
            for read in self.document.get("reads", [])
            if "rows" in read and "branch" not in read and "suffix" not in read
        ]

    def system_tables(self) -> Mapping[str, Mapping[str, Any]]:
        """``fields`` and ``rows`` by the name behind the ``$``."""
        return self.document.get("system", {})


def values(rows: Any) -> Rows:
    """Leave out the row kinds: ``[kind, values]`` or ``{"k": kind, "r": values}``."""
    if isinstance(rows, Mapping):
        rows = rows["rows"]
    return [row["r"] if isinstance(row, Mapping) else row[1] for row in rows]


@cache  # a dozen tests take each, 7 MB of text in all
def expected(case: Case) -> Expected:
    """Load the answers for a table."""
    root = golden(case.writer)
    document = json.loads((root / "expected" / f"{case.table}.json").read_text(encoding="utf-8"))
    return Expected(root / "wh", document)
