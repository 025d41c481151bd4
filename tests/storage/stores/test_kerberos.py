"""HDFS that wants Kerberos: who logs in by a keytab or a ticket, and who does not."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import StorageError, UnsupportedError
from tests import debian
from tests.storage.stores.kerberos import CLIENT, USER, Realm, guarded_hdfs, realm
from tests.storage.stores.server import ServerMissingError

pytest.importorskip("hdfs_native")
from paimonlab.storage.hdfs import native

pytestmark = pytest.mark.interop
_LOGIN = "security.kerberos.login."


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Realm]]:
    """Address of a name node, and its realm."""
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("Kerberos is part of make interop")
    try:
        with realm(tmp_path_factory.mktemp("kdc")) as made, pytest.MonkeyPatch.context() as patch:
            patch.setenv("KRB5_CONFIG", str(made.config))
            with guarded_hdfs(tmp_path_factory.mktemp("hdfs"), made) as url:
                yield url, made
    except ServerMissingError as error:
        pytest.skip(str(error))


def test_a_keytab_and_a_ticket_let_in(
    guarded: tuple[str, Realm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, made = guarded
    options = {**CLIENT, "warehouse": f"{url}/w"}
    with_key = {f"{_LOGIN}principal": USER, f"{_LOGIN}keytab": str(made.keytab)}
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/tickets")
    with pytest.raises(StorageError, match="No Kerberos credentials available"):
        pl.connect(options).databases()

    catalog = pl.connect(options | with_key)
    catalog.create_database("db")
    keyed = {"primary-key": "id", "bucket": "1"}
    table = catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING"}, options=keyed)
    for step in range(3):
        table.write(pa.table({"id": range(step, step + 4), "v": [f"{step}"] * 4}))
    wanted = [(0, "0"), (1, "1"), *((number, "2") for number in range(2, 6))]
    read = pickle.loads(pickle.dumps(catalog.table("db.t"))).scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["v"]) for row in read) == wanted

    if not shutil.which("kinit") and not debian.is_installed("krb5-user"):
        pytest.skip("there is no kinit for a ticket")
    subprocess.run(["kinit", "-k", "-t", str(made.keytab), USER], check=True)
    by_ticket = pl.connect(options).table("db.t").scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["v"]) for row in by_ticket) == wanted


def test_who_does_not_say_kerberos_is_told_and_does_not_wait_for_ever(
    guarded: tuple[str, Realm], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "_FIRST_ANSWER_SECONDS", 0.5)
    with pytest.raises(StorageError, match=r"'hadoop\.hadoop\.security\.authentication'"):
        pl.connect({"warehouse": f"{guarded[0]}/w"}).databases()


def test_by_http_kerberos_is_refused_by_name() -> None:
    login = {f"{_LOGIN}principal": USER, f"{_LOGIN}keytab": "/keytab"}
    with pytest.raises(UnsupportedError, match=r"principal = 'me@EXAMPLE.COM' with webhdfs:"):
        pl.connect({"warehouse": "webhdfs://localhost:1/w", **login})
