"""Runs of many buckets are made together, and are what each bucket alone would get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from paimonlab.spec.statistics import columns

COLUMNS = {"id": "BIGINT NOT NULL", "name": "STRING NOT NULL", "seq": "INT", "v": "INT"}


def table_of(folder: Path, **options: str) -> pl.Table:
    catalog = pl.connect(str(folder))
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        COLUMNS,
        primary_keys=["id", "name"],
        options={"bucket": "64", "write-only": "true", **options},
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sequence.field": "seq"},
        {"merge-engine": "first-row", "write-only": "false"},
        {"merge-engine": "partial-update"},
        {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
        {"changelog-producer": "input"},
    ],
    ids=lambda options: "-".join(options.values()) or "deduplicate",
)
def test_rows_of_64_buckets_agree_with_a_dict(
    tmp_path: Path, options: dict[str, str], rng: np.random.Generator
) -> None:
    table = table_of(tmp_path, **options)
    kept: dict[tuple[int, str], tuple[int, int]] = {}
    known = rng.integers(-(2**62), 2**62, 200)
    for _ in range(2):
        ids = rng.choice(known, 600)
        names = np.char.add("n", (ids % 3).astype("U1"))
        seqs = rng.integers(0, 50, len(ids))
        values = rng.integers(0, 9, len(ids))
        arrays = [ids, names, seqs.astype("int32"), values.astype("int32")]
        table.write(pa.table([pa.array(array) for array in arrays], names=list(COLUMNS)))
        for key, seq, value in zip(
            zip(ids.tolist(), names.tolist(), strict=True),
            seqs.tolist(),
            values.tolist(),
            strict=True,
        ):
            kept[key] = merged(options, kept.get(key), (seq, value))

    rows = table.scan().to_arrow().to_pylist()

    assert {(row["id"], row["name"]): (row["seq"], row["v"]) for row in rows} == kept


def merged(
    options: dict[str, Any], old: tuple[int, int] | None, new: tuple[int, int]
) -> tuple[int, int]:
    if old is None:
        return new
    if options.get("merge-engine") == "first-row":
        return old
    if options.get("merge-engine") == "aggregation":
        return new[0], old[1] + new[1]
    if "sequence.field" in options and new[0] < old[0]:
        return old
    return new


def test_many_small_buckets_are_encoded_and_described_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_of(tmp_path)
    described, opened = [], []
    describe, start = columns.stats_of_slices, pq.ParquetWriter.__init__

    def counted(*args: Any, **options: Any) -> Any:
        described.append(len(args[1]))
        return describe(*args, **options)

    def opening(*args: Any, **options: Any) -> None:
        opened.append(1)
        start(*args, **options)

    monkeypatch.setattr("paimonlab.datafile.written_file.stats_of_slices", counted)
    monkeypatch.setattr(pq.ParquetWriter, "__init__", opening)
    ids = np.arange(1000)
    names = pa.array(ids.astype("U4"))
    table.write(
        pa.table([pa.array(ids), names, pa.nulls(1000), pa.nulls(1000)], names=list(COLUMNS))
    )

    assert sum(opened) == 1
    assert described == [64, 64]  # values and keys
