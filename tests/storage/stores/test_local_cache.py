"""What is kept on the local disk is not asked for again, by processes that know nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.formats.parquet.footers import shared_footers
from paimonlab.metadata.manifest_cache import shared_cache
from paimonlab.storage.stores.object_inputs import recent_tails
from tests.storage.stores.proxy import Proxy
from tests.storage.stores.test_requests import counted, counting

__all__ = ["counted"]


@pytest.mark.usefixtures("gcs_warehouse")
@pytest.mark.parametrize("kinds", ["meta", "meta,data"])
def test_a_scan_asks_only_for_what_may_have_changed(
    counted: Proxy, tmp_path: Path, kinds: str
) -> None:
    options = {
        "warehouse": "gs://lake/w",
        "gs.storage.root.url": counted.url,
        "local-cache.enabled": "true",
        "local-cache.dir": str(tmp_path / "cache"),
        "local-cache.whitelist": kinds,
    }
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT", "v": "STRING"})
    rows = pa.table({"id": pa.array(range(1000), pa.int32()), "v": ["x"] * 1000})
    table.write(rows)
    assert scanned(options) == rows
    with counting(counted) as requests:
        assert scanned(options) == rows

    assert requests.of("/manifest/") == 0
    assert (requests.of("/bucket-0/") == 0) == ("data" in kinds)
    assert requests.of("/snapshot/") == 3
    table.write(rows.slice(0, 1))
    assert scanned(options).num_rows == 1001


def test_tables_of_one_name_do_not_get_files_of_each_other(
    gcs_warehouse: Mapping[str, str], tmp_path: Path
) -> None:
    options = {
        **gcs_warehouse,
        "local-cache.enabled": "true",
        "local-cache.dir": str(tmp_path),
        "local-cache.whitelist": "meta,data,bucket-index,file-index,global-index",
    }
    catalog = pl.connect(options)
    catalog.create_database("db")
    for value in ("a", "b"):
        catalog.create_table("db.t", {"v": "STRING"}).write([{"v": value}])
        assert scanned(options).to_pylist() == [{"v": value}]
        catalog.drop_table("db.t")


def scanned(options: Mapping[str, str]) -> pa.Table:
    """Read the table as a process does that has just started."""
    shared_cache.clear()
    shared_footers.clear()
    recent_tails.clear()
    return pl.connect(options).table("db.t").scan().to_arrow()
