"""SQLAlchemy over a warehouse, without Spark: ``create_engine("paimonlab:///warehouse")``.

It reads and tells what there is. Statements are Spark's SQL by `paimonlab.dbapi`; a schema is a
database of the catalog. Options of the catalog follow the path: ``paimonlab:///w?metastore=…``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from sqlalchemy import exc, types
from sqlalchemy.engine import default
from sqlalchemy.sql import compiler

from paimonlab import dbapi, errors
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot
from paimonlab.table.table import Table

_TYPES: Mapping[TypeRoot, type[Any]] = {
    TypeRoot.BOOLEAN: types.BOOLEAN,
    TypeRoot.TINYINT: types.SMALLINT,
    TypeRoot.SMALLINT: types.SMALLINT,
    TypeRoot.INT: types.INTEGER,
    TypeRoot.BIGINT: types.BIGINT,
    TypeRoot.FLOAT: types.FLOAT,
    TypeRoot.DOUBLE: types.DOUBLE,
    TypeRoot.CHAR: types.TEXT,
    TypeRoot.VARCHAR: types.TEXT,
    TypeRoot.BINARY: types.LargeBinary,
    TypeRoot.VARBINARY: types.LargeBinary,
    TypeRoot.DATE: types.DATE,
    TypeRoot.TIMESTAMP: types.TIMESTAMP,
}


class _TypeNames(compiler.GenericTypeCompiler):  # type: ignore[misc, unused-ignore]
    """Names types as Spark's SQL does."""

    def visit_VARCHAR(self, type_: Any, **_: Any) -> str:  # noqa: N802
        del type_
        return "STRING"

    visit_TEXT = visit_NVARCHAR = visit_CHAR = visit_VARCHAR  # noqa: N815

    def visit_INTEGER(self, type_: Any, **_: Any) -> str:  # noqa: N802
        del type_
        return "INT"

    def visit_FLOAT(self, type_: Any, **_: Any) -> str:  # noqa: N802
        del type_
        return "DOUBLE"

    visit_DOUBLE_PRECISION = visit_REAL = visit_FLOAT  # noqa: N815

    def visit_BLOB(self, type_: Any, **_: Any) -> str:  # noqa: N802
        del type_
        return "BINARY"


class _Quoting(compiler.IdentifierPreparer):  # type: ignore[misc, unused-ignore]
    """Quotes names with back-quotes."""

    def __init__(self, dialect: Any, **options: Any) -> None:
        super().__init__(dialect, **{"initial_quote": "`", "escape_quote": "`"} | options)


class PaimonDialect(default.DefaultDialect):  # type: ignore[misc, unused-ignore]
    """SQL of Paimon tables without Spark."""

    name = "paimonlab"
    driver = "native"
    default_paramstyle = "named"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_sane_rowcount = False
    supports_default_values = False
    preparer: type[compiler.IdentifierPreparer] = _Quoting
    type_compiler_cls = _TypeNames

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Return Python's database API of this package."""
        return dbapi

    def create_connect_args(self, url: Any) -> tuple[Sequence[Any], MutableMapping[str, Any]]:
        """Return the warehouse of an address, and the options of the catalog."""
        options = dict(url.query)
        if url.database:
            options.setdefault("warehouse", url.database)
        if not options.get("warehouse") and "uri" not in options:
            raise exc.ArgumentError(
                "paimonlab: the address has no warehouse: use paimonlab:///path/of/warehouse"
            )
        return [options], {}

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Do nothing: each statement was committed when it ended."""

    def get_schema_names(self, connection: Any, **_: Any) -> list[str]:
        """Return the databases."""
        return _catalog(connection).databases()

    def get_table_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """Return the tables of a database; without one there are none."""
        if schema is None:
            return []
        with _translated(schema):
            return _catalog(connection).tables(schema)

    def get_view_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """Return none: views are read by Spark."""
        del connection, schema
        return []

    def has_table(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> bool:
        """Tell whether there is a table."""
        if schema is None:
            return False
        try:
            _table(connection, table_name, schema)
        except exc.NoSuchTableError:
            return False
        return True

    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        """Return the columns of a table."""
        return [
            {
                "name": field.name,
                "type": _type(field.type),
                "nullable": field.type.nullable,
                "default": field.default_value,
                "comment": field.description,
            }
            for field in _table(connection, table_name, schema).schema.fields
        ]

    def get_pk_constraint(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> Any:
        """Return the primary key of a table."""
        keys = list(_table(connection, table_name, schema).primary_keys)
        return {"constrained_columns": keys, "name": None}

    def get_table_comment(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> Any:
        """Return the comment of a table."""
        return {"text": _table(connection, table_name, schema).comment or None}

    def get_foreign_keys(self, connection: Any, table_name: str, *_: Any, **__: Any) -> list[Any]:
        """Return none: Paimon has none."""
        del connection, table_name
        return []

    get_indexes = get_unique_constraints = get_check_constraints = get_foreign_keys

    def _get_server_version_info(self, connection: Any) -> None:
        del connection

    def _get_default_schema_name(self, connection: Any) -> Any:
        del connection


def _catalog(connection: Any) -> Any:
    return connection.connection.dbapi_connection.catalog


def _table(connection: Any, name: str, schema: str | None) -> Table:
    if schema is None:
        raise exc.NoSuchTableError(f"{name}: say in which database it is, as schema='db'")
    with _translated(f"{schema}.{name}"):
        table: Table = _catalog(connection).table(f"{schema}.{name}")
        return table


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except (errors.NotFoundError, errors.UnsupportedError, ValueError) as error:
        raise exc.NoSuchTableError(f"{name}: {error}") from error


def _type(data_type: DataType) -> Any:
    """Return the type of a column; nested ones have none."""
    if not isinstance(data_type, AtomicType):
        return types.NullType()
    if data_type.root is TypeRoot.DECIMAL:
        return types.DECIMAL(data_type.precision, data_type.scale)
    if data_type.root is TypeRoot.TIMESTAMP_LTZ:
        return types.TIMESTAMP(timezone=True)
    found = _TYPES.get(data_type.root)
    return types.NullType() if found is None else found()
