"""Tokens that ``paimonlab serve`` has made by the STS of a store of S3's protocol."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.catalog.rest.stores import TokenSource, VendedFileIO
from paimonlab.catalog.rest_server import tokens
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.tokens import vendor_of
from paimonlab.catalog.served import ServedCatalog, StoreRole
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.storage.places import Place
from paimonlab.storage.stores.keys import Keys
from paimonlab.storage.stores.roles import Role, RoleKeys, policy_of
from paimonlab.storage.stores.signing import Scope, signed_headers
from tests.storage.stores import scripted_sts
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Fault, Proxy
from tests.storage.stores.scripted_sts import Sts

ROLE = StoreRole(arn="arn:aws:iam::123456789012:role/lake")
USERS = (
    User(name="writer", token="w", reads=(), writes=("*",)),
    User(name="reader", token="r", reads=("db",), writes=("scratch",)),
    User(name="other", token="o", reads=("elsewhere",), writes=()),
)


@pytest.fixture
def sts() -> Iterator[Sts]:
    with scripted_sts.running("SKzqhush") as made:
        yield made


@pytest.fixture
def served(proxy: Proxy, bucket: str) -> pl.Catalog:
    catalog = pl.connect(options_of(proxy.url, bucket))
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT"}).write([{"id": 1}])
    return catalog


def client(server: ServedCatalog, token: str) -> pl.Catalog:
    return pl.connect({**server.options, "token": token})


def files_of(table: pl.Table) -> VendedFileIO:
    files = table._store.file_io
    assert isinstance(files, VendedFileIO)
    return files


def test_requests_are_signed_as_aws_says() -> None:
    """The first signature is of AWS's test suite, the second is botocore's."""
    for token, signature in (
        (None, "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        ("TOK/en==", "d06586568e6be6832c27a98a0c883c431b817b9201f39034c8c2b833b98cd1fb"),
    ):
        headers = signed_headers(
            "https://example.amazonaws.com/",
            {"Content-Type": "application/x-www-form-urlencoded"},
            b"Param1=value1",
            keys=Keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token),
            scope=Scope("us-east-1", "service"),
            now=datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
        )
        assert headers["authorization"].endswith(f"Signature={signature}")


def test_encoded_paths_and_queries_are_signed_as_by_botocore() -> None:
    headers = signed_headers(
        "https://glue.eu-central-1.amazonaws.com/iceberg/v1/catalogs/1%3A2/namespaces/a+b/tables/t%24x~",
        {"x-amz-content-sha256": hashlib.sha256(b"").hexdigest()},
        b"",
        keys=Keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "TOK/en=="),
        scope=Scope("eu-central-1", "glue"),
        now=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        method="GET",
        query={"snapshots": "all", "warehouse": "1:s3tablescatalog/b"},
    )
    assert headers["authorization"].endswith(
        "Signature=9254eb79531a1d38eff927dedc5db9ff3f44d858dc56d32da43cfa9e627a2938"
    )


def test_a_client_reads_and_writes_with_tokens_of_the_stores_own_sts(
    served: pl.Catalog, proxy: Proxy
) -> None:
    with served.serve(users=USERS, role=ROLE) as server:
        table = client(server, "w").table("db.t")
        table.write([{"id": 2}])
        assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [1, 2]
        token = files_of(table)._token().keys().token

    assert token
    assert proxy.tokens.count(token) >= 4, "a data file and manifests were written and read with it"
    assert any("/sts/aws4_request" in signature for signature in proxy.signatures)


def test_each_user_gets_a_token_for_one_table_and_their_rights(
    served: pl.Catalog, proxy: Proxy, bucket: str, sts: Sts, tmp_path: Path
) -> None:
    refused: list[str] = []

    def judged(method: str, path: str, _: bool) -> Fault | None:
        token = proxy.tokens[-1]
        if token is None or sts.allows(token, method, path):
            return None
        refused.append(method)
        return "403"

    proxy.choose = judged
    log = tmp_path / "audit"
    role = replace(ROLE, sts_endpoint=sts.url, duration=timedelta(minutes=20))
    with served.serve(users=USERS, role=role, audit_log=str(log)) as server:
        writing, reading = client(server, "w").table("db.t"), client(server, "r").table("db.t")
        writing.write([{"id": 2}])
        for table in (writing, reading):
            assert table.scan().to_arrow().num_rows == 2
            assert "zqhush" not in repr(files_of(table)) + repr(files_of(table).source.token())
        assert refused == []
        with pytest.raises(PaimonError):
            reading.write([{"id": 3}])
        assert set(refused) == {"PUT", "POST"}, "writing, and deleting what was written of it"
        with pytest.raises(PaimonError):
            files_of(writing).read(f"s3://{bucket}/w/db.db/t2/schema/schema-0")
        assert refused[-1] == "GET"
        with pytest.raises(PaimonError, match="other may not read db"):
            client(server, "o").table("db.t")
        assert len(sts.asked) == 2, "one for each right, however often clients ask"

        def statements(*actions: str) -> list[Any]:
            folder = f"arn:aws:s3:::{bucket}"
            listing = {"StringLike": {"s3:prefix": ["w/db.db/t/*"]}}
            return [
                {
                    "Effect": "Allow",
                    "Action": ["s3:GetObject", *actions],
                    "Resource": [f"{folder}/w/db.db/t/*"],
                },
                {
                    "Effect": "Allow",
                    "Action": ["s3:ListBucket"],
                    "Resource": [folder],
                    "Condition": listing,
                },
            ]

        writes = ("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload")
        for asked, wanted in zip(sts.asked, (statements(*writes), statements()), strict=True):
            policy = {"Version": "2012-10-17", "Statement": wanted}
            assert json.loads(asked.pop("Policy")) == policy
            assert asked == {
                "Action": "AssumeRole",
                "Version": "2011-06-15",
                "RoleArn": ROLE.arn,
                "RoleSessionName": "paimonlab-db.db-t",
                "DurationSeconds": "1200",
            }
    assert "/token" in log.read_text()
    assert "zqhush" not in log.read_text() + repr(role) + repr(server)


def test_tokens_are_kept_until_their_last_quarter(
    served: pl.Catalog, sts: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = replace(ROLE, sts_endpoint=sts.url)
    with served.serve(users=USERS, role=role, read_only=True) as server:
        source: TokenSource = files_of(client(server, "w").table("db.t")).source
        first = source.token()
        assert "PutObject" not in sts.asked[0]["Policy"], "the server takes no changes"
        for passed, asked in ((2690, 1), (2710, 2)):
            at = first.expires_at_millis + (passed - 3600) * 1000
            monkeypatch.setattr("paimonlab.catalog.rest_server.tokens.now_millis", lambda at=at: at)
            assert (source.token() == first) is (asked == 1)
            assert len(sts.asked) == asked
        sts.refuses = True
        at = first.expires_at_millis + 7_200_000
        monkeypatch.setattr("paimonlab.catalog.rest_server.tokens.now_millis", lambda: at)
        with pytest.raises(PaimonError, match=r"does not give the role .*: AccessDenied") as error:
            source.token()
        assert "zqhush" not in str(error.value)


def test_a_token_is_handed_out_to_its_end_while_the_sts_stands_still_or_is_dead(
    served: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients wait for none but the first attempt, and none asks once more what another waits for.

    The STS is a process of its own.
    """
    with scripted_sts.process("SKzqhush") as (sts, url):
        role = replace(ROLE, sts_endpoint=url)
        with served.serve(users=USERS, role=role) as server:
            source: TokenSource = files_of(client(server, "w").table("db.t")).source
            first = source.token()
            monkeypatch.setattr(tokens, "_RENEWAL_SECONDS", 0.3)
            waits: list[float] = []
            assumed = Role.assumed

            def noted(self: Role, path: str, *, writes: bool) -> RoleKeys:
                waits.append(self.timeout_seconds)
                return assumed(self, path, writes=writes)

            monkeypatch.setattr(Role, "assumed", noted)

            def at(seconds: int) -> None:
                """Let so many seconds be left."""
                now = first.expires_at_millis - seconds * 1000
                monkeypatch.setattr(tokens, "now_millis", lambda: now)

            sts.send_signal(signal.SIGSTOP)
            at(800)
            assert [source.token() for _ in range(3)] == [first] * 3
            assert len(waits) == 1
            sts.kill()
            at(700)
            assert source.token() == first
            assert len(waits) == 2
            at(-1)
            with pytest.raises(PaimonError, match="the STS cannot be reached"):
                source.token()


@pytest.mark.parametrize(
    ("options", "role", "told"),
    [
        ({}, replace(ROLE, arn="lake"), "the role 'lake' is not a name"),
        ({}, replace(ROLE, sts_endpoint="sts.lake"), "the address of the STS is not http"),
        ({}, replace(ROLE, duration=timedelta(minutes=1)), "tokens of 60 seconds.*from 900 to"),
        ({"s3.access-key": "", "s3.secret-key": ""}, ROLE, "there are none: give s3.access-key"),
        ({"warehouse": "oss://lake/w"}, ROLE, "oss://lake/w .*stores of S3's protocol"),
        ({"warehouse": "abfs://c@a.dfs.core.windows.net/w"}, ROLE, "open all tables in it"),
        ({"warehouse": "/lake/w"}, ROLE, "/lake/w .*stores of S3's protocol"),
    ],
)
def test_what_is_missing_is_said_at_the_start(
    options: Mapping[str, str], role: StoreRole, told: str
) -> None:
    class Catalog:
        def __init__(self) -> None:
            self.options = {**options_of("http://127.0.0.1:1", "lake"), **options}
            self.path = self.options["warehouse"]

    with pytest.raises((ValueError, UnsupportedError), match=told):
        vendor_of(Catalog(), role)  # type: ignore[arg-type]


def test_without_a_role_there_are_no_tokens(served: pl.Catalog) -> None:
    with served.serve(users=USERS) as server:
        asking = {**server.options, "token": "w", "data-token.enabled": "true"}
        files = files_of(pl.connect(asking).table("db.t"))
        with pytest.raises(UnsupportedError, match=r"without a role.*stores of S3's protocol"):
            files.source.token()


def test_marks_in_names_open_no_other_folders() -> None:
    policy = json.loads(policy_of(Place("s3", "lake", "w/d.db/a*$?"), writes=False))
    assert policy["Statement"][0]["Resource"] == ["arn:aws:s3:::lake/w/d.db/a${*}${$}${?}/*"]
