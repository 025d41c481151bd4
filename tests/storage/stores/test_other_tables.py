"""Tables on Azure, GCS, OSS, COS, OBS, HDFS and Ceph, and that nothing there shows secrets."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Mapping
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import StorageError
from paimonlab.table.table import Table
from tests.storage.stores.azurite import KEY
from tests.storage.stores.proxy import proxy_of
from tests.storage.stores.scripted import SECRET, TOKEN

STORES = ("azure", "gcs", "oss", "cos", "hdfs")
_OBS = pytest.param("obs", marks=pytest.mark.interop)


@pytest.fixture(params=[*STORES, _OBS, pytest.param("ceph", marks=pytest.mark.interop)])
def anywhere(request: pytest.FixtureRequest) -> Mapping[str, str]:
    """Options of a catalog in an empty store of each kind."""
    if request.param == "obs" and os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("OBS, whose requests are those of OSS, is part of make interop")
    options: Mapping[str, str] = request.getfixturevalue(f"{request.param}_warehouse")
    return options


def test_a_table_with_keys_is_what_was_written(anywhere: Mapping[str, str]) -> None:
    catalog = pl.connect(anywhere)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "p": "STRING NOT NULL", "v": "STRING"},
        primary_keys=["id", "p"],
        partition_keys=["p"],
        options={"bucket": "1", "deletion-vectors.enabled": "true"},
    )
    chance, model = random.Random(7), dict[int, str]()
    for turn in range(2):
        change = {chance.randrange(200): f"{turn}-{chance.random()}" for _ in range(80)}
        places = [f"a:{key % 2}" for key in change]
        table.write(pa.table({"id": list(change), "p": places, "v": list(change.values())}))
        model |= change
    assert isinstance(table, Table)
    table.compact(full=True)
    table.tags.create("kept")
    table.delete("id < 50")
    table.maintenance.rollback_to(tag="kept")

    opened = pl.connect(anywhere).table("db.t")
    assert isinstance(opened, Table)
    found = opened.scan().to_arrow().to_pydict()
    assert dict(zip(found["id"], found["v"], strict=True)) == model
    assert not opened.fsck(deep=True).findings
    opened.maintenance.expire_snapshots(retain_max=1)
    opened.tags.delete("kept")
    catalog.drop_table("db.t")
    catalog.drop_database("db")
    assert catalog.databases() == []


@pytest.mark.parametrize(
    "anywhere", [*(one for one in STORES if one != "hdfs"), _OBS], indirect=True
)
def test_no_secret_is_shown(anywhere: Mapping[str, str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    options = dict(anywhere)
    place = next(key for key in options if key.endswith(("endpoint", "root.url", "suffix")))
    with proxy_of(options[place]) as proxy:
        options[place] = proxy.url + urlsplit(options[place]).path
        retries = {"abfs": "azure.io.retry.max.retries", "gs": "gs.http.max.retry"}
        scheme = urlsplit(options["warehouse"]).scheme
        attempts = f"fs.{scheme}.attempts.maximum"
        catalog = pl.connect({**options, retries.get(scheme, attempts): "1"})
        catalog.create_database("db")
        table = catalog.create_table("db.t", {"id": "INT"})
        table.write(pa.table({"id": [1]}))
        shown = [repr(catalog), repr(catalog.file_io), repr(table), str(table.scan().explain())]
        for folder in ("schema", "snapshot"):
            files = catalog.file_io.list(f"{table.path}/{folder}")
            shown += [catalog.file_io.read(status.path).decode() for status in files]
        options_shown = catalog.system_table("sys.catalog_options").scan().to_arrow()
        shown.append(str(options_shown.to_pylist()))
        for fault, said in (("403", "403"), ("503 before", "after 2 attempts: .*503")):
            proxy.choose = lambda *_, fault=fault: fault
            with pytest.raises(StorageError, match=said) as raised:
                catalog.file_io.read(f"{catalog.path}/x")
            assert f"{catalog.path}/x" in str(raised.value)
            shown += [str(raised.value), repr(raised.value), repr(raised.value.__cause__)]
    shown.append(caplog.text)

    told = "\n".join(shown)
    for secret in (KEY, SECRET, TOKEN, "zqhush"):
        assert secret not in told
