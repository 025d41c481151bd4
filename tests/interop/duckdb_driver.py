"""DuckDB with its Iceberg extension, which reads one metadata file into a file of Arrow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa


def main(metadata: str, out: str) -> None:
    """Write all rows in Arrow's format of files."""
    database = duckdb.connect(config={"allow_unsigned_extensions": True})
    packages = Path(duckdb.__file__).parents[1]
    for name in ("avro", "iceberg"):
        (found,) = (packages / f"duckdb_extension_{name}").rglob("*.duckdb_extension")
        database.execute(f"LOAD '{found}'")
    rows: Any = database.execute("SELECT * FROM iceberg_scan(?)", [metadata]).to_arrow_table()
    with pa.OSFile(out, "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
