"""Processes that change the same files: no update is lost, no deleted row comes back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.table.table import Table

TIMES = 3
RACERS = 2
VECTORS = {"deletion-vectors.enabled": "true"}
BUCKETS = {"bucket": "1", "bucket-key": "k"}


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        ((), VECTORS),
        ((), VECTORS | BUCKETS),
        ((), {}),
        (("k",), {"bucket": "1"}),
    ],
    ids=["vectors", "vectors, buckets", "rewriting", "keys"],
)
def test_no_update_is_lost_and_no_deleted_row_comes_back(
    keys: Sequence[str], options: Mapping[str, str], tmp_path: Path
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"k": "INT NOT NULL", "n": "INT"}
    table = catalog.create_table("db.t", columns, primary_keys=keys, options=options)
    assert isinstance(table, Table)
    count = 1 + RACERS * TIMES + 3
    rows = {"k": pa.array(range(count), pa.int32()), "n": pa.array([0] * count, pa.int32())}
    table.write(pa.table(rows))

    racers = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.table.changing.changer",
                str(tmp_path),
                str(first),
                str(TIMES),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for first in range(1, 1 + RACERS * TIMES, TIMES)
    ]
    said = [racer.communicate(timeout=240) for racer in racers]

    assert [out.strip() for out, _ in said] == [str(TIMES)] * RACERS, said
    found = {row["k"]: row["n"] for row in table.scan().to_arrow().to_pylist()}
    assert found == {0: RACERS * TIMES} | dict.fromkeys(range(1 + RACERS * TIMES, count), 0)
    assert table.scan().count() == len(found)
