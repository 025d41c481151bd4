"""Statements made up at random for each kind of table, and the rows that they leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

MORE_KINDS: dict[str, dict[str, Any]] = {
    "keys-across-partitions": {"primary_keys": ["id"], "partition_keys": ["n"]},
    "postponed": {"primary_keys": ["id"], "options": {"bucket": "-2"}},
    "lookup-changelog": {
        "primary_keys": ["id"],
        "options": {"bucket": "1", "changelog-producer": "lookup"},
    },
    "row-ids": {"options": {"row-tracking.enabled": "true"}},
    "columns-apart": {
        "options": {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    },
    "append-partitions": {"partition_keys": ["n"]},
    "orc": {"options": {"file.format": "orc", "row-tracking.enabled": "true"}},
    "avro-vectors": {"options": {"file.format": "avro", "deletion-vectors.enabled": "true"}},
    "dynamic-vectors": {"primary_keys": ["id"], "options": {"deletion-vectors.enabled": "true"}},
    "first-row": {"primary_keys": ["id"], "options": {"bucket": "2", "merge-engine": "first-row"}},
}
"""Kinds of tables that only random statements try."""
Rows: TypeAlias = dict[int, tuple[str | None, int | None]]
MadeUp: TypeAlias = Callable[[Rows, np.random.Generator], tuple[str, Rows]]


def statement(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement; return it and the rows that it leaves."""
    low = int(rng.integers(0, 12))
    high = low + int(rng.integers(0, 6))
    some = [key for key in model if low <= key <= high]
    match int(rng.integers(0, 8)):
        case 0:
            return insert(model, low, high)
        case 1:
            left = {key: row for key, row in model.items() if key not in some}
            return f"DELETE FROM paimon.db.t WHERE id BETWEEN {low} AND {high}", left
        case 2:
            sql = f"UPDATE paimon.db.t SET v = concat(v, 'u'), n = n + {low} "
            changed = {key: updated(model[key], "u", low) for key in some}
            return sql + f"WHERE id >= {low} AND id <= {high}", model | changed
        case 3:
            return overwrite(model, rng, low, high)
        case 4:
            return "CALL paimon.sys.compact(table => 'db.t')", dict(model)
        case _:
            return merge(model, rng, low, high)


def insert(model: Rows, low: int, high: int) -> tuple[str, Rows]:
    """Insert the keys of a range that are not there."""
    new: Rows = {key: ("i", key) for key in range(low, high + 1) if key not in model}
    if not new:
        return "DELETE FROM paimon.db.t WHERE id < 0", dict(model)
    values = ", ".join(f"({key}, 'i', {key})" for key in new)
    return f"INSERT INTO paimon.db.t VALUES {values}", model | new


def overwrite(model: Rows, rng: np.random.Generator, low: int, high: int) -> tuple[str, Rows]:
    """Make up a statement that replaces all rows, by others or by some of their own."""
    if rng.integers(0, 2):
        values = ", ".join(f"({key}, NULL, {key})" for key in range(low, high + 1))
        new: Rows = {key: (None, key) for key in range(low, high + 1)}
        return f"INSERT OVERWRITE paimon.db.t VALUES {values}", new
    kept = {key: updated(row, "o", 1) for key, row in model.items() if key <= high}
    sql = f"SELECT id, concat(v, 'o'), n + 1 FROM paimon.db.t WHERE id <= {high}"
    return f"INSERT OVERWRITE paimon.db.t {sql}", kept


def updated(row: tuple[str | None, int | None], text: str, number: int) -> Any:
    return (None if row[0] is None else row[0] + text, None if row[1] is None else row[1] + number)


def merge(model: Rows, rng: np.random.Generator, low: int, high: int) -> tuple[str, Rows]:
    """Make up a MERGE with random clauses."""
    source = {key: (f"s{key}", key * 10) for key in range(low, high + 1)}
    values = ", ".join(f"({key}, '{v}', {n})" for key, (v, n) in source.items())
    limit = int(rng.integers(0, 15))
    deletes, inserts, by_source = (bool(flag) for flag in rng.integers(0, 2, 3))
    clauses = [f"WHEN MATCHED AND t.id < {limit} THEN DELETE"] if deletes else []
    clauses.append("WHEN MATCHED THEN UPDATE SET v = concat(t.v, s.v), n = s.n")
    if inserts:
        clauses.append(f"WHEN NOT MATCHED AND s.id <> {limit} THEN INSERT *")
    if by_source:
        clauses.append(f"WHEN NOT MATCHED BY SOURCE AND t.id > {limit} THEN UPDATE SET n = -1")
    result: Rows = {}
    for key, (v, n) in model.items():
        if key in source:
            if not (deletes and key < limit):
                result[key] = (None if v is None else v + source[key][0], source[key][1])
        else:
            result[key] = (v, -1 if by_source and key > limit else n)
    if inserts:
        result |= {k: row for k, row in source.items() if k not in model and k != limit}
    text = f"MERGE INTO paimon.db.t t USING (SELECT * FROM VALUES {values} AS s (id, v, n)) s "
    return text + "ON t.id = s.id " + " ".join(clauses), result


def first_rows(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement for a table that keeps the first row of each key."""
    low = int(rng.integers(0, 12))
    new: Rows = {key: ("f", key) for key in range(low, low + int(rng.integers(1, 6)))}
    values = ", ".join(f"({key}, 'f', {key})" for key in new)
    if rng.integers(0, 2):
        return f"INSERT INTO paimon.db.t VALUES {values}", new | model
    sql = f"MERGE INTO paimon.db.t t USING (SELECT * FROM VALUES {values} AS s (id, v, n)) s "
    return sql + "ON t.id = s.id WHEN NOT MATCHED THEN INSERT *", new | model


def moving_rows(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement for a table whose keys move between partitions when they come again."""
    low, partition = int(rng.integers(0, 12)), int(rng.integers(0, 3))
    keys = range(low, low + int(rng.integers(1, 6)))
    new: Rows = dict.fromkeys(keys, (f"p{partition}", partition))
    values = ", ".join(f"({key}, 'p{partition}', {partition})" for key in new)
    match int(rng.integers(0, 3)):
        case 0:
            left = {key: row for key, row in model.items() if key not in keys}
            return f"DELETE FROM paimon.db.t WHERE id BETWEEN {low} AND {keys[-1]}", left
        case 1:
            sql = f"MERGE INTO paimon.db.t t USING (SELECT * FROM VALUES {values} AS s (id, v, n)) "
            clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
            left = {key: row for key, row in model.items() if key not in keys}
            added = {key: row for key, row in new.items() if key not in model}
            return f"{sql} s ON t.id = s.id {clauses}", left | added
        case _:
            return f"INSERT INTO paimon.db.t VALUES {values}", model | new


def updates(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement that deletes no row and compacts nothing."""
    while True:
        sql, rows = statement(model, rng)
        if "DELETE" not in sql and "CALL" not in sql:
            return sql, rows


MADE_UP: dict[str, MadeUp] = {
    "first-row": first_rows,
    "keys-across-partitions": moving_rows,
    "columns-apart": updates,
}
