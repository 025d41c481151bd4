"""A notebook connected to a Hive catalog by the user's settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook.connections import connection as connections
from tests.notebook.conftest import shell as shell  # noqa: PLC0414 - a fixture
from tests.notebook.magics.test_magics import run


def test_a_catalog_in_a_metastore_is_connected_by_its_settings(
    shell: InteractiveShell,
    hive_uri: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = {"metastore": "hive", "uri": hive_uri, "warehouse": f"{tmp_path}/w"}
    catalog = paimonlab.connect(options)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT"}).write([{"id": 7}])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paimonlab").mkdir()
    lines = [f'{key} = "{value}"' for key, value in options.items()]
    config = tmp_path / "paimonlab" / "config.toml"
    config.write_text("\n".join(["[lake]", 'engine = "native"', *lines]))

    run(shell, "%paimon_connect --use lake")
    assert capsys.readouterr().out.startswith(f"connected: catalog lake at {tmp_path}/w")
    assert connections.current().known_tables() == ["db.t"]
    run(shell, "%paimon CREATE DATABASE made")
    run(shell, "%paimon ALTER TABLE db.t RENAME TO db.u")

    assert catalog.databases() == ["db", "default", "made"]
    assert catalog.tables("db") == ["u"]
