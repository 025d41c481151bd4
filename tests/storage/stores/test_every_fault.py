"""Each thing that may go wrong with an answer, in each kind of request that a table sends.

``PAIMONLAB_TIMES=20`` lets each happen 20 times, ``PAIMONLAB_STALL_SECONDS=30`` lets answers that
stall stay away for so long.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.formats.parquet.footers import shared_footers
from paimonlab.storage.stores.object_inputs import recent_tails
from paimonlab.table.table import Table
from tests.repetitions import times
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Fault, Proxy, proxy_of

STALL_SECONDS = float(os.environ.get("PAIMONLAB_STALL_SECONDS", "0.4"))
_TIMEOUT_MILLIS = "300"
"""Of requests, where answers stall: so these are not waited for."""
_CEPH = pytest.param("ceph", marks=pytest.mark.interop)
FAULTS: tuple[Fault, ...] = (
    "503 before",
    "503 after",
    "409",
    "412 after",
    "reset within",
    "stall",
    "cut",
    "403",
)
WORKS = ("publish", "data", "list", "read")


@pytest.fixture(params=["s3", _CEPH])
def behind(request: pytest.FixtureRequest) -> Any:
    """A proxy before a server, and the options of a catalog there."""
    if request.param == "s3":
        proxy: Proxy = request.getfixturevalue("proxy")
        yield proxy, options_of(proxy.url, request.getfixturevalue("bucket"))
        return
    options = dict(request.getfixturevalue("ceph_warehouse"))
    with proxy_of(options["s3.endpoint"]) as proxy:
        yield proxy, {**options, "s3.endpoint": proxy.url}


def work_of(method: str, target: str, is_conditional: bool) -> str:
    """Say what a request is for."""
    parts = urlsplit(target)
    path = unquote(parts.path)
    if method == "GET" and "list-type" in parse_qs(parts.query):
        return "list"
    if method == "PUT" and is_conditional and "/snapshot/snapshot-" in path:
        return "publish"
    if re.search(r"/bucket-\d+/", path):
        return "data" if method == "PUT" else "read" if method == "GET" else ""
    return ""


class Happening:
    """Lets a fault happen once in a kind of work, as often as it is armed."""

    def __init__(self, proxy: Proxy, fault: Fault, work: str) -> None:
        self.fault, self.work, self.is_armed, self.count = fault, work, False, 0
        self.lock = threading.Lock()
        proxy.choose = self.choose
        proxy.stall_seconds = STALL_SECONDS

    def choose(self, method: str, target: str, is_conditional: bool) -> Fault | None:
        if self.fault == "403" and method == "HEAD" and self.is_armed:
            self.count += 1
            return "403"  # who may not list is refused, and not told that there is nothing
        if self.fault == "403" or work_of(method, target, is_conditional) != self.work:
            return None
        with self.lock:
            if not self.is_armed:
                return None
            self.is_armed = False
            self.count += 1
            return self.fault


@pytest.mark.parametrize("fault", FAULTS)
def test_no_commit_is_lost_or_doubled(
    behind: tuple[Proxy, Mapping[str, str]], fault: Fault
) -> None:
    proxy, options = behind
    told, given = list[str](), dict(options)
    if fault == "stall":
        given["s3.connection.timeout"] = _TIMEOUT_MILLIS
    catalog = pl.connect(given)
    catalog.create_database("db")
    for work in WORKS:
        made = catalog.create_table(f"db.{work}", {"id": "BIGINT"}, options={"bucket": "-1"})
        made.write(pa.table({"id": [-1]}))
        happening, model, unknown = Happening(proxy, fault, work), Counter([-1]), set[int]()
        for turn in range(times(1)):
            happening.is_armed = True
            try:
                if work == "list":
                    assert catalog.file_io.list_names(f"{made.path}/schema") == ["schema-0"]
                elif work == "read":
                    assert set(read(catalog, work)) == set(model)
                else:
                    table = catalog.table(f"db.{work}")
                    assert isinstance(table, Table)
                    table.write(pa.table({"id": [turn]}))
                    model[turn] += 1
            except (pl.errors.PaimonError, OSError) as error:
                told.append(str(error))
                unknown.add(turn)
            happening.is_armed = False
            shared_footers.clear()
            recent_tails.clear()
        found = read(catalog, work)
        assert {one for one in model if found[one] != 1} == set()
        assert set(found) - set(model) <= unknown
        assert set(found.values()) == {1}
        table = catalog.table(f"db.{work}")
        assert isinstance(table, Table)
        assert table.snapshots.ids() == [*range(1, len(found) + 1)]
        assert not table.fsck(deep=True).findings
        assert happening.count >= times(1) or fault == "403", work
    print(*told, sep="\n")  # noqa: T201 - what a failure has to show
    assert all(re.search(rf"{options['warehouse']}/\S+: \w+ failed", one) for one in told)
    assert not told or fault in ("409", "403"), "others are tried again"


def read(catalog: pl.Catalog, name: str) -> Counter[int]:
    return Counter(catalog.table(f"db.{name}").scan().to_arrow()["id"].to_pylist())
