"""One catalog that Java Paimon and paimonlab use in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.errors import TableNotFoundError
from tests.interop.oracle import Oracle


class Beside:
    """Java Paimon and paimonlab on one catalog.

    Parameters
    ----------
    oracle
        Java Paimon.
    options
        Of the catalog, for both; Java's remembers nothing.
    """

    ours: pl.Catalog

    def __init__(self, oracle: Oracle, options: Mapping[str, str]) -> None:
        self._oracle = oracle
        self.options = dict(options)
        self.ours = pl.connect(options)
        self._javas = {**options, "cache-enabled": "false"}

    def java(self, op: str, **arguments: Any) -> Any:
        """Let Java do something."""
        return self._oracle.ask(op, catalog=self._javas, **arguments)

    def java_write(self, table: str, *rows: Sequence[Any]) -> None:
        """Let Java insert rows."""
        self.java("write", table=table, rows=[["+I", list(row)] for row in rows])

    def java_rows(self, table: str) -> list[list[Any]]:
        """Return the rows that Java reads, sorted."""
        return sorted(values for _, values in self.java("read", table=table))

    def our_rows(self, table: str) -> list[list[Any]]:
        """Return the rows that we read, sorted."""
        found = self.ours.table(table).scan().to_arrow().to_pylist()
        return sorted(list(row.values()) for row in found)


def alter_in_turn(both: Beside) -> None:
    """Let both create, alter, rename and write a table in turn; it is ``db.s`` at the end."""
    both.ours.create_database("db", options={"comment": "it's ünal's"})
    both.ours.create_table(
        "db.t", {"id": "INT NOT NULL", "v": "STRING"}, primary_keys=["id"], options={"bucket": "1"}
    ).write([{"id": 1, "v": "a"}])
    assert both.java("database_options", database="db")["comment"] == "it's ünal's"

    both.java_write("db.t", [2, "b"])
    both.java("alter_table", table="db.t", changes=[["add", "w", "INT"]])
    both.ours.alter_table("db.t", pl.RenameColumn("v", "vv"))
    both.java_write("db.t", [3, "c", 3])
    both.java("alter_table", table="db.t", changes=[["set", "snapshot.num-retained.max", "20"]])
    both.ours.table("db.t").write([{"id": 1, "vv": "z", "w": 1}])

    rows = [[1, "z", 1], [2, "b", None], [3, "c", 3]]
    assert both.java_rows("db.t") == both.our_rows("db.t") == rows
    assert both.ours.table("db.t").options["snapshot.num-retained.max"] == "20"

    both.java("rename_table", table="db.t", target="db.u")
    with pytest.raises(TableNotFoundError):
        both.ours.table("db.t")
    both.ours.rename_table("db.u", "db.s")
    assert both.java("tables", database="db") == ["s"]
    assert both.java_rows("db.s") == rows
