"""Default values of columns: a literal in SQL <-> the text that a Paimon schema holds."""

from __future__ import annotations

import re

from paimonlab.errors import UnsupportedError

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?(?P<suffix>[LSYDF]|BD)?", re.IGNORECASE)
_TEXT = re.compile(
    r"(DATE|TIMESTAMP|TIMESTAMP_NTZ|TIMESTAMP_LTZ)?\s*'(?P<text>(?:[^'\\]|'')*)'", re.IGNORECASE
)
_WORDS = frozenset({"true", "false"})


def default_text(sql: str, *, column: str) -> str | None:
    """Turn ``DEFAULT <sql>`` into the text that a schema file has; None for ``DEFAULT NULL``.

    Raises
    ------
    UnsupportedError
        If ``sql`` is not a plain literal: a schema file holds a value, not an expression.

    Examples
    --------
    >>> default_text("'it''s'", column="c"), default_text("-1.5", column="c")
    ("it's", '-1.5')
    """
    literal = sql.strip()
    if literal.upper() == "NULL":
        return None
    if literal.lower() in _WORDS:
        return literal.lower()
    if (number := _NUMBER.fullmatch(literal)) is not None:
        return literal.removesuffix(number["suffix"] or "")
    if (text := _TEXT.fullmatch(literal)) is not None:
        return text["text"].replace("''", "'")
    raise UnsupportedError(
        f"column {column!r} DEFAULT {sql}", "a default has to be a literal: number, text or date"
    )


def default_sql(text: str, type_name: str) -> str:
    """Turn the text of a schema file into SQL of that type.

    Examples
    --------
    >>> default_sql("it's", "string")
    "CAST('it''s' AS string)"
    """
    quoted = text.replace("\\", "\\\\").replace("'", "''")
    return f"CAST('{quoted}' AS {type_name})"
