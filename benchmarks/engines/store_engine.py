"""One engine on tables in an S3 store: ``ENGINE WORK ADDRESS ROWS REPEAT``, a line of JSON.

It runs in the environment of each engine. An engine is ``paimonlab``, ``pypaimon native``,
``pypaimon``, ``deltalake`` or ``deltalake zstd``. Tables that are read are there before; deltalake
writes its own by the work ``prepare``.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

BUCKET = "bench"
PREPARE = "prepare"
KEYED = {"bucket": "4", "write-only": "true"}
_NATIVE = ("scan.native-plan", "read.native", "commit.native", "write.native")
_SCANS = {"append_scan": "db.append", "merge_scan": "db.merge"}

Run = Callable[[], int]


def options_of(url: str, key: str, secret: str) -> dict[str, str]:
    """Return the options of a Paimon catalog, under the names of both libraries."""
    return {
        "warehouse": f"s3://{BUCKET}/w",
        "s3.endpoint": url,
        "s3.access-key": key,
        "s3.secret-key": secret,
    }


def paimonlab(work: str, options: dict[str, str], data: Any) -> Run:
    import paimonlab as pm  # noqa: PLC0415 - each engine has an environment of its own

    catalog = pm.connect(options)
    if work in _SCANS:
        return lambda: catalog.table(_SCANS[work]).scan().to_arrow().num_rows
    keyed: Any = {"primary_keys": ["k"], "options": KEYED} if work == "key_write" else {}
    table: Any = catalog.create_table(f"db.{_new_name()}", data.schema, **keyed)

    def write() -> int:
        table.write(data)
        return int(data.num_rows)

    return write


def pypaimon(work: str, options: dict[str, str], data: Any, *, is_native: bool) -> Run:
    from pypaimon import CatalogFactory, Schema  # noqa: PLC0415 - as above

    also = {
        "fs.s3.endpoint": options["s3.endpoint"],
        "fs.s3.accessKeyId": options["s3.access-key"],
        "fs.s3.accessKeySecret": options["s3.secret-key"],
        "fs.s3.region": "us-east-1",
        "s3.path.style.access": "true",
        "s3.region": "us-east-1",
    }
    catalog = CatalogFactory.create({**options, **also})
    name = _SCANS.get(work) or f"db.{_new_name()}"
    if work not in _SCANS:
        keyed: dict[str, Any] = {"primary_keys": ["k"], "options": KEYED}
        if work != "key_write":
            keyed = {}
        catalog.create_table(name, Schema.from_pyarrow_schema(data.schema, **keyed), False)
    table = catalog.get_table(name)
    if is_native:
        table = table.copy({f"{part}.enabled": "true" for part in _NATIVE})

    def read() -> int:
        builder = table.new_read_builder()
        return int(builder.new_read().to_arrow(builder.new_scan().plan().splits()).num_rows)

    def write() -> int:
        builder = table.new_batch_write_builder()
        writer, commit = builder.new_write(), builder.new_commit()
        writer.write_arrow(data)
        commit.commit(writer.prepare_commit())
        writer.close()
        commit.close()
        return int(data.num_rows)

    return read if work in _SCANS else write


def deltalake(work: str, options: dict[str, str], data: Any, *, is_zstd: bool) -> Run | None:
    from deltalake import DeltaTable, WriterProperties, write_deltalake  # noqa: PLC0415

    if work not in ("append_scan", "append_write", PREPARE):
        return None
    access = {
        "AWS_ENDPOINT_URL": options["s3.endpoint"],
        "AWS_ACCESS_KEY_ID": options["s3.access-key"],
        "AWS_SECRET_ACCESS_KEY": options["s3.secret-key"],
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
        "aws_conditional_put": "etag",
    }
    name = _new_name() if work == "append_write" else f"scanned-{is_zstd}"
    place = f"s3://{BUCKET}/{name}"
    written: dict[str, Any] = {"storage_options": access}
    if is_zstd:
        zstd = WriterProperties(compression="ZSTD", compression_level=1)
        written["writer_properties"] = zstd

    def write() -> int:
        write_deltalake(place, data, **written)
        return int(data.num_rows)

    if work != "append_scan":
        return write
    return lambda: int(DeltaTable(place, storage_options=access).to_pyarrow_table().num_rows)


def _new_name() -> str:
    return f"t{uuid.uuid4().hex}"


def _prepared(engine: str, work: str, options: dict[str, str], data: Any) -> Run | None:
    library, _, variant = engine.partition(" ")
    if library == "deltalake":
        return deltalake(work, options, data, is_zstd=variant == "zstd")
    if library == "pypaimon":
        return pypaimon(work, options, data, is_native=variant == "native")
    return paimonlab(work, options, data)


def main(engine: str, work: str, options: str, rows: str, repeat: str) -> None:
    """Run one work; each repetition opens its table anew, those that write have one each."""
    is_scan = work in _SCANS
    data = None if is_scan else pq.read_table(Path(rows) / "all.parquet").combine_chunks()
    seconds, processor, found = [], [], []
    for number in range(int(repeat)):
        start, used = time.perf_counter(), time.process_time()
        run = _prepared(engine, work, json.loads(options), data)
        if run is None:
            print(json.dumps({"missing": True}))
            return
        if number:  # the first time from the import on: some load modules then, others when used
            start, used = time.perf_counter(), time.process_time()
        found.append(run())
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    told = {"seconds": seconds, "cpu": processor, "rows": found, "peak_bytes": peak}
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
