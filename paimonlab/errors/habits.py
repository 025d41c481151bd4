"""Names that users of other libraries try, and what is here instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

from paimonlab.errors.base import close_matches

P = ParamSpec("P")
R = TypeVar("R")


def no_attribute(
    what: str, name: str, instead: Mapping[str, str], known: Iterable[str], otherwise: str = ""
) -> str:
    """Say that an object has no attribute, and what does what is probably meant.

    Examples
    --------
    >>> no_attribute("a table", "append", {"append": "write(rows)"}, ())
    "a table has no attribute 'append'; it is write(rows)"
    >>> no_attribute("a table", "snapshot_", {}, ("snapshot", "snapshots"))
    "a table has no attribute 'snapshot_'. Did you mean 'snapshot' or 'snapshots'?"
    """
    said = f"{what} has no attribute {name!r}"
    if name in instead:
        return f"{said}; it is {instead[name]}"
    if name.startswith("_"):
        return said
    public = (attribute for attribute in known if not attribute.startswith("_"))
    if close := close_matches(name, public):
        return f"{said}.{close}"
    return f"{said}; {otherwise}" if otherwise else said


def arguments(
    instead: Mapping[str, str], called: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function say what an argument is called here that other libraries call otherwise.

    What is given without a name beyond those that need none is answered with the names as well.

    Parameters
    ----------
    instead
        By the others' names; what is not the name of an argument says what to write.
    called
        What users call it; empty: as it is named.

    Examples
    --------
    >>> @arguments({"filter": "where"})
    ... def scan(columns=None, *, where=None, limit=None):
    ...     return where
    >>> scan(filter="id = 1")
    Traceback (most recent call last):
        ...
    TypeError: scan() has no argument 'filter'; it is 'where'
    >>> scan(["id"], "id = 1")
    Traceback (most recent call last):
        ...
    TypeError: scan() takes 'id = 1' by name only: where=…, limit=…
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own = called or function.__name__
        code = function.__code__  # inspect would have to be imported
        unnamed = code.co_argcount
        named = code.co_varnames[unnamed : unnamed + code.co_kwonlyargcount]

        @wraps(function)
        def checked(*args: P.args, **given: P.kwargs) -> R:
            for name in given:
                if name in instead:
                    ours = instead[name]
                    raise TypeError(
                        f"{own}() has no argument {name!r}; "
                        f"it is {repr(ours) if ours.isidentifier() else ours}"
                    )
            if len(args) > unnamed and named:
                raise TypeError(
                    f"{own}() takes {_shown(args[unnamed])} by name only: "
                    f"{', '.join(f'{name}=…' for name in named)}"
                )
            return function(*args, **given)

        return checked

    return decorate


def written(
    example: str, *, most: int, least: int = 0, known: Iterable[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function show how it is called where it is called otherwise.

    Parameters
    ----------
    example
        Calls that work.
    most, least
        How many arguments may, and must, be given by their places; of the first ``least`` names
        of ``known`` each may be given by its name instead.
    known
        All names of arguments; empty: whatever is given by name is not looked at.

    Examples
    --------
    >>> @written("f(1), f(x=1)", most=1, least=1, known=["x"])
    ... def f(x):
    ...     return x
    >>> f(1), f(x=2)
    (1, 2)
    >>> f(y=1)
    Traceback (most recent call last):
        ...
    TypeError: f() is written f(1), f(x=1)
    """
    names = tuple(known)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*args: P.args, **given: P.kwargs) -> R:
            lacks = sum(name not in given for name in names[:least]) > len(args)
            if lacks or len(args) > most or (names and not given.keys() <= {*names}):
                raise TypeError(f"{function.__name__}() is written {example}")
            return function(*args, **given)

        return checked

    return decorate


def _shown(given: object) -> str:
    """Write an argument, a frame or a table by its type alone."""
    if isinstance(given, str | int | float) and len(said := repr(given)) <= 60:
        return said
    return f"a {type(given).__name__}"


class FamiliarNames:
    """Base of classes whose users may look for names that other libraries have."""

    _what: ClassVar[str]
    _instead: ClassVar[Mapping[str, str]]
    _otherwise: ClassVar[str]
    """What to say where nothing has a name like it."""

    def __init_subclass__(
        cls,
        *,
        what: str = "",
        instead: Mapping[str, str] | None = None,
        otherwise: str = "",
        **others: Any,
    ) -> None:
        super().__init_subclass__(**others)
        if what:
            cls._what, cls._instead, cls._otherwise = what, instead or {}, otherwise

    if not TYPE_CHECKING:  # a type checker knows all attributes

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                no_attribute(self._what, name, self._instead, dir(type(self)), self._otherwise)
            )


class NotSequence:
    """Base of what has rows and columns, and is neither a list of them nor a dict.

    Each of these would read a whole table, which nobody is to do by accident.
    """

    _called: ClassVar[str]
    _length: ClassVar[str]
    _rows: ClassVar[str]
    _part: ClassVar[str]

    def __init_subclass__(
        cls, *, called: str = "", length: str = "", rows: str = "", part: str = "", **others: Any
    ) -> None:
        super().__init_subclass__(**others)
        if called:
            cls._called, cls._length, cls._rows, cls._part = called, length, rows, part

    if not TYPE_CHECKING:  # a type checker says that it is none

        def __bool__(self) -> bool:
            return True  # whatever it has

        def __len__(self) -> int:
            raise TypeError(f"{self._called} has no len(): its rows are counted by {self._length}")

        def __iter__(self) -> Any:
            raise TypeError(
                f"{self._called} is no list of rows: read them by {self._rows}, or all as "
                "Arrow, pandas or polars"
            )

        def __getitem__(self, part: object) -> Any:
            said = (
                self._part.format(part) if isinstance(part, str) else "table.scan(columns, where)"
            )
            raise TypeError(f"{self._called} has no parts in brackets: write {said}")


class IsAttribute:
    """Base of what is an attribute here and a method in other libraries: ``table.schema``.

    Without it a call would be "'TableSchema' object is not callable", which does not say what to
    write.
    """

    __slots__ = ()
    _written: ClassVar[str]
    """What stands for it in a program."""

    def __init_subclass__(cls, *, written: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if written:
            cls._written = written

    if not TYPE_CHECKING:  # a type checker says that it is not callable

        def __call__(self, *_given: object, **_named: object) -> Any:
            """Say that it is called without brackets."""
            raise TypeError(f"{self._written} is not a method: leave out the brackets{self._more}")

        @property
        def _more(self) -> str:
            if not hasattr(self, "list"):
                return ""
            return f", as in list({self._written}) or {self._written}.list()"


_EXCEL = ", which needs pip install openpyxl"
TABLE = {
    "append": "write(rows)",
    "insert": "write(rows)",
    "upsert": "write(rows): rows replace those with the same primary key",
    "replace": "overwrite(rows)",
    "dynamic_partition_overwrite": "overwrite(rows, dynamic=True)",
    "add": "write(rows)",
    "to_arrow": "scan().to_arrow()",
    "to_batches": "scan().to_batches()",
    "to_pandas": "scan().to_pandas()",
    "to_polars": "scan().to_polars()",
    "to_pyarrow_dataset": "scan().to_batches()",
    "to_pyarrow_table": "scan().to_arrow()",
    "to_table": "scan().to_arrow()",
    "toPandas": "scan().to_pandas()",
    "collect": "scan().to_arrow().to_pylist()",
    "count": "scan().count()",
    "rows": "scan().count(), or scan().to_arrow()",
    "row_count": "scan().count()",
    "shape": "scan().count() and arrow_schema.names",
    "size": "scan().plan().files",
    "info": "schema, options or snapshot",
    "query": "scan(columns, where), or paimonlab.sql(…, catalog=catalog)",
    "sql": "scan(columns, where), or paimonlab.sql(…, catalog=catalog)",
    "to_df": "scan().to_pandas() or scan().to_polars()",
    "df": "scan().to_pandas()",
    "merge_into": "merge(rows, on='id')",
    "snapshot_by_id": "snapshots[id]",
    "snapshot_list": "snapshots",
    "get": "lookup({'id': [1]})",
    "num_rows": "scan().count()",
    "partitions": "catalog.system_table('db.t$partitions').scan()",
    "detail": "options, or catalog.system_table('db.t$files').scan()",
    "health": "paimonlab.analysis.catalog_health(catalog, ['db.t'])",
    "head": "scan(limit=5).to_pandas()",
    "read": "scan()",
    "describe": "schema or options",
    "limit": "scan(limit=…)",
    "select": "scan(columns, where)",
    "explain": "scan(columns, where).explain()",
    "filter": "scan(where=…)",
    "where": "scan(where=…)",
    "columns": "arrow_schema.names",
    "dtypes": "arrow_schema",
    "files": "scan().plan().files",
    "file_uris": "scan().plan().files",
    "get_add_actions": "scan().plan().files",
    "version": "snapshot.id",
    "current_snapshot": "snapshot",
    "inspect": "snapshots, or catalog.system_table('db.t$files').scan()",
    "refs": "tags or branches",
    "metadata": "schema or snapshot",
    "metadata_location": "path",
    "properties": "options",
    "location": "path",
    "spec": "partition_keys",
    "partition_by": "partition_keys",
    "update_spec": "partition_keys, which stay: create another table with those that are wanted",
    "snapshot_as_of_timestamp": "scan(timestamp=…)",
    "num_files": "scan().plan().files",
    "load_as_version": "scan(snapshot=…), scan(tag=…) or scan(timestamp=…)",
    "restore": "maintenance.rollback_to(snapshot=…)",
    "rollback": "maintenance.rollback_to(snapshot=…)",
    "rollback_to_snapshot": "maintenance.rollback_to(snapshot=…)",
    "optimize": "compact()",
    "rewrite_data_files": "compact()",
    "rewrite_manifests": "compact_manifests()",
    "vacuum": "maintenance.expire_snapshots()",
    "expire": "maintenance.expire_snapshots()",
    "expire_old_snapshots": "maintenance.expire_snapshots()",
    "delete_orphan_files": "maintenance.remove_orphan_files()",
    "update_schema": "catalog.alter_table(name, AddColumn(…))",
    "alter": "catalog.alter_table(name, …)",
    "add_column": "catalog.alter_table(name, AddColumn(…))",
    "drop_column": "catalog.alter_table(name, DropColumn(…))",
    "drop": "catalog.drop_table(name)",
    "rename": "catalog.rename_table(name, 'db.new')",
    "rename_column": "catalog.alter_table(name, RenameColumn(…))",
    "set_option": "catalog.alter_table(name, SetOption(…))",
    "set_properties": "catalog.alter_table(name, SetOption(…))",
    "tag": "tags, or tags.create(name)",
    "create_tag": "tags.create(name)",
    "delete_tag": "tags.delete(name)",
    "branch": "branches, or branches.create(name)",
    "create_branch": "branches.create(name)",
    "delete_branch": "branches.delete(name)",
    "checkout": "branches[name]",
    "manage_snapshots": "tags, branches or maintenance.rollback_to(…)",
    "add_files": "catalog.migrate_folder(folder, name)",
    "plan_files": "scan().plan().files",
    "transaction": "new_writer(), then commit(messages)",
    "sort_order": "primary_keys",
    "new_read_builder": "scan(columns, where)",
    "new_batch_write_builder": "write(rows), or new_writer() and commit(messages)",
    "new_stream_write_builder": "new_writer(), then commit(messages)",
    "sample": "scan(limit=5).to_pandas(), or scan().to_pandas().sample(5)",
    "tail": "scan().to_pandas().tail()",
    "iterrows": "scan().to_batches()",
    "undo": "maintenance.rollback_to(snapshot=…) to one of snapshots",
    "revert": "maintenance.rollback_to(snapshot=…) to one of snapshots",
    "reset": "maintenance.rollback_to(snapshot=…) to one of snapshots",
    "diff": "changes('yesterday'), or changes(3, 5): after snapshot 3, up to 5",
    "compare": "changes(3, 5): after snapshot 3, up to 5",
    "to_csv": "scan().to_pandas().to_csv(path)",
    "to_excel": f"scan().to_pandas().to_excel(path, index=False){_EXCEL}",
    "to_parquet": "scan().to_pandas().to_parquet(path), or scan().to_batches()",
    "to_json": "scan().to_pandas().to_json(path)",
    "to_dict": "scan().to_arrow().to_pylist()",
    "plot": "scan().to_pandas().plot()",
    "at": "scan(snapshot=…), scan(tag=…) or scan(timestamp=…)",
    "as_of": "scan(snapshot=…), scan(tag=…) or scan(timestamp=…)",
    "z_order": "compact(order_by=['a', 'b'], strategy='zorder')",
    "zorder": "compact(order_by=['a', 'b'], strategy='zorder')",
    "create_index": "catalog.alter_table(name, SetOption('file-index.bloom-filter.columns', …))",
    "clone": "catalog.copy_table(name, 'db.new')",
    "copy": "catalog.copy_table(name, 'db.new')",
}
"""Of deltalake, pyiceberg, pypaimon, pandas, polars and Spark, on a table."""
_MERGE = "merge(rows, on='id').when_matched_update().when_not_matched_insert().execute()"
WITHOUT_KEY = dict.fromkeys(("upsert",), f"{_MERGE}, as the table has no primary key")
"""The same on a table without a primary key, where something else does it."""
MERGE = {
    "when_matched_update_all": "when_matched_update()",
    "whenMatchedUpdateAll": "when_matched_update()",
    "whenMatchedUpdate": "when_matched_update(values)",
    "whenMatchedDelete": "when_matched_delete()",
    "when_not_matched_insert_all": "when_not_matched_insert()",
    "whenNotMatchedInsertAll": "when_not_matched_insert()",
    "whenNotMatchedInsert": "when_not_matched_insert(values)",
    "when_not_matched_by_target_insert": "when_not_matched_insert(values)",
    "whenNotMatchedBySourceUpdate": "when_not_matched_by_source_update(values)",
    "whenNotMatchedBySourceDelete": "when_not_matched_by_source_delete()",
    "whenMatched": "when_matched_update(values) or when_matched_delete()",
    "whenNotMatched": "when_not_matched_insert(values)",
    "whenNotMatchedBySource": (
        "when_not_matched_by_source_update(values) or when_not_matched_by_source_delete()"
    ),
    "with_schema_evolution": "catalog.alter_table(name, AddColumn(…)), before the merge",
    "merge": "execute()",
    "run": "execute()",
    "commit": "execute()",
    "on": "table.merge(source, on=…)",
}
"""Of deltalake and Spark, on a merge that is not executed yet."""
MERGE_BEGUN = dict.fromkeys(("predicate", "condition", "join_cols", "keys"), "on")
"""Arguments of merges of deltalake and of upserts of pyiceberg."""
CONDITION = dict.fromkeys(("predicate", "condition"), "where")
CLAUSE = {**CONDITION, "updates": "values", "set": "values"}
"""Arguments of clauses of merges of deltalake and Spark."""
MAINTENANCE = {
    "vacuum": "expire_snapshots(), and remove_orphan_files()",
    "expire": "expire_snapshots()",
    "optimize": "table.compact()",
    "compact": "table.compact()",
    "rewrite_data_files": "table.compact()",
    "rollback": "rollback_to(snapshot=…)",
    "restore": "rollback_to(snapshot=…)",
    "delete_orphan_files": "remove_orphan_files()",
    "fsck": "table.fsck()",
}
"""Of deltalake, pyiceberg and Spark, on the maintenance of a table."""
SCAN = {
    "row_filter": "where",
    "filter": "where",
    "filters": "where",
    "predicate": "where",
    "selected_fields": "columns",
    "select": "columns",
    "projection": "columns",
    "snapshot_id": "snapshot",
    "as_of": "version",
    "as_of_timestamp": "timestamp",
    "as_of_version": "snapshot",
    "n_rows": "limit",
    "branch": "table.branches['name'].scan(…)",
    "ref": "tag, or table.branches['name'].scan(…)",
    **dict.fromkeys(
        ("order_by", "sort_by", "sort"),
        "to_pandas().sort_values(…) of what is read, as rows come in no order",
    ),
}
"""Arguments of reads of pyiceberg, deltalake, polars and pyarrow."""
READ = {
    "plan_files": "plan().files",
    "to_table": "to_arrow()",
    "to_pyarrow": "to_arrow()",
    "to_arrow_batch_reader": "to_batches()",
    "to_record_batches": "to_batches()",
    "toPandas": "to_pandas()",
    "df": "to_pandas()",
    "pl": "to_polars()",
    "collect": "to_arrow().to_pylist()",
    "num_rows": "count()",
    "show": "to_pandas()",
    "filter": "table.scan(where=…)",
    "where": "table.scan(where=…)",
    "select": "table.scan(columns)",
    "head": "table.scan(limit=…)",
    "to_df": "to_pandas() or to_polars()",
    "fetchall": "to_arrow().to_pylist()",
    "fetchone": "to_arrow().to_pylist()",
    "arrow": "to_arrow()",
    "to_pylist": "to_arrow().to_pylist()",
    "dtypes": "arrow_schema",
    "to_csv": "to_pandas().to_csv(path)",
    "to_excel": f"to_pandas().to_excel(path, index=False){_EXCEL}",
    "to_parquet": "to_pandas().to_parquet(path), or to_batches()",
    "groupby": "to_pandas().groupby(…)",
    "group_by": "to_polars().group_by(…)",
    "iterrows": "to_batches()",
    "read": "to_arrow()",
    "execute": "to_arrow()",
    "limit": "table.scan(limit=…)",
    "use_ref": "table.scan(tag=…), or table.branches['name'].scan(…)",
}
"""Of pyiceberg, DuckDB, polars and Spark, on a read."""
RESULT = {
    "describe": "to_pandas().describe()",
    "head": "to_pandas().head()",
    "df": "to_pandas()",
    "pl": "to_polars()",
    "arrow": "to_arrow()",
    "fetchall": "to_arrow().to_pylist()",
    "collect": "to_arrow().to_pylist()",
    "show": "view",
    "shape": "to_arrow().shape",
    "columns": "to_arrow().column_names",
    "dtypes": "to_arrow().schema",
    "schema": "to_arrow().schema",
    "loc": "to_pandas()",
    "iloc": "to_pandas()",
    "filter": "to_polars().filter(…)",
    "groupby": "to_pandas().groupby(…)",
    "group_by": "to_polars().group_by(…)",
    "to_dicts": "to_arrow().to_pylist()",
    "to_csv": "export(path), or --to rows.csv for all rows",
    "to_parquet": "export(path), or --to rows.parquet for all rows",
    "to_excel": f"to_pandas().to_excel(path, index=False){_EXCEL}",
    "save": "export(path), whose ending .csv, .parquet, .md or another says how",
    "createOrReplaceTempView": "spark; a result is a table of later queries under its variable",
}
"""Of data frames, DuckDB and Spark, on the result of a statement."""
TAG = {"snapshot_id": "snapshot", "version": "snapshot", "max_ref_age_ms": "time_retained"}
"""Arguments of new tags of pyiceberg and Spark."""
BRANCH = dict.fromkeys(("snapshot_id", "version"), "snapshot")
"""Arguments of new branches of pyiceberg and Spark."""
ROLLBACK = {
    "snapshot_id": "snapshot",
    "version": "snapshot",
    "timestamp_ms": "timestamp",
}
"""Arguments of rollbacks of pyiceberg, deltalake and Spark."""
WRITE = {"mode": "overwrite(rows), or catalog.write_table(name, rows, mode=…)"}
"""Arguments of writes of deltalake, pandas and polars."""
EXPIRED = dict.fromkeys(
    ("by_id", "by_ids", "older_than", "retain_last", "commit", "execute"),
    "done: expire_snapshots(retain_max=…, older_than=…, dry_run=…) takes all of it at once",
)
"""Of pyiceberg and Spark, on what an expiry did."""
NEW_COLUMN = {
    "default": "UpdateColumnDefault(name, value), given after it",
    "default_value": "UpdateColumnDefault(name, value), given after it",
    "doc": "comment",
    "field_type": "type",
    "data_type": "type",
    "required": "UpdateColumnNullability(name, False), once no row has null there",
}
"""Arguments of new columns of pyiceberg and Spark."""
SINCE = {"since": "start", "from_": "start", "begin": "start", "until": "end", "to": "end"}
"""Arguments of reads of changes."""
DELETE = dict.fromkeys(("delete_filter", "filter", "predicate", "row_filter"), "where")
"""Arguments of deletes of pyiceberg and deltalake."""
DUCKDB = {
    **dict.fromkeys(
        ("table_name", "view_name", "alias"),
        "name, which SQL of the connection finds: to_duckdb(connection, name='orders')",
    ),
    "con": "connection",
}
"""Arguments of what gives DuckDB a table in pyiceberg and in DuckDB itself."""
EXPIRE = {
    "retain_last": "retain_min",
    "min_snapshots_to_keep": "retain_min",
    "retention_hours": "older_than",
    "max_snapshot_age": "older_than",
}
"""Arguments of expiries of Iceberg and deltalake."""
OVERWRITE = {"overwrite_filter": "partition", "predicate": "partition"}
"""Arguments of overwrites of pyiceberg and deltalake."""
CREATE = {
    "partition_spec": "partition_keys",
    "partition_by": "partition_keys",
    "partitionBy": "partition_keys",
    "partitioned_by": "partition_keys",
    "partition_columns": "partition_keys",
    "identifier_fields": "primary_keys",
    "primary_key": "primary_keys",
    "keys": "primary_keys",
    "properties": "options",
    "configuration": "options",
    "location": "options={'path': …} where a metastore or a server keeps the catalog, else where "
    "the warehouse has its tables",
    "sort_order": "primary_keys",
}
"""Arguments of new tables of pyiceberg, deltalake, pypaimon and Spark."""
EXISTING = dict.fromkeys(("ignore_if_exists", "if_not_exists", "exists_ok"), "exist_ok")
"""Arguments of pypaimon, Spark and ibis for what may be there already."""
DATABASE = {**EXISTING, "properties": "options", "comment": "options"}
"""Arguments of new databases of pypaimon and Spark."""
DROP = {
    "ignore_if_not_exists": "missing_ok",
    "if_exists": "missing_ok",
    "not_exists_ok": "missing_ok",
}
"""Arguments of what is dropped in pypaimon, Spark and ibis."""
CATALOG = {
    "load_table": "table(name)",
    "get_table": "table(name)",
    "list_tables": "tables(database)",
    "table_exists": "has_table(name)",
    "list_namespaces": "databases()",
    "list_databases": "databases()",
    "namespaces": "databases()",
    "health": "paimonlab.analysis.catalog_health(catalog)",
    "create_namespace": "create_database(name)",
    "drop_namespace": "drop_database(name)",
    "namespace_exists": "has_database(name)",
    "database_exists": "has_database(name)",
    "create_namespace_if_not_exists": "create_database(name, exist_ok=True)",
    "create_table_if_not_exists": "create_table(…, exist_ok=True)",
    "purge_table": "drop_table(name)",
    "sync_to": "statements_for(engine), whose text that engine is told",
    "sql": "paimonlab.sql(…, catalog=catalog)",
    "execute": "paimonlab.sql(…, catalog=catalog)",
    "query": "paimonlab.sql(…, catalog=catalog)",
    "read_table": "table(name).scan()",
    "register_table": "register(name, folder)",
    "drop": "drop_table(name)",
    "rename": "rename_table(name, 'db.new')",
    "create": "create_table(name, columns), or create_database(name)",
    "save_table": "write_table(name, rows)",
    "write": "write_table(name, rows)",
    "schemas": "databases()",
    "use": "table('db.t'): a table is named with its database",
    "cursor": "paimonlab.dbapi.connect(path).cursor()",
}
"""Of pyiceberg, DuckDB and Spark, on a catalog."""
SERVER = {
    **dict.fromkeys(("uri", "url", "host", "port", "base_url"), "address"),
    **dict.fromkeys(("shutdown", "close", "terminate", "kill"), "stop()"),
    **dict.fromkeys(("run", "serve_forever", "join"), "wait()"),
    **dict.fromkeys(("connect", "client", "catalog"), "paimonlab.connect(server.options)"),
}
"""Of servers of other libraries, on one that serves a catalog."""
PACKAGE = {
    "load_catalog": "connect(path)",
    "CatalogFactory": "connect(path)",
    "SqlCatalog": "connect(path)",
    "open": "connect(path)",
    "open_catalog": "connect(path)",
    "DeltaTable": "connect(path).table(name)",
    "StaticTable": "connect(path).table(name)",
    "load_table": "connect(path).table(name)",
    "open_table": "connect(path).table(name)",
    "read_table": "connect(path).table(name).scan()",
    "write_deltalake": "connect(path).write_table(name, rows)",
    "write_table": "connect(path).write_table(name, rows)",
}
"""Of pyiceberg, deltalake and pypaimon, in the package itself."""

COMMANDS = {
    "optimize": "compact",
    "history": "snapshots",
    "log": "snapshots",
    "vacuum": "expire, and orphans for files that nothing refers to",
    "ls": "tables",
    "list": "tables",
    "tag": "create-tag, or tags for those there are",
    "branch": "create-branch, or branches for those there are",
    "schema": "describe, or schemas for all there were",
    "restore": "rollback",
    **dict.fromkeys(("undo", "revert", "reset"), "rollback"),
    **dict.fromkeys(("why", "slow", "diagnose", "analyse", "advise"), "health"),
    "import": "load",
    "query": "sql",
    "select": "sql 'SELECT …'",
    "cat": "scan",
    "head": "scan -n",
    "drop": "sql 'DROP TABLE …'",
    "check": "fsck, or health",
    "databases": "tables",
    "insert": "load, or sql 'INSERT INTO …'",
    "delete": "sql 'DELETE FROM …'",
    "update": "sql 'UPDATE …'",
    "merge": "sql 'MERGE INTO …'",
    "alter": "sql 'ALTER TABLE …'",
    "truncate": "sql 'TRUNCATE TABLE …'",
    "export": "sql 'SELECT …' --format csv",
    "info": "describe",
    "show": "describe, or tables",
    "rename": "sql 'ALTER TABLE … RENAME TO …'",
    "explain": "sql 'EXPLAIN SELECT …'",
    "count": "scan --count",
    "tune": "health",
    "stats": "statistics, or analyze to compute them",
    "upsert": "load, where the table has a primary key",
    "append": "load",
    "write": "load",
    "read": "scan",
    "clean": "expire, and orphans for files that nothing refers to",
    "gc": "expire, and orphans for files that nothing refers to",
    "copy": "clone, or sql 'CREATE TABLE … AS SELECT …'",
    "diff": "changes",
    "time-travel": "scan --snapshot, --tag or --timestamp",
    "checkout": "scan --snapshot, --tag or --timestamp",
    "new": "create",
    "init": "create DATABASE, which makes the warehouse too",
    "shell": "sql",
    "repl": "sql",
    "connect": "tables WAREHOUSE, and PAIMONLAB_WAREHOUSE for all that follows",
    "profile": "sql, or %paimon_profile in a notebook,",
    "with": "sql 'WITH …'",
    "properties": "options, or describe",
    "list-refs": "tags, or branches",
    "spec": "describe",
    "location": "describe",
    "rest": "serve",
}
"""Commands of other tools, of a shell."""
SHELL_OPTIONS = {
    **dict.fromkeys(("--pk", "--key", "--keys", "--primary-keys"), "--primary-key"),
    **dict.fromkeys(("--partitioned-by", "--partition-keys"), "--partition-by"),
    **dict.fromkeys(("--retain-last", "--keep-last"), "--retain-min"),
    **dict.fromkeys(("-y", "--force"), "--yes"),
    "--csv": "--format csv",
    **dict.fromkeys(("--since", "--from"), "START: paimonlab changes DB.TABLE yesterday"),
    **dict.fromkeys(("--keep", "--retain"), "--retain-max"),
    "--format": "--json",
    "--schema": "'id BIGINT' 'name STRING' …, without a name",
    **dict.fromkeys(
        ("--upsert", "--append"),
        "not needed: rows are added, and replace those with the same primary key",
    ),
}
"""Options of other tools, of a shell, where no command has them or some have not."""
PROCEDURES = {
    "rewrite_data_files": "compact",
    "optimize": "compact",
    "rewrite_manifests": "compact_manifest",
    "rollback_to_snapshot": "rollback",
    "set_current_snapshot": "rollback",
    "restore": "rollback",
    "vacuum": "expire_snapshots",
    "rewrite_position_delete_files": "compact",
    "migrate": "migrate_table",
    "snapshot": "migrate_table",
    "add_files": "migrate_table",
}
"""Procedures of other formats, and those of the same purpose here."""
STATEMENTS = {
    "create_changelog_view": "SELECT * FROM paimon_incremental_query('db.t', 1, 5)",
    "ancestors_of": "SELECT * FROM db.t$snapshots",
    "compute_table_stats": "ANALYZE TABLE db.t COMPUTE STATISTICS",
}
"""Procedures of other formats that statements stand for here."""
PARAMETERS = {
    "retain_last": "retain_min",
    "snapshot_id": "snapshot",
    "snapshot_ids": "snapshot",
    "branch_name": "branch",
    "source_branch": "branch",
    "tag_name": "tag",
    "table_name": "table",
}
"""Parameters of procedures of other formats."""


OPTIONS = {
    "delta.enablechangedatafeed": "changelog-producer",
    "delta.enabledeletionvectors": "deletion-vectors.enabled",
    "delta.logretentionduration": "snapshot.time-retained",
    "delta.deletedfileretentionduration": "snapshot.time-retained",
    "delta.targetfilesize": "target-file-size",
    "delta.autooptimize.autocompact": "write-only",
    "write.delete.mode": "deletion-vectors.enabled",
    "write.merge.mode": "deletion-vectors.enabled",
    "write.update.mode": "deletion-vectors.enabled",
    "write.format.default": "file.format",
    "write.parquet.compression-codec": "file.compression",
    "write.target-file-size-bytes": "target-file-size",
    "history.expire.max-snapshot-age-ms": "snapshot.time-retained",
    "history.expire.min-snapshots-to-keep": "snapshot.num-retained.min",
    "hoodie.datasource.write.recordkey.field": "primary-key",
    "hoodie.datasource.write.precombine.field": "sequence.field",
    "replacewhere": "INSERT INTO t REPLACE WHERE …",
    "partitionoverwritemode": "spark.sql.sources.partitionOverwriteMode, of the session",
    **dict.fromkeys(("mergeschema", "merge-schema"), "write.merge-schema"),
    **dict.fromkeys(("readchangefeed", "readchangedata"), "incremental-between"),
    **dict.fromkeys(("startingversion", "start-snapshot-id"), "incremental-between"),
    **dict.fromkeys(("startingtimestamp", "start-timestamp"), "incremental-between-timestamp"),
    "snapshot-id": "scan.snapshot-id",
    "as-of-timestamp": "scan.timestamp-millis",
    "stream-from-timestamp": "scan.timestamp-millis",
    "tag": "scan.tag-name",
    "maxfilespertrigger": "read.stream.maxFilesPerTrigger",
    "maxbytespertrigger": "read.stream.maxBytesPerTrigger",
}
"""Options of tables, reads and writes by those of Delta, Iceberg and Hudi, in lower case."""


def procedure(name: str) -> str:
    """Return the name here of a procedure that may be another format's.

    Examples
    --------
    >>> procedure("rewrite_data_files"), procedure("compact")
    ('compact', 'compact')
    """
    return PROCEDURES.get(name.lower(), name)


def parameter(name: str, known: Iterable[str]) -> str:
    """Say which parameter of a procedure is meant by another format's, or nothing.

    Examples
    --------
    >>> parameter("retain_last", ["table", "retain_min"])
    ' It is retain_min.'
    >>> parameter("retain_last", ["table"])
    ''
    """
    if name.lower() == "dry_run":
        return (
            " What it would do is shown by paimonlab call --dry-run in a shell, and in Python by "
            "the verbs of table.maintenance with dry_run=True."
        )
    meant = PARAMETERS.get(name.lower())
    return f" It is {meant}." if meant and meant in known else ""
