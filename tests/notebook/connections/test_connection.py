"""Connections without Spark, several at a time, and those that are configured."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession

import paimonlab
from paimonlab.catalog import settings
from paimonlab.errors import DatabaseNotFoundError
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.warehouse_connection import NotConnectedError
from tests.notebook.magics.test_magics import failure, refusal, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a warehouse with one table of one snapshot."""
    folder = tmp_path / "ware house"
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT NOT NULL"}, primary_keys=["id"])
    table.write(pa.table({"id": [1, 2]}))
    return folder


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the settings of the user are; the working directory has a project, too."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paimonlab").mkdir()
    return tmp_path / "paimonlab" / "config.toml"


def test_views_need_no_spark(
    shell: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, f'%paimon_connect "{folder}" --engine native')

    assert capsys.readouterr().out == (f"connected: catalog paimon at {folder}, without Spark\n")
    assert repr(run(shell, "%paimon_tables")).endswith("1 table")
    assert run(shell, "%paimon_timeline db.t").to_arrow()["id"].to_pylist() == [1]


def test_a_folder_that_is_new_is_told(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, f'%paimon_connect "{tmp_path / "warehose"}" --engine native')

    assert capsys.readouterr().out.endswith(
        "; this folder is not there yet, the first database makes it\n"
    )
    paimonlab.connect(tmp_path / "warehose").create_database("db")
    run(shell, f'%paimon_connect "{tmp_path / "warehouse"}" --engine native')
    assert capsys.readouterr().out.endswith(f"; or is it {tmp_path / 'warehose'}?\n")
    with pytest.raises(DatabaseNotFoundError, match=rf"Or is the warehouse {tmp_path}/warehose\?"):
        paimonlab.connect(tmp_path / "warehouse").table("db.t")
    run(shell, f'%paimon_connect "{tmp_path / "warehose"}" --engine native')
    assert capsys.readouterr().out.endswith(", without Spark\n")


def test_what_spark_would_do_is_refused_by_name(
    shell: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, f'%paimon_connect "{folder}" --engine native')

    lines = failure(shell, capsys, "%paimon DROP VIEW db.t")

    assert lines == [
        "DROP VIEW without Spark is not supported: use --engine spark, or auto",
        "   1 | DROP VIEW db.t",
        "     | ^^^^",
        "help: %paimon_help without spark; %paimon_trace shows the whole error",
        "QueryError: DROP VIEW without Spark is not supported: use --engine spark, or auto",
    ]


def test_without_a_path_and_settings_it_says_how_a_folder_is_opened(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "%paimon_connect ./warehouse opens" in failure(shell, capsys, "%paimon_connect")[0]


def test_connections_have_names(
    shell: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, f'%paimon_connect "{folder}" --engine native --alias one')
    run(shell, "%paimon_connect other --engine native --alias two --catalog lake")
    capsys.readouterr()

    listed = run(shell, "%paimon_connect --list").to_arrow()
    run(shell, "%paimon_connect --use one")

    assert listed["alias"].to_pylist() == ["one", "two"]
    assert listed["catalog"].to_pylist() == ["one", "lake"]
    assert listed["state"].to_pylist() == ["open", "current"]
    assert connections.current().alias == "one"
    run(shell, "%paimon_connect --close one")
    assert connections.current().alias == "two"
    assert refusal(shell, capsys, "%paimon_connect --use onne") == [
        "UsageError: no connection onne. %paimon_connect --list shows all"
    ]


def test_two_connections_have_two_catalogs(
    shell: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, f'%paimon_connect "{folder}" --engine native')

    (line,) = refusal(
        shell, capsys, "%paimon_connect other --engine native --alias b --catalog paimon"
    )

    assert line.startswith("UsageError: catalog paimon is that of the connection paimon;")


def test_what_is_wrong_with_a_connection_is_one_line(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refusal(shell, capsys, "%paimon_connect w --engine flink") == [
        "UsageError: engine must be spark, native or auto, got 'flink'"
    ]
    (line,) = refusal(shell, capsys, "%paimon_connect s3://me:hush@lake/w --engine native")
    assert "s3://lake/w" in line
    assert "hush" not in line


def test_the_default_is_connected_to_when_it_is_needed(config: Path, folder: Path) -> None:
    config.write_text('[default]\nwarehouse = "nowhere"\nengine = "native"\n')
    project = config.parents[1] / "pyproject.toml"
    project.write_text(f'[tool.paimonlab.default]\nwarehouse = "{folder}"\n')

    assert connections.current().warehouse == str(folder)

    connections.disconnect()
    project.unlink()
    assert connections.current().warehouse == "nowhere"
    connections.disconnect()


def test_the_environment_wins(config: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('[default]\nwarehouse = "nowhere"\nengine = "native"\n')
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", str(folder))
    monkeypatch.setenv("PAIMONLAB_CATALOG", "lake")

    made = connections.current()

    assert (made.warehouse, made.catalog_name, made.engine) == (str(folder), "lake", "native")
    connections.disconnect()


def test_a_configured_connection_is_listed_and_made_by_its_name(
    shell: InteractiveShell,
    config: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config.write_text('[lake]\nwarehouse = "${LAKE}"\nengine = "native"\n')

    listed = run(shell, "%paimon_connect --list").to_arrow().to_pylist()
    (line,) = refusal(shell, capsys, "%paimon_connect --use lake")
    monkeypatch.setenv("LAKE", str(folder))
    run(shell, "%paimon_connect --use lake")

    assert listed == [
        {
            "alias": "lake",
            "engine": "native",
            "catalog": "lake",
            "warehouse": "${LAKE}",
            "state": "configured",
            "line": "%paimon_connect --use lake",
        }
    ]
    assert "warehouse is ${LAKE}, but the environment variable is not set" in line
    assert connections.current().warehouse == str(folder)


def test_a_secret_in_plain_text_is_refused_and_not_repeated(
    shell: InteractiveShell, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text('[default]\nwarehouse = "s3://lake/w"\nfs.s3a.secret.key = "hush"\n')

    (line,) = refusal(shell, capsys, "%paimon_connect")

    assert "fs.s3a.secret.key is a secret in plain text; write ${NAME} there" in line
    assert "hush" not in line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[default]\nengine = 'native'", "the connection default has no warehouse."),
        ("[default]\nwarehouse = 'w'\nengine = 'x'", "engine must be spark, native or auto"),
        ("[default]\nwarehouse = ['w']", "warehouse must be text"),
        ("warehouse = 'w'", "must be in a table such as [default]"),
        ("[default", "cannot be read"),
    ],
)
def test_wrong_settings_say_where(
    shell: InteractiveShell,
    config: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    problem: str,
) -> None:
    config.write_text(text)

    (line,) = refusal(shell, capsys, "%paimon_connect")

    assert problem in line


def test_nothing_configured_means_not_connected(config: Path) -> None:
    with pytest.raises(NotConnectedError):
        connections.current()
    assert config.parent.is_dir()


def test_a_spark_session_of_the_notebook_is_on_offer(
    shell: InteractiveShell, spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["mine"] = spark

    (entry,) = run(shell, "%paimon_connect --list").to_arrow().to_pylist()
    (line,) = refusal(shell, capsys, "%paimon_connect --use mine")
    run(shell, f'%paimon_connect "{folder}" --use mine')
    counted = run(shell, "%paimon SELECT count(*) AS n FROM db.t").to_arrow()
    listed = run(shell, "%paimon_connect --list").to_arrow()

    assert entry["line"] == "%paimon_connect PATH --use mine"
    assert line == "UsageError: which warehouse? %paimon_connect PATH --use mine"
    assert connections.current().spark is spark
    assert counted["n"].to_pylist() == [2]
    assert listed["alias"].to_pylist() == ["mine"]


def test_use_takes_no_engine(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = refusal(shell, capsys, "%paimon_connect --use x --engine native")

    assert line == (
        "UsageError: --use can be combined with PATH and --catalog, not with --engine and --alias"
    )


def test_a_catalog_in_a_database_is_connected_by_its_settings(
    shell: InteractiveShell,
    tmp_path: Path,
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("sqlalchemy")
    options = {
        "metastore": "jdbc",
        "uri": f"jdbc:sqlite:{tmp_path}/c.db",
        "warehouse": f"{tmp_path}/w",
    }
    catalog = paimonlab.connect(options)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT"}).write([{"id": 7}])
    lines = [f'{key} = "{value}"' for key, value in options.items()]
    config.write_text("\n".join(["[lake]", 'engine = "native"', *lines]))

    run(shell, "%paimon_connect --use lake")
    assert capsys.readouterr().out.startswith(f"connected: catalog lake at {tmp_path}/w")
    assert connections.current().known_tables() == ["db.t"]
    run(shell, "%paimon CREATE DATABASE made")
    run(shell, "%paimon ALTER TABLE db.t RENAME TO db.u")
    assert catalog.databases() == ["db", "made"]
    assert catalog.tables("db") == ["u"]

    monkeypatch.setenv("SEA", "zqsea")
    for uri, refused in (
        ("jdbc:mysql://me:zqsea@h/d", True),
        ("jdbc:postgresql://h/d?user=a&password=zqsea", True),
        ("jdbc:postgresql://h/d?user=a&password=${SEA}", False),
        ("jdbc:mysql://me:${SEA}@h/d?useSSL=false", False),
    ):
        config.write_text(f'[lake]\nmetastore = "jdbc"\nuri = "{uri}"\nwarehouse = "{tmp_path}"\n')
        if refused:
            with pytest.raises(settings.SettingsError, match="is a secret in plain text") as caught:
                settings.read()
            assert "zqsea" not in str(caught.value)
        else:
            assert "zqsea" in settings.read()["lake"].resolved()["uri"]
