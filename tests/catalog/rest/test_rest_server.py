"""The server as any client sees it: by HTTP."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog.rest.signing import AccessKey, SignedRequest, dlf_headers
from paimonlab.catalog.rest_server.authorising import Doorkeeper, User
from paimonlab.catalog.rest_server.exchange import Request
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.catalog.serving import UsersError, users_in
from paimonlab.errors import AccessDeniedError, ReadOnlyError, UnsupportedError
from tests.catalog.kept import KeepingCatalog

BASE = "/v1/paimonlab"


def ask(
    server: Server,
    method: str,
    path: str,
    body: Any = None,
    token: str | None = "a-token",
    headers: dict[str, str] | None = None,
) -> tuple[int, Any]:
    connection = HTTPConnection(urlsplit(server.address).netloc, timeout=10)
    told = dict(headers or {})
    if token is not None:
        told["Authorization"] = f"Bearer {token}"
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    try:
        connection.request(method, path, data, told)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None
    finally:
        connection.close()


@contextmanager
def serving(catalog: pl.Catalog, *users: User, **options: Any) -> Iterator[Server]:
    known = users or (User(name="me", token="a-token"),)
    with Server(catalog, known, ServeOptions(**options)) as running:
        yield running


def test_nobody_is_let_in_without_the_token(server: Server) -> None:
    for token in (None, "", "wrong", "a-toke", "a-token2"):
        status, body = ask(server, "GET", f"{BASE}/databases", token=token)
        assert (status, body["code"]) == (401, 401)
    for header in ("Basic a-token", "a-token", "bearer"):
        status, _ = ask(server, "GET", "/v1/config", token=None, headers={"Authorization": header})
        assert status == 401
    assert ask(server, "GET", f"{BASE}/databases")[0] == 200


def test_it_listens_on_this_machine_alone(server: Server) -> None:
    assert server.address.startswith("http://127.0.0.1:")
    port = int(server.address.rpartition(":")[2])
    with socket.socket() as other:
        other.settimeout(2)
        assert other.connect_ex(("127.0.0.2", port)) != 0


def test_the_configuration_names_prefix_and_warehouse(server: Server) -> None:
    status, body = ask(server, "GET", f"/v1/config?warehouse={server.warehouse}")
    assert (status, body) == (200, {"defaults": {"prefix": "paimonlab"}, "overrides": {}})
    status, body = ask(server, "GET", "/v1/config?warehouse=other")
    assert (status, body["code"]) == (404, 404)
    assert "other" in body["message"]


def test_errors_are_those_of_the_protocol(server: Server, catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", {"n": "INT"})
    tables, table = f"{BASE}/databases/db/tables", f"{BASE}/databases/db/tables/t"
    new = {
        "identifier": {"database": "db", "object": "t"},
        "schema": {"fields": [{"id": 0, "name": "n", "type": "INT"}]},
    }
    change = {"action": "dropColumn", "fieldNames": ["x"]}
    for method, path, body, status, resource in (
        ("GET", f"{BASE}/databases/nowhere", None, 404, "DATABASE"),
        ("GET", f"{BASE}/databases/nowhere/tables", None, 404, "DATABASE"),
        ("GET", f"{BASE}/databases/nowhere/tables/t", None, 404, "DATABASE"),
        ("POST", f"{BASE}/databases", {"name": "db", "options": {}}, 409, "DATABASE"),
        ("GET", f"{tables}/none", None, 404, "TABLE"),
        ("GET", f"{tables}/t%24branch_none", None, 404, "TABLE"),
        ("POST", tables, new, 409, "TABLE"),
        ("POST", table, {"changes": [change]}, 404, "COLUMN"),
        ("GET", f"{table}/snapshot", None, 404, "SNAPSHOT"),
        ("GET", f"{table}/snapshots/7", None, 404, "SNAPSHOT"),
        ("GET", f"{table}/snapshots/LATEST", None, 404, "SNAPSHOT"),
        ("GET", f"{table}/tags/x", None, 404, "TAG"),
        ("DELETE", f"{table}/branches/x", None, 404, "BRANCH"),
        ("GET", f"{BASE}/databases/db/views/x", None, 404, "VIEW"),
        ("GET", f"{BASE}/databases/db/functions/x", None, 404, "FUNCTION"),
        ("GET", f"{table}/token", None, 501, None),
        ("POST", f"{table}/auth", {"select": None}, 501, None),
        ("POST", f"{table}/rollback-schema", {"schemaId": 0}, 501, None),
        ("POST", tables, b"no json", 400, None),
        ("POST", tables, b"\xff\xfe", 400, None),
        ("POST", table, {"changes": [{"action": "setOption"}]}, 400, None),
        ("GET", f"{tables}?maxResults=many", None, 400, None),
        ("GET", f"{tables}?tableNamePattern=a%25b", None, 400, None),
        ("GET", f"{BASE}/nothing", None, 404, None),
        ("GET", "/v1/other/databases", None, 404, None),
        ("GET", "/", None, 404, None),
        ("PUT", table, None, 404, None),
    ):
        got, answer = ask(server, method, path, body)
        assert (got, answer["code"]) == (status, status), (method, path, answer)
        assert answer["resourceType"] == resource, (method, path, answer)


def test_a_thousand_tables_are_listed_page_by_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = pl.connect(tmp_path / "warehouse")
    warehouse.create_database("db")
    schema = warehouse.create_table("db.t0000", {"n": "INT"}).path
    names = [f"t{number:04}" for number in range(1050)]
    document = Path(schema, "schema", "schema-0").read_bytes()
    for name in names[1:]:
        folder = Path(warehouse.path, "db.db", name, "schema")
        folder.mkdir(parents=True)
        (folder / "schema-0").write_bytes(document)
    with serving(warehouse) as server:
        pages = []
        token: str | None = ""
        while token is not None:
            path = f"{BASE}/databases/db/tables?maxResults=500&pageToken={token}"
            _, page = ask(server, "GET", path)
            pages.append(len(page["tables"]))
            token = page["nextPageToken"]
        catalog = pl.connect(server.options)

        assert catalog.tables("db") == names
        _, some = ask(server, "GET", f"{BASE}/databases/db/tables?tableNamePattern=t01%25")
        _, all_over = ask(server, "GET", f"{BASE}/tables?tableNamePattern=t00000%25")
    assert pages == [500, 500, 50]
    assert some["tables"] == names[100:200]
    assert all_over["tables"] == []


def test_a_server_to_read_from_changes_nothing(served: KeepingCatalog) -> None:
    served.create_table("db.t", {"n": "INT"}).write(pa.table({"n": [1]}))
    with serving(served, is_read_only=True) as server:
        catalog = pl.connect(server.options)
        assert catalog.table("db.t").scan().to_arrow().to_pylist() == [{"n": 1}]
        for change in (
            lambda: catalog.create_database("x"),
            lambda: catalog.drop_table("db.t"),
            lambda: catalog.alter_table("db.t", pl.SetOption("write-only", "true")),
        ):
            with pytest.raises(AccessDeniedError, match="read-only"):
                change()
        with pytest.raises(pl.errors.CommitError, match=r"did not happen.*read-only"):
            catalog.table("db.t").write(pa.table({"n": [2]}))
        status, page = ask(
            server, "POST", f"{BASE}/databases/db/tables/t/partitions/list-by-names", {"specs": []}
        )
        assert status == 501, page
    assert [one.id for one in served.table("db.t").snapshots] == [1]


def test_users_have_rights_by_database(served: KeepingCatalog) -> None:
    for database in ("sales_eu", "sales_us", "secret"):
        served.create_database(database)
        served.create_table(f"{database}.t", {"n": "INT"})
    analyst = User(name="analyst", token="one", reads=("sales_*",), writes=("db", "own_*"))
    keeper = User(name="keeper", token="two")
    with serving(served, analyst, keeper) as server:
        limited = pl.connect({**server.options, "token": "one"})
        whole = pl.connect({**server.options, "token": "two"})
        assert whole.databases() == ["db", "sales_eu", "sales_us", "secret"]
        assert limited.databases() == ["db", "sales_eu", "sales_us"]
        assert limited.table("sales_eu.t").snapshot is None
        limited.create_table("db.u", {"n": "INT"}).write(pa.table({"n": [1]}))
        _, listed = ask(server, "GET", f"{BASE}/tables", token="one")
        assert {one["database"] for one in listed["tables"]} == {"db", "sales_eu", "sales_us"}
        for denied in (
            lambda: limited.tables("secret"),
            lambda: limited.table("secret.t"),
            lambda: limited.create_table("sales_eu.u", {"n": "INT"}),
            lambda: limited.drop_table("sales_us.t"),
            lambda: limited.rename_table("db.u", "sales_eu.u"),
            lambda: limited.rename_table("sales_eu.t", "db.v"),
            lambda: limited.create_database("mine"),
        ):
            with pytest.raises(AccessDeniedError, match="analyst may not"):
                denied()
        limited.create_database("own_one")
        limited.create_table("own_one.t", {"n": "INT"})
        assert limited.databases() == ["db", "own_one", "sales_eu", "sales_us"]
        status, answer = ask(
            server,
            "POST",
            f"{BASE}/databases",
            {"name": "own_two", "options": {"location": "/data/secret.db"}},
            token="one",
        )
        assert status == 501, answer
        assert "only who may change all databases" in answer["message"]
    assert served.databases() == ["db", "own_one", "sales_eu", "sales_us", "secret"]
    assert served.tables("sales_us") == ["t"]
    assert served.tables("db") == ["u"]


def test_each_request_is_noted_and_no_secret(served: KeepingCatalog, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with serving(served, audit_log=str(log)) as server:
        ask(server, "GET", f"{BASE}/databases/db")
        ask(server, "GET", f"{BASE}/databases?token=hush", token="hush-token")
    noted = [json.loads(line) for line in log.read_text().splitlines()]
    told = [(one["user"], one["method"], one["path"], one["status"]) for one in noted]
    assert told == [
        ("me", "GET", f"{BASE}/databases/db", 200),
        (None, "GET", f"{BASE}/databases", 401),
    ]
    assert "hush" not in log.read_text()
    assert datetime.fromisoformat(noted[0]["time"]).tzinfo is not None


def test_a_snapshot_is_published_once_whoever_asks(
    server: Server, catalog: pl.Catalog, served: KeepingCatalog
) -> None:
    table = catalog.create_table("db.t", {"n": "INT"})
    made = table.write(pa.table({"n": [1]}))
    assert made is not None
    commit = f"{BASE}/databases/db/tables/t/commit"
    _, described = ask(server, "GET", f"{BASE}/databases/db/tables/t")
    snapshot = json.loads(made.to_json())
    later = {**snapshot, "id": 3}
    unknown = {**snapshot, "id": 2, "schemaId": 7}

    same = {"tableId": described["id"], "snapshot": snapshot, "statistics": []}
    assert ask(server, "POST", commit, same) == (200, {"success": False})
    assert ask(server, "POST", commit, {**same, "snapshot": later}) == (200, {"success": False})
    assert ask(server, "POST", commit, {**same, "snapshot": unknown})[0] == 400
    status, answer = ask(server, "POST", commit, {**same, "tableId": "another"})
    assert (status, answer["resourceType"]) == (404, "TABLE")
    assert served.table("db.t").snapshots.ids() == [1]


def test_the_latest_snapshot_tells_what_a_table_has(server: Server, catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"id": "INT NOT NULL", "v": "STRING"}, primary_keys=["id"], options={"bucket": "1"}
    )
    for _ in range(3):
        table.write(pa.table({"id": [1, 2], "v": ["a", "b"]}))
    _, latest = ask(server, "GET", f"{BASE}/databases/db/tables/t/snapshot")
    state = latest["snapshot"]
    assert (state["snapshot"]["id"], state["recordCount"], state["fileCount"]) == (3, 6, 3)
    table.compact(full=True)
    _, latest = ask(server, "GET", f"{BASE}/databases/db/tables/t/snapshot")
    files = [file for split in table.scan().plan().splits for file in split.files]
    assert latest["snapshot"]["recordCount"] == 2
    assert latest["snapshot"]["fileSizeInBytes"] == sum(one.file_size_bytes for one in files)


def test_tags_and_consumers_are_kept_for_clients(
    server: Server, catalog: pl.Catalog, served: KeepingCatalog
) -> None:
    table = catalog.create_table("db.t", {"n": "INT"})
    table.write(pa.table({"n": [1]}))
    base = f"{BASE}/databases/db/tables/t"
    assert ask(server, "POST", f"{base}/tags", {"tagName": "v1", "timeRetained": "36 h"})[0] == 200
    assert ask(server, "POST", f"{base}/tags", {"tagName": "v1"})[0] == 409
    assert ask(server, "POST", f"{base}/tags", {"tagName": "v2", "snapshotId": 1})[0] == 200
    assert ask(server, "POST", f"{base}/tags", {"tagName": "v3", "snapshotId": 9})[0] == 404
    _, page = ask(server, "GET", f"{base}/tags?tagNamePrefix=v")
    _, tag = ask(server, "GET", f"{base}/tags/v1")
    assert page["tags"] == ["v1", "v2"]
    assert (tag["snapshot"]["id"], tag["tagTimeRetained"]) == (1, "PT129600S")
    assert abs(tag["tagCreateTime"] / 1000 - datetime.now(UTC).timestamp()) < 600
    assert ask(server, "DELETE", f"{base}/tags/v2")[0] == 200
    assert list(served.table("db.t").tags.list()) == ["v1"]

    reset = {"consumerId": "c", "nextSnapshotId": 1}
    assert ask(server, "POST", f"{base}/consumers/reset", reset)[0] == 200
    _, consumers = ask(server, "GET", f"{base}/consumers")
    assert consumers["consumers"] == [{"consumerId": "c", "nextSnapshot": 1}]
    assert ask(server, "POST", f"{base}/consumers/reset", {"consumerId": "c"})[0] == 200
    assert ask(server, "GET", f"{base}/consumers")[1]["consumers"] == []


def test_a_table_is_found_by_its_id(server: Server, catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", {"n": "INT"})
    _, described = ask(server, "GET", f"{BASE}/databases/db/tables/t")
    catalog.rename_table("db.t", "db.u")
    status, found = ask(server, "GET", f"{BASE}/tables/id/{described['id']}")
    assert (status, found["name"], found["id"]) == (200, "u", described["id"])
    catalog.drop_table("db.u")
    assert ask(server, "GET", f"{BASE}/tables/id/{described['id']}")[0] == 404


def test_signatures_are_checked_with_time_and_body() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    key = AccessKey("ak", "sk", "sts")
    door = Doorkeeper([User(name="me", key=key)], now=lambda: now)
    signed = SignedRequest("POST", f"{BASE}/databases", {"a": "b c"}, b'{"name": "x"}')

    def request(at: datetime, signer: AccessKey) -> Request:
        headers = dlf_headers(signed, signer, "cn-hangzhou", at)
        told = {name.lower(): value for name, value in headers.items()}
        return Request("POST", signed.path, signed.query, told, signed.body)

    good = request(now, key)
    assert door.user_of(good) is not None
    assert door.user_of(request(now - timedelta(minutes=14), key)) is not None
    for bad in (
        request(now - timedelta(minutes=16), key),
        request(now, AccessKey("ak", "other", "sts")),
        request(now, AccessKey("other", "sk", "sts")),
        replace(good, body=b'{"name": "y"}'),
        replace(good, path=f"{BASE}/databases/x"),
        replace(good, query={"a": "other"}),
        replace(good, method="DELETE"),
        replace(good, headers={**good.headers, "x-dlf-date": "never"}),
        replace(good, headers={**good.headers, "authorization": "DLF4-HMAC-SHA256 nonsense"}),
    ):
        assert door.user_of(bad) is None


def test_users_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    path.write_text(
        '[ann]\ntoken = "hush1"\nread = ["*"]\nwrite = ["scratch"]\n'
        '[bob]\naccess-key-id = "ak"\naccess-key-secret = "hush2"\nread = ["a"]\n'
    )
    ann, bob = users_in(str(path))
    assert (ann.token, list(ann.reads), list(ann.writes)) == ("hush1", ["*"], ["scratch"])
    assert (bob.key, list(bob.writes)) == (AccessKey("ak", "hush2"), [])
    assert "hush" not in repr([ann, bob])
    for text, problem in (
        ("[ann]\n", "neither a token nor"),
        ('[ann]\ntoken = "x"\nwrites = []\n', "writes is unknown"),
        ('ann = "x"\n', "must be a table"),
        ('[ann]\ntoken = "x"\nread = "a"\n', "lists of names"),
        ('[ann]\ntoken = "hush" "\n', "is not TOML"),
    ):
        path.write_text(text)
        with pytest.raises(UsersError, match=problem) as raised:
            users_in(str(path))
        assert "hush" not in str(raised.value)


def test_a_catalog_serves_itself(tmp_path: Path) -> None:
    warehouse = pl.connect(tmp_path / "warehouse")
    warehouse.create_database("db")
    with warehouse.serve() as server:
        assert server.warehouse == "warehouse"
        assert server.token is not None
        assert len(server.token) > 40
        assert pl.connect(server.options).databases() == ["db"]
        with pl.connect(server.options).serve(read_only=True) as second:  # a catalog as any other
            remote = pl.connect(second.options)
            assert remote.databases() == ["db"]
            with pytest.raises((AccessDeniedError, ReadOnlyError)):
                remote.create_database("x")
    with pytest.raises(UnsupportedError, match="registering"):
        _register(warehouse)


def _register(warehouse: pl.Catalog) -> None:
    with warehouse.serve(token="a-token") as server:
        pl.connect(server.options).register("db.t", "/somewhere")
