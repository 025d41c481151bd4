"""What to do about a finding, as a statement of Spark SQL and as Python."""

from __future__ import annotations

from typing import NamedTuple


class Action(NamedTuple):
    """The same, said twice; empty: nothing to run."""

    sql: str = ""
    python: str = ""


def call(procedure: str, table: str, **arguments: str | int) -> str:
    """Write a call of one of Paimon's procedures.

    Examples
    --------
    >>> call("compact", "db.t", compact_strategy="full")
    "CALL sys.compact(table => 'db.t', compact_strategy => 'full')"
    """
    given = {"table": table, **arguments}
    texts = [f"{name} => {_literal(value)}" for name, value in given.items()]
    return f"CALL sys.{procedure}({', '.join(texts)})"


def set_option(table: str, key: str, value: str) -> Action:
    """Write the change of an option.

    Examples
    --------
    >>> set_option("db.t", "bucket", "4").sql
    "ALTER TABLE `db`.`t` SET TBLPROPERTIES ('bucket' = '4')"
    """
    name = ".".join(f"`{part.replace('`', '``')}`" for part in table.split("."))
    return Action(
        f"ALTER TABLE {name} SET TBLPROPERTIES ({_literal(key)} = {_literal(value)})",
        f"catalog.alter_table({table!r}, paimonlab.SetOption({key!r}, {value!r}))",
    )


def _literal(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
