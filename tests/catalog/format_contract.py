"""What catalogs that keep format tables must do: inherit the class and give it a catalog."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog.format_tables import FormatTableCatalog
from paimonlab.errors import (
    AlreadyExistsError,
    DataError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.table.format_tables.format_table import FormatTable

ROWS: list[dict[str, Any]] = [
    {"id": 1, "v": "a,b", "w": 1.5, "day": dt.date(2024, 2, 29), "p": "x/y", "q": 1},
    {"id": 2, "v": 'say "ü"', "w": None, "day": None, "p": "x/y", "q": 2},
    {"id": None, "v": None, "w": -0.25, "day": dt.date(1, 1, 1), "p": None, "q": None},
]
COLUMNS = {
    "id": "BIGINT",
    "v": "STRING",
    "w": "DOUBLE",
    "day": "DATE",
    "p": "STRING",
    "q": "INT",
}


def keeper(catalog: pl.Catalog) -> FormatTableCatalog:
    """Return the catalog as one that keeps format tables."""
    assert isinstance(catalog, FormatTableCatalog)
    return catalog


def rows_of(table: FormatTable, **scan: Any) -> list[dict[str, Any]]:
    """Return rows in some order that is always the same."""
    return sorted(table.scan(**scan).to_arrow().to_pylist(), key=repr)


def given(rows: list[dict[str, Any]], table: FormatTable) -> pa.Table:
    """Return rows as Arrow has them."""
    return pa.Table.from_pylist(rows, schema=table.arrow_schema)


class FormatTableContract:
    """Tests of format tables; a subclass has a fixture ``catalog``, with a database ``db``."""

    formats: tuple[str, ...] = ("csv",)
    """What the rows are written as."""
    deletes_files = True
    """Whether the files of a table that is dropped are deleted."""

    def test_rows_are_written_read_and_replaced(self, catalog: pl.Catalog) -> None:
        for file_format in self.formats:
            self._life(keeper(catalog), file_format)
            catalog.drop_table("db.t")

    def _life(self, kept: FormatTableCatalog, file_format: str) -> None:
        made = kept.create_format_table(
            "db.t", COLUMNS, file_format=file_format, partition_keys=["p", "q"], comment="ours"
        )
        table = kept.format_table("db.t")
        assert (table.format, table.comment, table.partition_keys) == (
            *(file_format, "ours"),
            ("p", "q"),
        )
        assert table.arrow_schema.equals(made.arrow_schema)
        assert rows_of(table) == []

        assert table.write(given(ROWS, table)) == 3

        assert rows_of(table) == sorted(ROWS, key=repr)
        assert rows_of(table, columns=["v"], where="p = 'x/y' AND q = 2") == [{"v": 'say "ü"'}]
        assert rows_of(table, columns=["id"], where="w < 0 OR q = 1") == [{"id": 1}, {"id": None}]
        assert len(list(table.scan(where="q = 1").files())) == 1
        assert [one["q"] for one in table.partitions().to_pylist()] == [None, 1, 2]

        table.overwrite(given([ROWS[1]], table))  # of that partition alone
        assert rows_of(table) == sorted(ROWS, key=repr)
        table.overwrite(given([{**ROWS[0], "q": 3}], table), partition={"p": "x/y"})
        assert [row["q"] for row in rows_of(table)] == [3, None]
        table.overwrite(given([ROWS[1]], table), dynamic=False)
        assert rows_of(table) == [ROWS[1]]
        assert table.drop_partitions([{"q": 2}]) == 1
        assert rows_of(table) == []

    def test_it_is_listed_beside_tables(self, catalog: pl.Catalog) -> None:
        kept = keeper(catalog)
        catalog.create_table("db.a", {"id": "INT"})
        catalog.create_table(
            "db.f", {"id": "INT"}, options={"type": "format-table", "file.format": "csv"}
        )

        assert (catalog.tables("db"), kept.format_tables("db")) == (["a"], ["f"])
        assert (kept.has_format_table("db.f"), kept.has_format_table("db.a")) == (True, False)
        with pytest.raises(SchemaError, match="format_table"):
            catalog.table("db.f")
        with pytest.raises(SchemaError, match="table"):
            kept.format_table("db.a")
        with pytest.raises(TableNotFoundError, match=r"Did you mean 'db\.f'"):
            kept.format_table("db.F")
        for name in ("db.a", "db.f"):
            with pytest.raises(AlreadyExistsError):
                kept.create_format_table(name, {"id": "INT"}, file_format="csv")
        kept.create_format_table("db.f", {"x": "INT"}, exist_ok=True)

        folder = Path(kept.format_table("db.f").path)
        kept.format_table("db.f").write(pa.table({"id": pa.array([1], pa.int32())}))
        catalog.drop_table("db.f")
        assert kept.format_tables("db") == []
        assert folder.exists() is not self.deletes_files
        with pytest.raises(SchemaError, match="a"):
            catalog.drop_database("db")

    def test_its_name_is_taken(self, catalog: pl.Catalog) -> None:
        kept = keeper(catalog)
        kept.create_format_table("db.f", {"id": "INT"}, file_format="csv")
        with pytest.raises(AlreadyExistsError):
            catalog.create_table("db.f", {"id": "INT"})

    def test_an_external_folder_stays(self, catalog: pl.Catalog, tmp_path: Path) -> None:
        kept = keeper(catalog)
        folder = tmp_path / "outside"
        folder.mkdir()
        (folder / "part-0.csv").write_text("1;ä\n;\n")
        (folder / "_SUCCESS").write_text("")
        (folder / ".hidden.csv").write_text("9;x\n")

        table = kept.create_format_table(
            "db.e",
            {"id": "INT", "v": "STRING"},
            file_format="csv",
            options={"path": str(folder), "csv.field-delimiter": ";"},
        )

        assert rows_of(table) == [{"id": 1, "v": "ä"}, {"id": None, "v": None}]
        assert rows_of(kept.format_table("db.e")) == rows_of(table)
        catalog.drop_table("db.e")
        assert (folder / "part-0.csv").exists()

    def test_what_is_not_a_format_tables_is_refused(self, catalog: pl.Catalog) -> None:
        kept = keeper(catalog)
        refused: list[tuple[dict[str, Any], type[Exception], str]] = [
            ({"options": {"bucket": "2"}}, UnsupportedError, "bucket = '2' of the format table"),
            ({"options": {"csv.field-delimeter": ";"}}, SchemaError, "csv.field-delimiter"),
            ({"options": {"json.ignore-parse-errors": "true"}}, UnsupportedError, "csv"),
            ({"options": {"csv.field-delimiter": "||"}}, UnsupportedError, "one character"),
            ({"options": {"file.compression": "lz4"}}, UnsupportedError, "file.compression"),
            ({"file_format": "avro"}, UnsupportedError, "file.format = 'avro'"),
            (
                {"options": {"metastore.partitioned-table": "true"}},
                UnsupportedError,
                "metastore.partitioned-table",
            ),
            (
                {"options": {"format-table.commit-hive-sync-url": "thrift://a:1"}},
                UnsupportedError,
                "commit-hive-sync-url",
            ),
            ({"schema": {"id": "ARRAY<INT>"}}, UnsupportedError, "files of csv"),
            ({"file_format": "text"}, UnsupportedError, "one column, a STRING"),
        ]
        for given_, error, message in refused:
            arguments = {"schema": {"id": "INT"}, "file_format": "csv", **given_}
            with pytest.raises(error, match=message):
                kept.create_format_table("db.r", **arguments)
        with pytest.raises(SchemaError, match="primary key"):
            catalog.create_table(
                "db.r", {"id": "INT"}, primary_keys=["id"], options={"type": "format-table"}
            )
        assert kept.format_tables("db") == []

        table = kept.create_format_table("db.r", {"v": "STRING"}, file_format="csv")
        for value in ("", "a\nb", " "):
            with pytest.raises(DataError):
                table.write(pa.table({"v": ["x", value]}))
        assert rows_of(table) == []
        assert list(Path(table.path).iterdir()) == []
