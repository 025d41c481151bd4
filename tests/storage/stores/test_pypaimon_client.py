"""pypaimon 2.1.0 as a client of ``paimonlab serve``, in turn with ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.catalog.rest.signing import AccessKey
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.served import ServedCatalog, StoreRole
from tests.interop.pypaimon_client.client import Pypaimon, PypaimonError, connected
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Proxy

pytestmark = pytest.mark.interop

Rows = list[dict[str, Any]]
USERS = [
    User(name="bear", token="a-token"),
    User(name="dlf", key=AccessKey("ak", "sk")),
    User(name="reader", token="r", reads=("db",), writes=()),
]
LOGINS = {
    "bear": {"token": "a-token"},
    "dlf": {
        "token.provider": "dlf",
        "dlf.access-key-id": "ak",
        "dlf.access-key-secret": "sk",
        "dlf.region": "cn-hangzhou",
    },
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServedCatalog]:
    with pl.connect(tmp_path / "warehouse").serve(users=USERS) as running:
        yield running


def login(server: ServedCatalog, way: str = "bear") -> Mapping[str, str]:
    options = {"metastore": "rest", "uri": server.address, "token.provider": "bear"}
    return {**options, "warehouse": server.options["warehouse"], **LOGINS[way]}


def row(number: int, text: str, partition: str) -> dict[str, Any]:
    return {"id": number, "v": text, "p": partition}


def ours(table: pl.Table) -> Rows:
    return table.scan().to_arrow().sort_by("id").to_pylist()


def theirs(client: Pypaimon, table: str, **options: str) -> Rows:
    found: Rows = client("read", table=table, options=options)
    return sorted(found, key=lambda one: one["id"])


@pytest.mark.parametrize("way", LOGINS)
def test_tables_are_made_and_written_in_turn(
    server: ServedCatalog, tmp_path: Path, way: str
) -> None:
    catalog = pl.connect(login(server, way))
    with connected(login(server, way), tmp_path) as client:
        client("create_database", database="db")
        keys, partitions = ["id", "p"], ["p"]
        client("create", table="db.t", keys=keys, partitions=partitions, options={"bucket": "1"})
        client("create", table="db.a", keys=[], partitions=[], options={})
        assert client("databases") == catalog.databases() == ["db"]
        assert client("tables", database="db") == catalog.tables("db") == ["a", "t"]

        client("write", table="db.t", rows=[row(1, "a", "x"), row(2, "b", "y")])
        table = catalog.table("db.t")
        assert ours(table) == [row(1, "a", "x"), row(2, "b", "y")]
        table.write([row(1, "z", "x"), row(3, "c", "y")])
        latest = [row(1, "z", "x"), row(2, "b", "y"), row(3, "c", "y")]
        assert theirs(client, "db.t") == ours(table) == latest

        client.catalog("create_tag", "@db.t", "one", 1)
        assert client("tags", table="db.t") == [*table.tags.list()] == ["one"]
        first = [row(1, "a", "x"), row(2, "b", "y")]
        assert theirs(client, "db.t", **{"scan.tag-name": "one"}) == first
        client.catalog("create_branch", "@db.t", "b", "one")
        assert client.catalog("list_branches", "@db.t") == [*table.branches.list()] == ["b"]
        client("write", table="db.t$branch_b", rows=[row(9, "n", "x")])
        assert ours(catalog.table("db.t$branch_b")) == [*first, row(9, "n", "x")]
        assert ours(table) == latest
        client.catalog("fast_forward", "@db.t", "b")
        assert ours(catalog.table("db.t")) == theirs(client, "db.t") == [*first, row(9, "n", "x")]
        client.catalog("drop_branch", "@db.t", "b")
        client.catalog("delete_tag", "@db.t", "one")
        assert (client("tags", table="db.t"), client.catalog("list_branches", "@db.t")) == ([], [])

        client.catalog("rename_table", "db.t", "db.u")
        client("write", table="db.u", rows=[row(7, "q", "x")], overwrite=True)
        moved = catalog.table("db.u")
        assert isinstance(moved, pl.Table)
        assert ours(moved) == [row(2, "b", "y"), row(7, "q", "x")]
        assert not moved.fsck(deep=True).findings
        client.catalog("drop_table", "db.a", False)
        assert catalog.tables("db") == ["u"]


def test_files_are_reached_with_tokens_of_the_server(
    proxy: Proxy, bucket: str, tmp_path: Path
) -> None:
    catalog = pl.connect(options_of(proxy.url, bucket))
    catalog.create_database("db")
    role = StoreRole(arn="arn:aws:iam::123456789012:role/lake")
    with catalog.serve(users=USERS, role=role) as server:
        with connected(login(server), tmp_path) as client:
            client("create", table="db.t", keys=[], partitions=[], options={})
            client("write", table="db.t", rows=[row(1, "a", "x")])
            pl.connect(login(server)).table("db.t").write([row(2, "b", "y")])
            assert theirs(client, "db.t") == [row(1, "a", "x"), row(2, "b", "y")]
        with connected({**login(server), "token": "r"}, tmp_path) as reader:
            assert theirs(reader, "db.t") == [row(1, "a", "x"), row(2, "b", "y")]
            with pytest.raises(PypaimonError, match=r"No permission to access table db\.t"):
                reader.catalog("drop_table", "db.t", False)
    assert ours(catalog.table("db.t")) == [row(1, "a", "x"), row(2, "b", "y")]
    assert len({token for token in proxy.tokens if token}) >= 2, "tokens of the store's STS"
