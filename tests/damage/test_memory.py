"""Small files whose values take more memory than there is: a typed error, in a child process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl

VALUE_BYTES = 90 << 20
SPARE_BYTES = 64 << 20
CHILD = """
import resource, sys
from pathlib import Path
import paimonlab as pl

table = pl.connect(sys.argv[1]).table("db.t")
assert table.scan(where="k = 0").count() == 1
table.scan(limit=1, where="k = 0").to_arrow()  # all that is loaded late is there
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    table.scan(where="k = 1").to_arrow()
except pl.errors.MemoryLimitError as error:
    print("typed", error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("file_format", ["parquet", "avro"])
def test_a_file_that_decompresses_to_more_than_there_is(tmp_path: Path, file_format: str) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    options = {"file.format": file_format, "bucket": "-1"}
    table = catalog.create_table("db.t", {"k": "INT", "v": "STRING"}, options=options)
    for key, text in enumerate(["x", "x" * VALUE_BYTES]):
        table.write(pa.table({"k": pa.array([key], pa.int32()), "v": [text]}))
    (path,) = (one for one in tmp_path.rglob("data-*") if one.stat().st_size > 2_000)
    assert path.stat().st_size < 1 << 20

    command = [sys.executable, "-c", CHILD, str(tmp_path), str(SPARE_BYTES)]
    # A pool that has taken address space before would give some of it.
    env = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    assert done.stdout.startswith("typed"), done.stderr[-2_000:]
    assert path.name in done.stdout


def test_a_dictionary_of_long_texts_is_written_in_pieces(tmp_path: Path) -> None:
    """60,000 rows of one text of 40,000 characters: 2.4 GB once they stand row by row."""
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT", "v": "STRING"})
    count, text = 60_000, "x" * 40_000
    texts = pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([text]))

    table.write(pa.table({"k": pa.array(np.arange(count), pa.int32()), "v": texts}))

    assert table.scan().count() == count
    some = table.scan(where="k = 7 OR k = 59999").to_arrow()
    assert some["v"].to_pylist() == [text, text]
