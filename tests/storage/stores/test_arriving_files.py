"""Files that arrive in a bucket are read into tables, each once."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pm
from paimonlab.errors import UnsupportedError
from paimonlab.ingest import check_source, files
from paimonlab.ingest.sources import files as file_source
from paimonlab.ingest.sources.files import FileSource
from tests.storage.stores.conftest import options_of


def _put(url: str, bucket: str, name: str, data: bytes) -> None:
    kind = {"Content-Type": "application/octet-stream"}
    made = Request(f"{url}/{bucket}/in/{name}", data=data, method="PUT", headers=kind)
    with urlopen(made, timeout=60):
        pass


def _there(url: str, bucket: str) -> str:
    with urlopen(f"{url}/{bucket}?list-type=2", timeout=60) as answer:
        return str(answer.read())


def _source(url: str, bucket: str, **told: object) -> FileSource:
    options = {key: value for key, value in options_of(url, bucket).items() if key != "warehouse"}
    words: dict[str, object] = {"table": "shop.orders", "settle": 0.0, "options": options, **told}
    return files(f"s3://{bucket}/in/", **words)  # type: ignore[arg-type]


def _rows(catalog: pm.Catalog) -> list[tuple[object, ...]]:
    found = catalog.table("ods.orders").scan().to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)


def test_files_of_all_formats_are_read_once(tmp_path: Path, s3_server: str, bucket: str) -> None:
    parquet = io.BytesIO()
    pq.write_table(pa.table({"id": [5, 6], "v": ["e", "f"]}), parquet)
    _put(s3_server, bucket, "a.csv", b"id,v\n1,a\n2,b\n")
    _put(s3_server, bucket, "day/b.csv.gz", gzip.compress(b"id,v\n3,c\n"))
    _put(s3_server, bucket, "day/c.json", b'{"id": 4, "v": "d"}\n')
    _put(s3_server, bucket, "day/d.parquet", parquet.getvalue())
    _put(s3_server, bucket, "_done/e.csv", b"id,v\n99,hidden\n")
    _put(s3_server, bucket, "f.csv.tmp", b"id,v\n99,unfinished\n")
    catalog = pm.connect(tmp_path)
    wanted = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (6, "f")]

    for _ in range(2):
        source = _source(s3_server, bucket)
        assert "SKzqhush" not in repr(source)
        catalog.ingest(source, into="ods", name="job").run()
        assert _rows(catalog) == wanted

    _put(s3_server, bucket, "g.csv", b"id,v\n7,g\n")
    _put(s3_server, bucket, "h.csv", b"id,v\nx,h\n")
    job = catalog.ingest(
        _source(s3_server, bucket, columns={"id": "BIGINT", "v": "STRING"}, pattern="[gh].csv"),
        into="ods",
        name="other",
        max_dead=1,
    )
    assert job.run().dead == 1
    assert _rows(catalog) == [*wanted, (7, "g")]


def test_files_are_deleted_once_they_are_committed(
    tmp_path: Path, s3_server: str, bucket: str
) -> None:
    _put(s3_server, bucket, "a.csv", b"id,v\n1,a\n")
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        _source(s3_server, bucket, after="delete", settle=1), into="ods", name="job"
    )
    job.run()
    assert "a.csv" not in _there(s3_server, bucket)
    _put(s3_server, bucket, "a.csv", b"id,v\n2,b\n")
    job.run()
    assert _rows(catalog) == [(1, "a"), (2, "b")]


def test_a_bucket_does_what_sources_promise(
    s3_server: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_source, "_STORE_POLL_SECONDS", 0.5)
    _put(s3_server, bucket, "a.csv", b"id,v\n1,a\n")
    _put(s3_server, bucket, "b.csv", b"id,v\n2,b\n")
    check_source(
        lambda: _source(s3_server, bucket),
        add=lambda: _put(s3_server, bucket, "c.csv", b"id,v\n3,c\n"),
    )


def test_files_of_a_bucket_are_not_moved(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="of files in a store"):
        files("s3://bucket/in", after=tmp_path)
    with pytest.raises(ValueError, match="stores tell times in seconds"):
        files("s3://bucket/in", after="delete", settle=0.5)
    with pytest.raises(UnsupportedError, match=r"files\('http"):
        files("https://example.org/in")
