"""A call of a procedure as text: ``CALL sys.compact(table => 'db.t')``.

The text is one that Spark's parser reads, and so does Java Paimon's connector. The name of a
table is a text inside of it, which is parsed once more: parts that are not plain words stand in
back-quotes there.

Source: apache/spark v4.3.0 ``SqlBaseLexer.g4`` (IDENTIFIER, BACKQUOTED_IDENTIFIER) and
``ParserUtils.unescapeSQLString``.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\u0000"}


def call_text(procedure: str, table: str, **arguments: str | int) -> str:
    """Write a call of one of Paimon's procedures.

    Parameters
    ----------
    procedure
        Its name, without ``sys.``.
    table
        ``database.table``, as it is: no back-quotes.
    arguments
        The other arguments.

    Examples
    --------
    >>> call_text("compact", "db.t", compact_strategy="full")
    "CALL sys.compact(table => 'db.t', compact_strategy => 'full')"
    """
    table_name = "source_table" if procedure == "copy" else "table"
    given = {table_name: table_text(table), **arguments}
    texts = [f"{name} => {literal(value)}" for name, value in given.items()]
    return f"CALL sys.{procedure}({', '.join(texts)})"


def literal(value: str | int) -> str:
    r"""Write a value as a literal of Spark SQL.

    Examples
    --------
    >>> print(literal("it's"), literal(7))
    'it\'s' 7
    """
    if isinstance(value, int):
        return str(value)
    return "'" + "".join(_ESCAPES.get(character, character) for character in value) + "'"


def table_text(name: str) -> str:
    """Write the name of a table as a procedure parses it.

    Examples
    --------
    >>> print(table_text("db.t"), table_text("db.my orders"), table_text("db.t$branch_b"))
    db.t db.`my orders` db.`t$branch_b`
    """
    database, dot, table = name.partition(".")
    return ".".join(map(quoted, [database, table] if dot else [database]))


def quoted(part: str) -> str:
    """Write a name, with back-quotes unless it is a plain word.

    Examples
    --------
    >>> print(quoted("dt"), quoted("a.b"))
    dt `a.b`
    """
    return part if _PLAIN.fullmatch(part) else "`" + part.replace("`", "``") + "`"
