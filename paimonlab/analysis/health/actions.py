"""What to do about a finding, as a statement of Spark SQL, as Python and for a shell."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from paimonlab.spec.sql_text.call_text import literal, quoted

_SPECIAL = re.compile(r'([\\"`$])')
"""What means something to a shell between double quotes."""


class Action(NamedTuple):
    """One action in three languages; empty if there is nothing to run."""

    sql: str = ""
    python: str = ""
    shell: str = ""


def set_option(table: str, key: str, value: str) -> Action:
    """Write the change of an option.

    Examples
    --------
    >>> set_option("db.t", "bucket", "4").sql
    "ALTER TABLE `db`.`t` SET TBLPROPERTIES ('bucket' = '4')"
    """
    parts = table.split(".")
    name = ".".join(f"`{part.replace('`', '``')}`" for part in parts)
    plain = ".".join(map(quoted, parts))
    change = f"SET TBLPROPERTIES ({literal(key)} = {literal(value)})"
    statement = _SPECIAL.sub(r"\\\1", f"ALTER TABLE {plain} {change}")
    return Action(
        f"ALTER TABLE {name} {change}",
        f"catalog.alter_table({table!r}, paimonlab.SetOption({key!r}, {value!r}))",
        f'paimonlab sql "{statement}"',
    )


def select(table: str) -> Action:
    """Write the query of all rows of a table.

    Examples
    --------
    >>> select("db.t").shell
    'paimonlab sql "SELECT * FROM db.t"'
    """
    query = "SELECT * FROM " + ".".join(map(quoted, table.split(".")))  # noqa: S608 - it is shown
    return Action(
        query,
        f"catalog.table({table!r}).scan().to_arrow()",
        'paimonlab sql "' + _SPECIAL.sub(r"\\\1", query) + '"',
    )


def shell(command: str, table: str, *arguments: str) -> str:
    """Write a command for a shell, of the warehouse that is configured.

    Examples
    --------
    >>> shell("expire", "db.t", "--retain-max", "500")
    'paimonlab expire db.t --retain-max 500'
    """
    return shlex.join(["paimonlab", command, table, *arguments])
