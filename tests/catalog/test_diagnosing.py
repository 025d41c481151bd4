"""What ``doctor`` advises where a catalog does not answer as it should."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

import paimonlab as pl
from paimonlab.catalog import diagnosing
from paimonlab.cli.main import main
from paimonlab.errors import AccessDeniedError, CatalogServerError
from paimonlab.spark.sessions.environment import try_warehouse
from tests.catalog.jdbc.servers import login_of

NOBODY = "127.0.0.1:1"
NO_HOST = "no-host.invalid"


def tried(options: Mapping[str, str]) -> str:
    state = try_warehouse(pl.connect(options))
    assert state.problem
    assert "\n" not in state.problem
    return state.advice


@pytest.mark.parametrize("server", ["mariadb", "postgres"])
def test_databases_that_do_not_answer(
    server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    uri = request.getfixturevalue(f"{server}_uri")
    options = {"metastore": "jdbc", "uri": uri, "warehouse": str(tmp_path), **login_of(uri)}
    assert try_warehouse(pl.connect(options)).problem == ""
    assert tried(options | {"jdbc.password": "other"}) == "check jdbc.user and jdbc.password"
    place, _, name = uri.rpartition("/")
    told = "create the database, or correct its name in uri"
    assert tried(options | {"uri": f"{place}/{name}x"}) == told
    refused = re.sub(r"//[^/]+/", f"//{NOBODY}/", uri)
    told = "nothing listens there: start the database, or correct host and port in uri"
    assert tried(options | {"uri": refused}) == told
    elsewhere = re.sub(r"//[^:]+:", f"//{NO_HOST}:", uri)
    assert tried(options | {"uri": elsewhere}) == "no host is called so: correct the host in uri"


def test_a_file_of_sqlite_without_a_folder(tmp_path: Path) -> None:
    options = {"metastore": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/none/c.db"}
    told = tried(options | {"warehouse": str(tmp_path)})
    assert told == "create the folder of the file in uri; this user has to be able to write in it"
    words = [f"--catalog-option={key}={value}" for key, value in options.items()]
    shown = CliRunner().invoke(main, ["doctor", str(tmp_path), *words])
    assert shown.exit_code == 1
    assert f"    {told}\n" in shown.output
    assert CliRunner().invoke(main, ["doctor", *words], env={"HOME": str(tmp_path)}).exit_code == 2


@pytest.mark.parametrize("module", ["sqlalchemy", "pymysql"])
def test_modules_that_are_not_installed(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    options = {"metastore": "jdbc", "uri": f"jdbc:mysql://{NOBODY}/lake"}
    told = tried(options | {"warehouse": str(tmp_path)})
    assert told == "pip install 'paimonlab[jdbc]'"


def test_metastores_that_do_not_answer(tmp_path: Path) -> None:
    pytest.importorskip("thriftpy2")
    options = {"metastore": "hive", "warehouse": str(tmp_path)}
    told = "nothing listens there: start the metastore, or correct host and port in uri"
    assert tried(options | {"uri": f"thrift://{NOBODY}"}) == told
    told = tried(options | {"uri": f"thrift://{NO_HOST}:9083"})
    assert told == "no host is called so: correct the host in uri"


def test_servers_that_refuse(tmp_path: Path) -> None:
    with pl.connect(tmp_path / "w").serve() as server:
        options = dict(server.options)
        told = tried(options | {"token": "other"})
        assert told == "check the token, and what its user may do on the server"


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"metastore": "rest"}, CatalogServerError.told("http://h", "GET /", "no TLS"), "http://"),
        (
            {"metastore": "hive"},
            CatalogServerError.told("thrift://h:1", "connecting", "no TLS: EOF"),
            "leave hive.metastore.use.SSL out",
        ),
        (
            {"metastore": "hive"},
            CatalogServerError.told("thrift://h:1", "connecting", "timed out"),
            "hive.metastore.client.auth.mode",
        ),
        ({"metastore": "rest"}, CatalogServerError.told("http://h", "GET /", "404"), "prefix"),
        (
            {"metastore": "rest", "token.provider": "dlf"},
            AccessDeniedError("http://h", "not authorised"),
            "dlf.access-key-secret",
        ),
        (
            {"metastore": "rest", "token.provider": "dlf"},
            AccessDeniedError("http://h", "the clock of this machine is 9 minutes behind"),
            "set the clock",
        ),
        ({"warehouse": "s3://lake"}, OSError("Connection refused"), ""),
    ],
)
def test_what_is_said_is_what_to_change(
    options: Mapping[str, str], error: Exception, told: str
) -> None:
    found = diagnosing.advice(options, error)
    assert told in found
    assert bool(told) is bool(found)
