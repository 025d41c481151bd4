"""All that compactions ever reported adds up to the table, rescaled or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab import AddColumn, RenameColumn
from tests.repetitions import times

PRODUCERS: dict[str, dict[str, str]] = {
    "lookup": {"changelog-producer": "lookup"},
    "lookup, vectors": {"changelog-producer": "lookup", "deletion-vectors.enabled": "true"},
    "full-compaction": {"changelog-producer": "full-compaction"},
}
ENGINES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "deduplicate, sequence field": {"sequence.field": "g"},
    "partial-update": {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
    },
    "sequence groups": {
        "merge-engine": "partial-update",
        "fields.g.sequence-group": "v",
        "fields.v.aggregate-function": "sum",
    },
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "sum",
        "fields.g.aggregate-function": "last_value",
    },
    "first-row": {"merge-engine": "first-row", "ignore-delete": "true"},
}
ALLOWED = [
    (producer, engine)
    for producer in PRODUCERS
    for engine in ENGINES
    if engine != "first-row" or producer == "lookup"
]
TURNS = times(6)


@pytest.mark.parametrize(
    ("producer", "engine", "place"),
    [
        (producer, engine, place)
        for producer, engine in ALLOWED
        for place in ("files", "stores")
        if producer != "full-compaction" or place == "files"
    ],
)
def test_the_changelog_adds_up_to_the_table(
    producer: str,
    engine: str,
    place: str,
    tmp_path: Path,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look_up_in(place, monkeypatch)
    folder = str(tmp_path / "stores")
    catalog = paimonlab.connect({"warehouse": str(tmp_path), "lookup.cache-folder": folder})
    catalog.create_database("db")
    options = {
        "bucket": "2",
        "write-only": str(rng.random() < 0.5).lower(),
        "num-sorted-run.compaction-trigger": "3",
        "target-file-size": "4 kb",
    }
    table = catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "g": "INT", "v": "INT"},
        primary_keys=["k"],
        options=options | PRODUCERS[producer] | ENGINES[engine],
    )
    state: dict[int, dict[str, Any]] = {}
    seen = 0
    retracts = engine != "partial-update"

    for turn in range(TURNS):
        table.write(random_rows(rng, turn, retracts=retracts), row_kinds="kind")
        if turn % 3 == 2:
            table.maintenance.rescale(buckets=1 + turn % 4)
            again = catalog.table("db.t")
            assert isinstance(again, paimonlab.Table)
            table = again
        else:
            table.compact(full=producer == "full-compaction" or turn % 5 == 4)

        assert table.snapshot is not None
        latest = table.snapshot.id
        for number in range(seen, latest):
            changes = table.changes(number, number + 1, mode="changelog")
            add_up(state, changes.to_arrow().to_pylist())
        seen = latest
        rows = {row["k"]: row for row in table.scan().to_arrow().to_pylist()}
        assert state == rows, turn


def look_up_in(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look keys up in stores, however small files are, or leave it to the sizes of files."""
    if place == "stores":
        monkeypatch.setattr("paimonlab.read.lookup_stores.stores._LEAST_ROWS", 0)
        monkeypatch.setattr("paimonlab.read.lookup_stores.stores._ROWS_PER_KEY", 0)


def random_rows(rng: np.random.Generator, turn: int, *, retracts: bool) -> pa.Table:
    """Return many rows of most keys first, then few of some keys."""
    count = 400 if turn == 0 else int(rng.integers(1, 60))
    low = int(rng.integers(0, 300))
    chances = [0.6, 0.2, 0.05 if retracts else 0, 0.15 if retracts else 0.2]
    return pa.table(
        {
            "k": pa.array(rng.integers(low, low + 200, count), pa.int32()),
            "g": pa.array(rng.integers(0, 9, count), pa.int32()),
            "v": pa.array([None if n == 0 else n for n in rng.integers(0, 9, count)], pa.int32()),
            "kind": rng.choice(["+I", "+U", "-U", "-D"], count, p=chances).tolist(),
        }
    )


def add_up(state: dict[int, dict[str, Any]], changes: list[dict[str, Any]]) -> None:
    """Apply changes; each must fit what is known of its key."""
    for change in changes:
        kind, row = change["rowkind"], {name: change[name] for name in ("k", "g", "v")}
        if kind in ("-U", "-D"):
            assert state.pop(row["k"]) == row, change
        else:
            assert row["k"] not in state, change
            state[row["k"]] = row


KEYS: dict[str, dict[str, str]] = {
    "text": {"k": "STRING NOT NULL"},
    "several": {"k": "TIMESTAMP(3) NOT NULL", "j": "VARBINARY(9) NOT NULL"},
    "number behind text": {"k": "STRING NOT NULL", "j": "DECIMAL(20, 2) NOT NULL"},
}


@pytest.mark.parametrize("producer", ["lookup", "lookup, vectors"])
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("options", [{}, {"data-file.thin-mode": "true"}], ids=["", "thin"])
@pytest.mark.parametrize("place", ["files", "stores"])
def test_keys_of_any_type_are_found(
    keys: str,
    producer: str,
    options: dict[str, str],
    place: str,
    tmp_path: Path,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look_up_in(place, monkeypatch)
    folder = str(tmp_path / "stores")
    catalog = paimonlab.connect({"warehouse": str(tmp_path), "lookup.cache-folder": folder})
    catalog.create_database("db")
    usual = {"bucket": "1", "write-only": "true", "target-file-size": "4 kb"}
    catalog.create_table(
        "db.t",
        KEYS[keys] | {"v": "INT"},
        primary_keys=list(KEYS[keys]),
        options=usual | PRODUCERS[producer] | options,
    )
    state: dict[tuple[Any, ...], Any] = {}
    seen = 0

    for turn in range(times(3)):
        table = catalog.table("db.t")
        assert isinstance(table, paimonlab.Table)
        numbers = rng.permutation(3000)[: 2000 if turn == 0 else 40]
        columns = {
            "k": key_values(numbers // 3, KEYS[keys]["k"]),
            "j": key_values(numbers % 3, KEYS[keys].get("j", "")),
            "v": pa.array(rng.integers(0, 99, len(numbers)), pa.int32()),
        }
        if "j" not in KEYS[keys]:
            columns |= {"k": key_values(numbers, KEYS[keys]["k"])}
            del columns["j"]
        table.write(pa.table(columns))
        table.compact()
        assert table.snapshot is not None
        names = list(KEYS[keys])
        for change in (
            table.changes(seen, table.snapshot.id, mode="changelog").to_arrow().to_pylist()
        ):
            key = tuple(change[name] for name in names)
            if change["rowkind"] in ("-U", "-D"):
                assert state.pop(key) == change["v"]
            else:
                assert key not in state
                state[key] = change["v"]
        seen = table.snapshot.id
        rows = table.scan().to_arrow().to_pylist()
        assert state == {tuple(row[name] for name in names): row["v"] for row in rows}, turn


def key_values(numbers: Any, text: str) -> pa.Array:
    if text.startswith("TIMESTAMP"):
        return pa.array(numbers * 1000, pa.int64()).cast(pa.timestamp("ms"))
    if text.startswith("DECIMAL"):
        return pa.array(numbers, pa.int32()).cast(pa.decimal128(20, 2))
    texts = [f"{number:x}" * 2 for number in numbers.tolist()]
    return pa.array(texts) if text.startswith("STRING") else pa.array(texts).cast(pa.binary())


def test_older_rows_have_the_columns_of_today(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "v": "INT"},
        primary_keys=["k"],
        options={"bucket": "1", "write-only": "true"} | PRODUCERS["lookup"],
    )
    many = pa.array(range(1000), pa.int32())
    table.write(pa.table({"k": many, "v": many}))
    table.compact()
    catalog.alter_table("db.t", AddColumn("w", "STRING"))
    catalog.alter_table("db.t", RenameColumn("v", "x"))
    today = catalog.table("db.t")
    assert isinstance(today, paimonlab.Table)
    assert today.snapshot is not None
    seen = today.snapshot.id

    ones = pa.array([7], pa.int32())
    today.write(pa.table({"k": ones, "x": ones, "w": ["new"]}))
    today.compact()

    assert (
        len(
            {
                file["level"]
                for file in catalog.system_table("db.t$files").scan().to_arrow().to_pylist()
            }
        )
        == 2
    )
    found = today.changes(seen, today.snapshot.id, mode="changelog").to_arrow().to_pylist()
    assert [tuple(row.values()) for row in found] == [("-U", 7, 7, None), ("+U", 7, 7, "new")]
