"""Timestamps of ORC that are decoded here, beside pyarrow where it can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import UnsupportedError
from paimonlab.formats.orc.tail import Source, check_stripe, read_tail
from paimonlab.formats.orc.timestamps import read_timestamps
from tests.formats.test_data_formats import read, write
from tests.formats.test_parquet import fields_of

ROWS = 5000


def patterns(rng: np.random.Generator) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Seconds that the writer encodes in each of its ways."""
    outliers = rng.integers(0, 1000, ROWS)
    outliers[rng.integers(0, ROWS, 20)] = 4 * 10**9
    return {
        "same": np.full(ROWS, 1_700_000_000),
        "steps": np.arange(ROWS) * 60,
        "back": 10**9 - np.arange(ROWS) * 7,
        "growing": np.cumsum(rng.integers(0, 90, ROWS)),
        "outliers": outliers,
        "random": rng.integers(0, 9 * 10**9, ROWS),
        "old": -rng.integers(0, 9 * 10**9, ROWS),
    }


@pytest.mark.parametrize("pattern", patterns(np.random.default_rng(0)))
@pytest.mark.parametrize("codec", ["none", "zstd"])
@pytest.mark.parametrize("type_", ["TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(9)"])
def test_what_pyarrow_reads_is_read_alike(
    pattern: str, codec: str, type_: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    (field,) = fields = fields_of(type_)
    seconds = patterns(rng)[pattern]
    unit = {"TIMESTAMP(3)": 10**3, "TIMESTAMP(6)": 10**6}.get(type_, 10**9)
    fraction = rng.choice([0, 1, unit - 1, unit // 10, unit // 1000 * 999], ROWS)
    ticks = seconds * unit + np.where(seconds < 0, 0, fraction)
    mask = rng.random(ROWS) < (0.2 if codec == "zstd" else 0)
    name = {10**3: "ms", 10**6: "us"}.get(unit, "ns")
    zone = "UTC" if "LTZ" in type_ else None
    column = pa.array(ticks, mask=mask).view(pa.timestamp(name, tz=zone))
    table = pa.table({"c0": column})
    path = write(tmp_path, table, fields, {"file.format": "orc", "file.compression": codec})

    with pa.OSFile(path) as file:
        source = Source(file, path)
        tail = read_tail(source)
        check_stripe(source, tail, 0)
        ours = read_timestamps(source, tail, 0, field)

    assert ours.equals(column)
    assert read(path, fields).column("c0").combine_chunks().equals(column)


def test_the_end_of_time_comes_back(tmp_path: Path) -> None:
    fields = fields_of("TIMESTAMP(6)", "INT", "TIMESTAMP_LTZ(3)")
    last = 253_402_300_799
    columns = [
        pa.array([last * 10**6 + 999_999, None, 0, 1], pa.timestamp("us")),
        pa.array([1, None, 3, 4], pa.int32()),
        pa.array([None, last * 10**3 + 1, 0, -62_135_596_800_000], pa.timestamp("ms", tz="UTC")),
    ]
    table = pa.table(columns, names=["c0", "c1", "c2"])

    path = write(tmp_path, table, fields, {"file.format": "orc"})

    assert read(path, fields).equals(table)
    assert read(path, fields[2:]).equals(table.select(["c2"]))
    with pytest.raises(UnsupportedError, match="c0"):
        read(path, fields_of("TIMESTAMP(9)"))


def test_those_in_arrays_are_refused(tmp_path: Path) -> None:
    fields = fields_of("ARRAY<TIMESTAMP(3)>")
    table = pa.table({"c0": pa.array([[253_402_300_799_000]], pa.list_(pa.timestamp("ms")))})
    path = write(tmp_path, table, fields, {"file.format": "orc"})

    with pytest.raises(UnsupportedError, match="1677 to 2262"):
        read(path, fields)
