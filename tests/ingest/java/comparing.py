"""Tables that Paimon's action and ours made of the same source, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from subprocess import Popen
from typing import Any

import paimonlab as pm
from paimonlab.spec.types.text import format_type

SECONDS = 300


def rows_of(table: pm.Table) -> list[dict[str, Any]]:
    """Return the rows of a table in the order of its key, ``id``."""
    found = table.scan().to_arrow().to_pylist()
    return sorted(found, key=lambda row: int(row["id"]))


def have_row(warehouse: Path, tables: Iterable[str], key: int) -> bool:
    """Tell whether all of these tables of a warehouse are there and have the row of a key."""
    catalog = pm.connect(warehouse)
    there = catalog.has_database("ods") and set(catalog.tables("ods")) >= {*tables}
    return there and all(
        any(int(row["id"]) == key for row in rows_of(catalog.table(f"ods.{name}")))
        for name in tables
    )


def wait(is_done: Callable[[], bool], process: Popen[bytes], log: Path) -> None:
    """Wait until the action has come so far; fail if it ended."""
    end = time.monotonic() + SECONDS
    while not is_done():
        told = log.read_text(errors="replace")[-4000:]
        assert process.poll() is None, told
        assert time.monotonic() < end, told
        time.sleep(1)


def differences(theirs: Path, ours: Path, tables: Iterable[str]) -> dict[str, Any]:
    """Return what is otherwise in tables of two warehouses, by place and column: theirs, ours."""
    their, our = pm.connect(theirs), pm.connect(ours)
    different: dict[str, Any] = {}
    for name in tables:
        left, right = their.table(f"ods.{name}"), our.table(f"ods.{name}")
        assert left.primary_keys == right.primary_keys
        different |= dict(_between(name, _schema(left), _schema(right)))
        left_rows, right_rows = rows_of(left), rows_of(right)
        assert [row["id"] for row in left_rows] == [row["id"] for row in right_rows]
        for one, other in zip(left_rows, right_rows, strict=True):
            different |= dict(_between(f"{name} {one['id']}", one, other))
    return different


def _schema(table: pm.Table) -> dict[str, str]:
    return {field.name: format_type(field.type) for field in table.schema.fields}


def _between(
    where: str, left: Mapping[str, Any], right: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    for name in {**left, **right}:
        if left.get(name) != right.get(name):
            yield f"{where} {name}", (left.get(name), right.get(name))
