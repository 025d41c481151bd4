"""Java Paimon's REST client on our server, in turn with ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.catalog.rest.signing import AccessKey
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.errors import TableNotFoundError
from tests.interop.oracle import JavaError, Oracle

pytestmark = [pytest.mark.interop, pytest.mark.every_release]

AUTHORISATIONS = {
    "bear": {"token.provider": "bear", "token": "a-token"},
    "dlf": {
        "token.provider": "dlf",
        "dlf.access-key-id": "ak",
        "dlf.access-key-secret": "sk",
        "dlf.region": "cn-hangzhou",
    },
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    users = [User(name="bear", token="a-token"), User(name="dlf", key=AccessKey("ak", "sk"))]
    with Server(pl.connect(tmp_path / "warehouse"), users, ServeOptions()) as running:
        yield running


@pytest.mark.parametrize("way", AUTHORISATIONS)
def test_tables_are_altered_and_written_in_turn(oracle: Oracle, server: Server, way: str) -> None:
    options = {
        "metastore": "rest",
        "uri": server.address,
        "warehouse": server.warehouse,
        **AUTHORISATIONS[way],
    }
    ours = pl.connect(options)

    def java(op: str, **arguments: Any) -> Any:
        return oracle.ask(op, catalog={**options, "cache-enabled": "false"}, **arguments)

    ours.create_database("db")
    ours.create_table(
        "db.t",
        {"id": "INT NOT NULL", "v": "STRING", "dt": "STRING NOT NULL"},
        primary_keys=["id", "dt"],
        partition_keys=["dt"],
        options={"bucket": "1"},
        comment="prix ü",
    ).write([{"id": 1, "v": "a", "dt": "x"}])
    java("write", table="db.t", rows=[["+I", [2, "b", "y"]]])
    java("alter_table", table="db.t", changes=[["add", "w", "INT"], ["rename", "v", "vv"]])
    ours.alter_table("db.t", pl.MoveColumn("w", first=True))
    java("write", table="db.t", rows=[["+I", [3, 3, "c", "y"]]])
    ours.table("db.t").write([{"id": 1, "vv": "z", "w": 1, "dt": "x"}])

    rows = [[1, 1, "z", "x"], [3, 3, "c", "y"], [None, 2, "b", "y"]]
    table = ours.table("db.t")
    found = [list(row.values()) for row in table.scan().to_arrow().to_pylist()]
    javas = [values for _, values in java("read", table="db.t")]
    assert sorted(found, key=str) == sorted(javas, key=str) == sorted(rows, key=str)
    assert table.snapshots.ids() == [1, 2, 3, 4]

    java("rename_table", table="db.t", target="db.u")
    with pytest.raises(TableNotFoundError):
        ours.table("db.t")
    assert java("tables", database="db") == ["u"]
    java("drop_table", table="db.u")
    assert ours.tables("db") == []
    with pytest.raises(JavaError, match=r"db\.none"):
        java("read", table="db.none")
    ours.drop_database("db")


def test_a_wrong_secret_is_refused(oracle: Oracle, server: Server) -> None:
    for way, wrong in (("bear", {"token": "other"}), ("dlf", {"dlf.access-key-secret": "other"})):
        options = {
            "metastore": "rest",
            "uri": server.address,
            "warehouse": server.warehouse,
            **AUTHORISATIONS[way],
            **wrong,
        }
        with pytest.raises(JavaError, match="Not authorized"):
            oracle.ask("databases", catalog=options)


def test_tags_and_branches_are_made_in_turn(oracle: Oracle, server: Server) -> None:
    options = {
        "metastore": "rest",
        "uri": server.address,
        "warehouse": server.warehouse,
        **AUTHORISATIONS["bear"],
    }
    ours = pl.connect(options)

    def java(op: str, **arguments: Any) -> Any:
        return oracle.ask(op, catalog={**options, "cache-enabled": "false"}, **arguments)

    def javas(table: str) -> list[Any]:
        return sorted(values for _, values in java("read", table=table))

    def rows(table: str) -> list[Any]:
        return sorted(list(row.values()) for row in ours.table(table).scan().to_arrow().to_pylist())

    ours.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "STRING"}
    table = ours.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    table.write([{"id": 1, "v": "a"}])
    java("write", table="db.t", rows=[["+I", [2, "b"]]])
    java("tag", table="db.t", name="javas", snapshot=2)
    table.tags.create("ours", snapshot=1)
    assert {*table.tags.list()} == {*java("tags", table="db.t")} == {"javas", "ours"}

    java("create_branch", table="db.t", name="javas", tag="ours")
    table.branches.create("ours", tag="javas")
    assert {*table.branches.list()} == {*java("branches", table="db.t")} == {"javas", "ours"}
    java("write", table="db.t$branch_ours", rows=[["+I", [3, "c"]]])
    ours.table("db.t$branch_javas").write([{"id": 4, "v": "d"}])
    assert rows("db.t$branch_ours") == javas("db.t$branch_ours") == [[1, "a"], [2, "b"], [3, "c"]]
    assert rows("db.t$branch_javas") == javas("db.t$branch_javas") == [[1, "a"], [4, "d"]]
    assert rows("db.t") == javas("db.t") == [[1, "a"], [2, "b"]]

    java("fast_forward", table="db.t", name="ours")
    assert rows("db.t") == javas("db.t") == [[1, "a"], [2, "b"], [3, "c"]]
    java("delete_branch", table="db.t", name="ours")
    java("delete_tag", table="db.t", name="javas")
    opened = ours.table("db.t")
    assert isinstance(opened, pl.Table)
    assert ([*opened.branches.list()], [*opened.tags.list()]) == (["javas"], ["ours"])
