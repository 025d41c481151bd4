"""Table options that a Spark session sets: ``SET spark.paimon.<option>=…`` in SQL.

``spark.paimon.<catalog>.<database>.<table>.<option>`` is for one table, ``*`` stands for any
name; it goes before an option for all tables.

Source: https://paimon.apache.org/docs/master/spark/auxiliary/ and apache/paimon@5dacde5
``OptionUtils``, ``SparkConnectorOptions``, ``AbstractFileStoreTable.checkImmutability``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from paimonlab.errors import SchemaError, UnsupportedError, close_matches
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spec.options.table_options import check_known, find_option
from paimonlab.spec.schema.change_kinds import SetOption
from paimonlab.spec.schema.option_changes import set_option

if TYPE_CHECKING:
    from paimonlab.spec.schema.definition import TableSchema
    from paimonlab.table.table import Table

PREFIX = "spark.paimon."
MERGE_SCHEMA = "write.merge-schema"
EXPLICIT_CAST = "write.merge-schema.explicit-cast"
TYPE_WIDENING = "write.merge-schema.type-widening"
BRANCH = "branch"
"""Key of the option by which a session means a branch of all its tables."""
OF_WRITES = frozenset((MERGE_SCHEMA, EXPLICIT_CAST, TYPE_WIDENING))
"""Options that are about rows that are written, not about their table."""
FULL_SCAN = "read.allow.fullScan"
_OF_STATEMENTS = OF_WRITES | {BRANCH, FULL_SCAN}
"""Options that are about statements, not about the table that they read or write."""
READS = ("scan.", "incremental-", "read.")
"""How options begin that are about reads; procedures and the like read what they change."""
_OWN_PREFIX = "spark.paimonlab."
_OWN = frozenset(
    {
        *(
            "catalog",
            "hdfs.reader",
            "log-file",
            "masks.driver-rows",
            "s3.reader",
            "timestamps.cut-to-micros",
            "told",
        ),
    }
)
"""Settings of this package itself."""
_NAMED_BRANCH = "$branch_"
_TIMESTAMPS = "legacy-timestamp-mapping.enabled"
_REFUSED = {
    _TIMESTAMPS: "TIMESTAMP is Spark's TIMESTAMP_NTZ here; cast the column where it is read",
    "source.split.target-size-with-column-pruning": "Spark divides files here; use "
    "spark.sql.files.maxPartitionBytes",
    "write.data-evolution.update-conflict-retry.max-attempts": "a statement runs up to four times",
    "write.data-evolution.update-conflict-retry.wait-ms": "a statement runs again at once",
    "write.hive-style-dynamic-partition.enabled": "values go to columns in the order of the "
    "table, partition columns included; name the columns: INSERT INTO t (a, b, dt) SELECT …",
}
"""What Java Paimon's Spark connector reads of the session alone, and what to do instead."""
_NOTHING_TO_DO = frozenset(
    {
        *("format-table.repair.collect-statistics", "format-table.statistics.parallelism"),
        *("requiredSparkConfsCheck.enabled", "write.use-v2-write"),
        "vector-search.lateral-join.parallelism",
    }
)
"""What the connector reads of the session and what is done here anyway, or of features that are
refused."""
_WRITES_ONLY = frozenset(key for key in _REFUSED if key.startswith("write."))


@dataclass(frozen=True, slots=True)
class SessionOption:
    """An option as a session sets it."""

    setting: str
    """Its key in the session."""
    value: str


SessionOptions: TypeAlias = Mapping[str, SessionOption]
"""By their keys in the table."""


def session_options(bridge: Bridge, name: Sequence[str]) -> SessionOptions:
    """Return the options that the session sets for a table.

    Parameters
    ----------
    bridge
        The session.
    name
        Catalog, database and table.

    Raises
    ------
    SchemaError
        If an option is not known.
    """
    return options_for(bridge.settings(), name)


def chosen_branch(name: str, given: SessionOptions) -> str | None:
    """Return the branch that the session chose, unless the table's name has one; None: no branch.

    Examples
    --------
    >>> given = {"branch": SessionOption("spark.paimon.branch", "dev")}
    >>> chosen_branch("t$files", given), chosen_branch("t$branch_main$files", given)
    ('dev', None)
    """
    if _NAMED_BRANCH in name or BRANCH not in given:
        return None
    return given[BRANCH].value


def exact_name(bridge: Bridge, catalog: str, table: Table) -> list[str]:
    """Return the parts of a name that means a table on its branch, whatever the session chose.

    Parameters
    ----------
    bridge
        The session.
    catalog
        The name of its catalog.
    table
        The table.
    """
    database, _, name = table.name.partition(".")
    given = session_options(bridge, (catalog, database, table.identifier.table))
    return [
        catalog,
        database,
        name if chosen_branch(name, given) is None else f"{name}{_NAMED_BRANCH}main",
    ]


def options_of(given: SessionOptions, table: Table, *, writes: bool = False) -> dict[str, str]:
    """Return the options for a read or write of a table on its branch.

    Parameters
    ----------
    given
        What the session sets.
    table
        What is read or written.
    writes
        Whether rows are written.

    Raises
    ------
    UnsupportedError
        If an option cannot be obeyed, or cannot differ from that of the table.
    """
    for key, option in given.items():
        if key not in _WRITES_ONLY or writes:
            _check_obeyed(key, option)
        if key not in _REFUSED:
            _check_may_differ(key, option, table.schema, table.name)
    return {key: option.value for key, option in given.items() if key not in _OF_STATEMENTS}


def check_new_table(bridge: Bridge) -> None:
    """Check that the session does not choose other types for the columns of a new table.

    Raises
    ------
    UnsupportedError
        If it does.
    """
    value = bridge.conf.getConfString(PREFIX + _TIMESTAMPS, "false")
    _check_obeyed(_TIMESTAMPS, SessionOption(PREFIX + _TIMESTAMPS, str(value)))


def check_no_branch(bridge: Bridge, statement: str, instead: str) -> None:
    """Check that the session sets no branch, for statements that ignore it.

    Raises
    ------
    UnsupportedError
        If it does, for any table; names ``statement`` and says what to do ``instead``.
    """
    for key, value in bridge.settings().items():
        if key == PREFIX + BRANCH or (key.startswith(PREFIX) and key.endswith("." + BRANCH)):
            raise UnsupportedError(f"{statement} with {key} = {value!r}", instead)


def options_for(settings: Mapping[str, str], name: Sequence[str]) -> dict[str, SessionOption]:
    """Pick the options for a table out of all settings of a session.

    Examples
    --------
    >>> settings = {"spark.paimon.write-only": "true", "spark.paimon.*.db.*.scan.snapshot-id": "3"}
    >>> list(options_for(settings, ["paimon", "db", "t"]))
    ['write-only', 'scan.snapshot-id']
    >>> options_for(settings, ["paimon", "other", "t"])
    {'write-only': SessionOption(setting='spark.paimon.write-only', value='true')}
    """
    for_all: dict[str, SessionOption] = {}
    for_one: dict[str, SessionOption] = {}
    for key, value in settings.items():
        if key.startswith(_OWN_PREFIX) and key.removeprefix(_OWN_PREFIX) not in _OWN:
            close = close_matches(key.removeprefix(_OWN_PREFIX), _OWN)
            raise SchemaError(f"setting {key!r} is not known.{close}")
        if not key.startswith(PREFIX):
            continue
        option = key.removeprefix(PREFIX)
        *pattern, rest = option.split(".", 3)
        if find_option(option) is not None:
            for_all[option] = SessionOption(key, value)
        elif len(pattern) == 3 and find_option(rest) is not None:
            if all(part in {"*", own} for part, own in zip(pattern, name, strict=True)):
                for_one[rest] = SessionOption(key, value)
        else:
            check_known([option])
    return for_all | for_one


def _check_obeyed(key: str, option: SessionOption) -> None:
    spec = find_option(key)
    default = None if spec is None else spec.default
    if key == FULL_SCAN and option.setting != PREFIX + FULL_SCAN:
        raise UnsupportedError(
            f"{option.setting} = {option.value!r}", f"it is for all tables: {PREFIX}{FULL_SCAN}"
        )
    if key in _REFUSED and option.value.strip().lower() != default:
        raise UnsupportedError(f"{option.setting} = {option.value!r}", _REFUSED[key])
    if spec is None or spec.status != "accepted" or key in (*_REFUSED, *_NOTHING_TO_DO):
        return
    if default is None or not spec.is_default(option.value):
        raise UnsupportedError(
            f"{option.setting} = {option.value!r}",
            f"it has no effect here: RESET {option.setting}; a table may have it as a property",
        )


def _check_may_differ(key: str, option: SessionOption, schema: TableSchema, table: str) -> None:
    """Refuse options that decide where the rows of a table are, and which of them count."""
    if option.value == own_value(key, schema):
        return
    if key == "bucket":  # Java: AbstractFileStoreTable.copyInternal
        raise UnsupportedError(
            f"{option.setting} = {option.value!r} for {table}",
            "a session cannot change the number of buckets; CALL sys.rescale does",
        )
    if key == "upsert-key":
        raise UnsupportedError(
            f"{option.setting} = {option.value!r} for {table}",
            "which rows an INSERT replaces the table says: ALTER TABLE … SET TBLPROPERTIES",
        )
    try:
        set_option(schema, SetOption(key, option.value), has_snapshots=True)
    except SchemaError as error:
        raise UnsupportedError(
            f"{option.setting} = {option.value!r} for {table}", str(error)
        ) from None


def own_value(key: str, schema: TableSchema) -> str | None:
    """Return the table's own value of an option or the default; None if there is neither."""
    lists = {"primary-key": schema.primary_keys, "partition": schema.partition_keys}
    if key in lists:
        return ",".join(lists[key])
    spec = find_option(key)
    return schema.options.get(key, None if spec is None else spec.default)
