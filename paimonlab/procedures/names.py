"""Names of tables as arguments: ``db.t``, ``t``, ``catalog.db.t``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.BaseProcedure``,
``org.apache.paimon.spark.utils.SparkUtils.catalogAndIdentifier``.
"""

from __future__ import annotations

import re

from paimonlab.errors import ArgumentError

_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")


def table_name(
    text: str,
    *,
    procedure: str,
    argument: str,
    default_database: str | None = None,
    catalog_name: str | None = None,
) -> str:
    """Return the name of a table as ``database.table``.

    Parameters
    ----------
    text
        One to three parts with dots between; a part in backquotes may hold anything.
    procedure, argument
        For messages.
    default_database
        The database of a name with one part.
    catalog_name
        The catalog that a name of three parts must begin with.

    Raises
    ------
    ArgumentError
        If the name has other parts, no database, or is of another catalog.

    Examples
    --------
    >>> table_name("paimon.db.`t$branch_b`", procedure="compact", argument="table",
    ...            catalog_name="paimon")
    'db.t$branch_b'
    """
    parts = _parts(text.strip())
    if parts is None or not 1 <= len(parts) <= 3:
        raise ArgumentError(
            procedure, f"{argument} => {text!r} is not a table name; write it as database.table"
        )
    if len(parts) == 3:
        if parts[0] != catalog_name:
            here = f"the catalog {catalog_name}" if catalog_name else "a catalog without a name"
            raise ArgumentError(
                procedure,
                f"{argument} => {text!r} is of the catalog {parts[0]}, and this is {here}; write "
                "it as database.table",
            )
        parts = parts[1:]
    if len(parts) == 1:
        if default_database is None:
            raise ArgumentError(
                procedure, f"{argument} => {text!r} has no database; write it as database.table"
            )
        parts = [default_database, *parts]
    return ".".join(parts)


def _parts(text: str) -> list[str] | None:
    parts = []
    position = 0
    while match := _PART.match(text, position):
        parts.append(match[2] if match[1] is None else match[1].replace("``", "`"))
        position = match.end()
        if position == len(text):
            return parts
        if text[position] != ".":
            return None
        position += 1
    return None
