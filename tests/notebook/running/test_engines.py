"""Who runs a cell: Spark, this process, or whichever can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook import commands
from paimonlab.notebook.connections import connection as connections
from tests.notebook.magics.test_magics import failure, run


@pytest.fixture
def auto(shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Connect to a table; Spark must not start."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "BIGINT"}).write(pa.table({"id": [1, 2, 3]}))
    commands.connect(tmp_path, engine="auto")

    def started() -> None:
        raise RuntimeError("Spark starts")

    monkeypatch.setattr(connections, "session_of_current", started)
    yield shell
    connections.disconnect()


def test_the_result_says_who_computed_it(auto: InteractiveShell) -> None:
    auto.user_ns |= {"df": pa.table({"id": [2, 9]}), "one": 1}

    joined = run(auto, "%paimon SELECT t.id + :one AS n FROM df d JOIN db.t t USING (id)")

    assert joined.to_arrow().to_pydict() == {"n": [3]}
    assert "; DuckDB, without Spark" in repr(joined)
    assert "DuckDB" not in repr(run(auto, "%paimon SELECT id FROM db.t"))


def test_what_is_not_translated_goes_to_spark_only_where_it_may(
    auto: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    for sql in (
        "SELECT to_json(map(id, 'a')) FROM db.t",
        "DROP VIEW db.t",
        "SELECT 1 / 0",
    ):
        with pytest.raises(RuntimeError, match="Spark starts"):
            paimonlab.sql(sql)
        native = failure(auto, capsys, f"%paimon --engine native {sql}")
        assert "Spark" in native[0] or "DIVIDE_BY_ZERO" in native[0]
    with pytest.raises(paimonlab.errors.PaimonError, match="no column"):
        paimonlab.sql("SELECT nope + 1 FROM db.t")
    assert "engine must be" in failure(auto, capsys, "%paimon --engine flink SELECT 1")[0]


def test_a_cell_defines_without_spark(
    auto: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(auto, "%paimon CREATE TABLE db.made (id BIGINT, PRIMARY KEY (id)) COMMENT 'by a cell'")
    run(auto, "%paimon ALTER TABLE db.made ADD COLUMN v STRING")

    listed = run(auto, "%paimon DESCRIBE db.made").to_arrow().to_pydict()
    assert listed["col_name"] == ["id", "v"]
    assert run(auto, "%paimon OPTIMIZE db.t").to_arrow().to_pylist() == [{"result": True}]
    assert run(auto, "%paimon DESCRIBE HISTORY db.t LIMIT 1").to_arrow().num_rows == 1
    said = failure(auto, capsys, "%paimon RESTORE db.t TO VERSION AS OF 1")
    assert any("CALL sys.rollback(" in line for line in said)
    assert "DROP TABLE: done" in repr(run(auto, "%paimon DROP TABLE db.made"))


def test_a_cell_writes_without_spark(auto: InteractiveShell) -> None:
    done = run(auto, "%paimon INSERT INTO db.t SELECT max(id) + 1 FROM db.t")

    assert repr(done).startswith("INSERT INTO: done")
    assert repr(done).endswith("; db.t: 1 row inserted, snapshot 2")
    assert run(auto, "%paimon SELECT count(*) FROM db.t").to_arrow()[0].to_pylist() == [4]
