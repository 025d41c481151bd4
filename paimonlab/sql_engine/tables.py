"""What a statement reads: tables of the catalog, data frames and files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlglot import exp

from paimonlab.catalog import Catalog
from paimonlab.errors import DatabaseNotFoundError, SchemaError
from paimonlab.spec.options.grammar import parse_memory_size_bytes
from paimonlab.spec.types.text import format_type
from paimonlab.sql_engine import pushing
from paimonlab.sql_engine.explaining import ReadTable
from paimonlab.sql_engine.expressions import Translator
from paimonlab.sql_engine.given import Given
from paimonlab.sql_engine.kinds import kind_of
from paimonlab.sql_engine.refusal import DataFileNotFoundError, NoDatabaseError, NotTranslatedError
from paimonlab.sql_engine.rows import (
    COLUMNS_MEMORY,
    FileRows,
    FormatTableRows,
    FrameRows,
    Part,
    Rows,
    SystemTableRows,
    TableRows,
)
from paimonlab.sql_engine.scope import Relation, Scope, SqlColumn
from paimonlab.table import format_tables
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.spec.schema.definition import TableSchema
    from paimonlab.table.format_tables.format_table import FormatTable
    from paimonlab.table.system.system_table import SystemTable

_MOST_NEAR = 1000
"""Files of a folder that are looked at for one of a similar name."""

MARK = "\x02"
"""Around the number of a table in a text whose tables are not planned yet."""
Point = Mapping[str, Any]
"""The state of a table that is read, as arguments of `Table.scan`; empty: the latest."""
_READ_BY_DUCKDB = (".csv", ".parquet", ".json")
_METADATA_TABLES = ("snapshots", "files", "manifests", "partitions", "schemas", "options", "tags")
"""System tables that other formats have as ``db.table.name``."""
_OTHERS_TABLES = {
    "history": "snapshots",
    "metadata_log_entries": "snapshots",
    "refs": "tags",
    "entries": "files",
    "data_files": "files",
    "all_data_files": "files",
    "all_manifests": "manifests",
}
"""What those are called here that have another name there."""


Known = Callable[[str], object]
"""Finds a data frame by its name; None if there is none."""


def is_file(name: str) -> bool:
    """Whether a name alone in ``FROM`` is that of a file."""
    return name.lower().endswith(_READ_BY_DUCKDB)


def relation(catalog: Catalog, name: str) -> Table | SystemTable | FormatTable:
    """Open what ``FROM`` names.

    Raises
    ------
    SchemaError
        If it is a file whose quotes are missing.
    TableNotFoundError, DatabaseNotFoundError
        If there is no such table.
    """
    try:
        return catalog.opened(name)
    except DatabaseNotFoundError:
        if not is_file(name):
            raise
        raise SchemaError(
            f"there is no table {name}: a file is written in quotes, FROM '{name}'"
        ) from None


def _no_frames(_name: str) -> None:
    return None


class Reading(Struct):
    """One mention of a table: which columns and rows of it are read."""

    number: int
    alias: str
    rows: Rows
    indexes: Mapping[str, int]
    conditions: list[Any] = []
    """Predicates of `Table.scan`, all of which hold for the rows that are wanted."""
    _used: set[int] = set()

    @property
    def placeholder(self) -> str:
        """What stands for it until the statement is planned."""
        return f"{MARK}{self.number}{MARK}"

    def use(self, name: str) -> None:
        """Remember that a column is read."""
        self._used.add(self.indexes[name])

    def shown(self, label: str) -> ReadTable:
        """Say what is read of it."""
        names = {index: name for name, index in self.indexes.items()}
        columns = {f"c{index}": names[index] for index in sorted(self._used)}
        return ReadTable(label, self.alias, columns, tuple(self.conditions), self.rows)

    def planned(self) -> tuple[str, list[Part]]:
        """Return what stands in its place, and where its rows are from."""
        used = sorted(self._used)
        names = [f"c{index}" for index in used] or ["c"]
        parts = self.rows.parts(used, self.conditions, f"t{self.number}")
        selects = " UNION ALL ".join(part.text for part in parts)
        return f"({selects}) AS {self.alias}({', '.join(names)})", parts


@dataclass(slots=True)
class Sources:
    """Everything that a statement may read.

    Parameters
    ----------
    catalog
        Has the tables.
    catalog_name
        Its name in SQL.
    frames
        Finds data frames by name.
    point
        At which all tables are read that the statement does not say it of.
    files
        Whether ``FROM 'rows.csv'`` may read files.
    """

    catalog: Catalog
    catalog_name: str = "paimon"
    frames: Known = _no_frames
    point: Point = field(default_factory=dict)
    files: bool = True
    readings: list[Reading] = field(default_factory=list)
    has_comments: bool = field(default=False, init=False)
    """Whether a column of a table that was mentioned has a comment."""
    shown: list[ReadTable] = field(default_factory=list, init=False)
    """What the query that was planned last reads."""
    named_text: str = field(default="", init=False)
    """Its text, with tables by their names."""

    def table(
        self,
        alias: str,
        path: tuple[str, ...],
        names: tuple[str, ...],
        version: exp.Expression | None,
        given: Given,
    ) -> Relation:
        """Make a relation of a name in ``FROM``.

        Raises
        ------
        TableNotFoundError
            If there is nothing of this name.
        """
        return self._relation(alias, self._rows(path, version, given), names)

    def changes(
        self,
        alias: str,
        path: tuple[str, ...],
        names: tuple[str, ...],
        options: Mapping[str, str],
    ) -> Relation:
        """Make a relation of what commits changed, as options of a read say.

        Raises
        ------
        NotTranslatedError
            If it is asked of something else than a table.
        """
        name = self.name_of(path)
        found = relation(self.catalog, name)
        if not isinstance(found, Table):
            raise NotTranslatedError(f"changes of {name}", path[-1])
        return self._relation(alias, TableRows(found.scan(options=options)), names)

    def _relation(self, alias: str, rows: Rows, names: tuple[str, ...]) -> Relation:
        columns = tuple(
            SqlColumn(name, kind_of(data_type), f"{alias}.c{number}", format_type(data_type))
            for number, (name, data_type) in enumerate(rows.fields)
        )
        indexes = {name: number for number, (name, _) in enumerate(rows.fields)}
        reading = Reading(len(self.readings), alias, rows, indexes)
        self.readings.append(reading)
        return Relation(names, columns, reading)

    def _rows(self, path: tuple[str, ...], version: exp.Expression | None, given: Given) -> Rows:
        if len(path) == 1:
            return self._unqualified(path[0], version)
        if len(path) == 2 and path[0].lower() == "parquet" and "/" in path[1]:
            return self._file(path[1])
        name = self.name_of(path)
        found = relation(self.catalog, name)
        point = self._point(version, given)
        if isinstance(found, Table):
            self._look_for_comments(found.schema)
            memory = self.catalog.options.get("sql.columns-memory")
            kept = COLUMNS_MEMORY if memory is None else parse_memory_size_bytes(memory)
            return TableRows(found.scan(**point), kept)
        if isinstance(found, format_tables.format_table.FormatTable):
            self._look_for_comments(found.schema)
            if point:
                raise SchemaError(f"{name} is a format table, files without snapshots")
            return FormatTableRows(found)
        if version is not None:
            raise NotTranslatedError("time travel of a system table", path[-1])
        return SystemTableRows(found, name)

    def _look_for_comments(self, schema: TableSchema) -> None:
        if any(one.description for one in schema.fields):
            self.has_comments = True

    def name_of(self, path: tuple[str, ...]) -> str:
        """Return ``database.table`` of a name in a statement.

        Raises
        ------
        NotTranslatedError
            If it is in another catalog, or in a database that is not named.
        """
        if len(path) == 1:
            raise NoDatabaseError(path[0])
        if len(path) == 3 and path[0] != self.catalog_name:
            meant = _OTHERS_TABLES.get(path[2].lower(), path[2].lower())
            if meant in _METADATA_TABLES and self.catalog.has_table(".".join(path[:2])):
                shown = f"{path[0]}.{path[1]}${meant}"
                raise SchemaError(f"{'.'.join(path)}: system tables are written {shown}")
            raise NotTranslatedError(f"the catalog {path[0]}", path[0])
        return ".".join(path[-2:])

    def _unqualified(self, name: str, version: exp.Expression | None) -> Rows:
        frame = self.frames(name)
        if frame is not None and not isinstance(frame, Table):  # a variable may hold the table
            if version is not None:
                raise SchemaError(f"{name} is a data frame: it has no versions")
            return FrameRows.of(frame, name)
        if is_file(name):
            return self._file(name)
        raise NoDatabaseError(name)

    def _file(self, name: str) -> Rows:
        if not self.files:
            raise NotTranslatedError(f"the file {name}", name)
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            near = path.parent.glob("*") if path.parent.is_dir() else ()
            names = sorted(one.name for one in itertools.islice(near, _MOST_NEAR))
            given = name.removesuffix(path.name)
            raise DataFileNotFoundError(name, [f"{given}{one}" for one in names if is_file(one)])
        return FileRows.of(path)

    def _point(self, version: exp.Expression | None, given: Given) -> Point:
        if version is None:
            return self.point
        scope = Scope()
        value = Translator(scope, given, _no_queries, allows="none").value(version.expression)
        what = str(version.this).upper()
        if what == "VERSION" and isinstance(value.literal, int | str):
            return {"version": value.literal}
        if what == "TIMESTAMP" and isinstance(value.literal, str):
            return {"timestamp": value.literal}
        raise NotTranslatedError(f"{what} AS OF such a value", what)

    def push(
        self, node: exp.Expression, scope: Scope, given: Given, hidden: Sequence[Relation] = ()
    ) -> None:
        """Let tables leave out rows for which a condition is not true.

        Parameters
        ----------
        node
            The condition; it is evaluated afterwards as well.
        scope
            What its names mean.
        given
            Values of parameters; those of ``?`` are left alone.
        hidden
            Relations whose rows are kept whatever the condition says.
        """
        for relation, predicate in pushing.conditions(node, scope, given):
            if relation.reading is not None and relation not in hidden:
                relation.reading.conditions.append(predicate)

    def planned(self, text: str) -> tuple[str, list[Part]]:
        """Plan all tables; return the whole text, and where the rows are from."""
        every: list[Part] = []
        self.shown = []
        self.named_text = text
        for reading in self.readings:
            if reading.placeholder in text:
                planned, parts = reading.planned()
                text = text.replace(reading.placeholder, planned)
                label = next((part.label for part in parts if part.label), "") or "a system table"
                self.shown.append(reading.shown(label))
                self.named_text = self.named_text.replace(
                    reading.placeholder, f'"{label}" AS {reading.alias}'
                )
                every += parts
        return text, every


def _no_queries(_node: exp.Expression, _scope: Scope) -> Any:
    raise NotTranslatedError("a query here", "SELECT")
