"""What a REST catalog of Iceberg's is sent: headers, paths, signatures, and files in a bucket."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog

import paimonlab as pl
from paimonlab.errors import AccessDeniedError, PostCommitError, SchemaError, UnsupportedError
from tests.catalog.iceberg.conftest import ours, texts
from tests.catalog.iceberg.scripted_catalog import (
    KEY,
    PREFIX,
    SECRET,
    Asked,
    Catalog,
    is_signed,
    serving,
)
from tests.storage.stores.conftest import (  # noqa: F401 - fixtures
    _no_keys_of_the_user,
    bucket,
    s3_server,
    warehouse,
)

BASIC = {
    "rest.auth.type": "basic",
    "rest.auth.basic.username": "ünal",
    "rest.auth.basic.password": "pa:ss-zqhush",
}
GLUE = {
    "rest.sigv4-enabled": "true",
    "rest.signing-region": "eu-central-1",
    "rest.signing-name": "glue",
}
KEYS = {"rest.access-key-id": KEY, "rest.secret-access-key": SECRET}


@pytest.fixture
def lake(warehouse: Mapping[str, str]) -> pl.Catalog:  # noqa: F811 - the fixture
    """A warehouse in a bucket, with a database ``db``."""
    opened = pl.connect(warehouse)
    opened.create_database("db")
    return opened


@pytest.fixture
def shown(warehouse: Mapping[str, str], tmp_path: Path) -> Iterator[Catalog]:  # noqa: F811
    """The catalog of Iceberg's, whose own files are in the same bucket."""
    tables = SqlCatalog(
        "c",
        uri=f"sqlite:///{tmp_path}/iceberg.db",
        warehouse=warehouse["warehouse"].rpartition("/")[0] + "/ice",
        **{
            "s3.endpoint": warehouse["s3.endpoint"],
            "s3.access-key-id": warehouse["s3.access-key"],
            "s3.secret-access-key": warehouse["s3.secret-key"],
            "s3.region": "us-east-1",
        },
    )
    with serving(tables) as running:
        yield running


def make(lake: pl.Catalog, shown: Catalog, properties: Mapping[str, str], **more: Any) -> pl.Table:
    given = {"uri": shown.url, "warehouse": "123456789012", **properties}
    options = {f"metadata.iceberg.rest.{key}": value for key, value in given.items()}
    return lake.create_table(
        "db.t",
        {"p": "INT", "v": "STRING"},
        options={"metadata.iceberg.storage": "rest-catalog", **options},
        **more,
    )


def check(table: pl.Table, shown: Catalog) -> None:
    """Compare what pyiceberg reads out of the bucket with what we do."""
    rows = shown.tables.load_table("db.t").scan().to_arrow().to_pylist()
    assert sorted(map(texts, rows)) == ours(table)


def test_each_request_says_who_asks_by_name_and_password(lake: pl.Catalog, shown: Catalog) -> None:
    right = "Basic " + base64.b64encode("ünal:pa:ss-zqhush".encode()).decode()
    shown.allows = lambda asked: asked.headers.get("authorization") == right
    table = make(lake, shown, {**BASIC, "header.X-Iceberg-Access-Delegation": "vended-credentials"})
    table.write({"p": [1, 2], "v": ["x", None]})
    table.delete("p = 1")
    table.tags.create("one")

    check(table, shown)
    assert {*shown.tables.load_table("db.t").metadata.refs} == {"main", "one"}
    sent = {one.headers.get("x-iceberg-access-delegation") for one in shown.asked}
    assert sent == {"vended-credentials"}
    paths = [one.path for one in shown.asked]
    assert paths[0] == "/iceberg/v1/config?warehouse=123456789012"
    below = f"/iceberg/v1/{PREFIX}/namespaces"
    assert {path.partition("?")[0] for path in paths[1:]} == {
        below,
        f"{below}/db",
        f"{below}/db/tables",
        f"{below}/db/tables/t",
    }


def test_a_wrong_password_is_told_without_it(lake: pl.Catalog, shown: Catalog) -> None:
    shown.allows = lambda asked: False
    table = make(lake, shown, BASIC)
    with pytest.raises(PostCommitError, match="snapshot 1 is committed") as raised:
        table.write({"p": [1], "v": ["x"]})
    cause = raised.value.__cause__
    assert isinstance(cause, AccessDeniedError)
    told = f"{raised.value}{cause}{cause!r}{table!r}"
    hidden = base64.b64encode("ünal:pa:ss-zqhush".encode()).decode()
    assert not [secret for secret in ("zqhush", hidden) if secret in told]
    shown.allows = lambda asked: True
    table.write({"p": [2], "v": ["y"]})
    check(table, shown)


@pytest.mark.parametrize("of", ["options", "environment", "profile"])
def test_requests_to_glue_are_signed_and_name_a_location(
    lake: pl.Catalog, shown: Catalog, of: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    signed = list[bool]()

    def allows(asked: Asked) -> bool:
        signed.append(is_signed(asked, "eu-central-1", "glue"))
        return signed[-1]

    shown.allows, shown.needs_location = allows, True
    if of == "environment":
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("AWS_SESSION_TOKEN", "TOK/en==")
    elif of == "profile":
        keys = f"aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
        (tmp_path / "credentials").write_text(f"[default]\n{keys}")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    table = make(lake, shown, {**GLUE, **(KEYS if of == "options" else {})}, partition_keys=["p"])
    table.write({"p": [1, 2], "v": ["x", None]})
    table.overwrite({"p": [3], "v": ["z"]})

    assert all(signed), "each request"
    assert ("x-amz-security-token" in shown.asked[0].headers) == (of == "environment")
    check(table, shown)
    creations = [json.loads(one.body) for one in shown.asked if one.path.endswith("/db/tables")]
    located = [one["location"] for one in creations if "location" in one]
    assert located == [shown.tables.load_table("db.t").location()]
    assert located[0].startswith(f"{lake.path}/")


def test_files_are_named_by_their_places_in_the_bucket(lake: pl.Catalog, shown: Catalog) -> None:
    table = make(lake, shown, {"rest.auth.type": "none", "s3.region": "eu"})
    table.write({"p": [1], "v": ["x"]})
    table.write({"p": [2], "v": ["y"]})

    opened = shown.tables.load_table("db.t")
    places = [one.manifest_list for one in opened.metadata.snapshots]
    places += opened.inspect.manifests()["path"].to_pylist()
    places += opened.inspect.files()["file_path"].to_pylist()
    assert len(places) >= 6
    assert all(place.startswith(f"{lake.path}/") for place in places), places
    assert all(lake.file_io.exists(place) for place in places)
    assert not [one for one in shown.asked if "authorization" in one.headers]
    check(table, shown)


@pytest.mark.parametrize(
    ("properties", "error", "told"),
    [
        ({**GLUE, "token": "t"}, UnsupportedError, "token.*with signatures of AWS"),
        ({**GLUE, "rest.auth.type": "basic"}, UnsupportedError, "rest.auth.type.*signatures"),
        ({**GLUE, "rest.access-key-id": KEY}, SchemaError, "go together"),
        (KEYS, SchemaError, "goes with '.*rest.auth.type' = 'sigv4'"),
        ({"rest.sigv4-enabled": "yes"}, SchemaError, "must be true or false, not 'yes'"),
    ],
)
def test_properties_of_signatures_that_mean_nothing_are_refused(
    tmp_path: Path, properties: Mapping[str, str], error: type[Exception], told: str
) -> None:
    given = {"uri": "http://127.0.0.1:1", **properties}
    options = {f"metadata.iceberg.rest.{key}": value for key, value in given.items()}
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    with pytest.raises(error, match=told):
        catalog.create_table(
            "db.t", {"a": "INT"}, options={"metadata.iceberg.storage": "rest-catalog", **options}
        )


def test_who_signs_and_where_must_be_known(lake: pl.Catalog, shown: Catalog) -> None:
    unplaced = {"rest.auth.type": "sigv4", **KEYS}
    for given, lacking in ((GLUE, "are no keys"), (unplaced, "is no region")):
        table = make(lake, shown, given)
        with pytest.raises(ValueError, match=f"there {lacking} to sign requests"):
            table.write({"p": [1], "v": ["x"]})
        assert table.snapshots.list() == []
        lake.drop_table("db.t")
    assert shown.asked == []
