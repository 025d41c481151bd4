"""What to do about a finding, as a statement of Spark SQL and as Python."""

from __future__ import annotations

from typing import NamedTuple

from paimonlab.spec.sql_text.call_text import literal


class Action(NamedTuple):
    """One action in two languages; empty if there is nothing to run."""

    sql: str = ""
    python: str = ""


def set_option(table: str, key: str, value: str) -> Action:
    """Write the change of an option.

    Examples
    --------
    >>> set_option("db.t", "bucket", "4").sql
    "ALTER TABLE `db`.`t` SET TBLPROPERTIES ('bucket' = '4')"
    """
    name = ".".join(f"`{part.replace('`', '``')}`" for part in table.split("."))
    return Action(
        f"ALTER TABLE {name} SET TBLPROPERTIES ({literal(key)} = {literal(value)})",
        f"catalog.alter_table({table!r}, paimonlab.SetOption({key!r}, {value!r}))",
    )
