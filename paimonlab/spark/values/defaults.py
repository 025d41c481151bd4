"""Default values of columns: a literal in SQL <-> the text that a Paimon schema holds."""

from __future__ import annotations

import re

from paimonlab.errors import UnsupportedError
from paimonlab.spec.sql_text.tokens import TokenKind, tokenize

_NUMBER = r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)(?:[LSYDF]|BD)?"
_TYPED = r"(?:DATE|TIMESTAMP|TIMESTAMP_NTZ|TIMESTAMP_LTZ)"
_TEXT = r"'(?P<text>(?:[^'\\]|'')*)'"
_CAST = r"CAST\('(?P<cast>(?:[^'\\]|'')*)' AS [\w(), <>:]+\)"
_LITERAL = re.compile(
    rf"(?P<word>true|false)|{_NUMBER}|(?:{_TYPED}\s*)?{_TEXT}|{_CAST}", re.IGNORECASE
)

_PLAIN = frozenset(
    {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal"}
)
_QUOTED = {
    "string": "",
    "char": "",
    "varchar": "",
    "date": "DATE ",
    "timestamp": "TIMESTAMP ",
    "timestamp_ntz": "TIMESTAMP_NTZ ",
}
_NESTED = re.compile(r"\s*(?:array|map|struct|named_struct)\s*\(.*\)\s*", re.IGNORECASE | re.DOTALL)
_IN_NESTED = re.compile(
    r"array|map|struct|named_struct|true|false|null|date|timestamp(?:_ntz|_ltz)?|\d\w*",
    re.IGNORECASE,
)
_SYMBOLS = frozenset("(),.+-")


def default_text(sql: str, *, column: str) -> str | None:
    """Turn ``DEFAULT <sql>`` into the text that a schema file has; None for ``DEFAULT NULL``.

    Nested values stay as they are written, as Java Paimon's connector keeps them.

    Raises
    ------
    UnsupportedError
        If ``sql`` is neither a literal nor an array, map or struct of literals: a schema file holds
        a value, not an expression.

    Examples
    --------
    >>> default_text("'it''s'", column="c"), default_text("-1.5BD", column="c")
    ("it's", '-1.5')
    >>> default_text("map('a', array(1, 2))", column="c")
    "map('a', array(1, 2))"
    """
    if sql.strip().upper() == "NULL":
        return None
    literal = _LITERAL.fullmatch(sql.strip())
    if literal is None and _is_nested(sql):
        return sql.strip()
    if literal is None:
        raise UnsupportedError(
            f"column {column!r} DEFAULT {sql}",
            "a default has to be a literal (number, text or date), or array(…), map(…), struct(…) "
            "or named_struct(…) of literals",
        )
    if literal["word"] is not None:
        return literal["word"].lower()
    quoted = literal["text"] if literal["text"] is not None else literal["cast"]
    return literal["number"] if quoted is None else quoted.replace("''", "'")


def default_sql(text: str, type_name: str) -> str:
    """Turn the text of a schema file into SQL for a column of that Spark type.

    Examples
    --------
    >>> default_sql("it's", "string"), default_sql("1.5", "decimal(3,1)")
    ("'it''s'", '1.5')
    >>> default_sql("[1]", "array<int>")
    "CAST('[1]' AS array<int>)"
    >>> default_sql("array(1)", "array<int>")
    'array(1)'
    """
    name = type_name.partition("(")[0]
    if name in _PLAIN:
        return text
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    if name in _QUOTED:
        return _QUOTED[name] + quoted
    if name.startswith(("array<", "map<", "struct<")) and _is_nested(text):
        return text
    return f"CAST({quoted} AS {type_name})"


def _is_nested(sql: str) -> bool:
    """Whether a text is an array, map or struct of literals."""
    if _NESTED.fullmatch(sql) is None:
        return False
    for token in tokenize(sql):
        match token.kind:
            case TokenKind.WORD if _IN_NESTED.fullmatch(token.text):
                continue
            case TokenKind.SYMBOL if token.text in _SYMBOLS:
                continue
            case TokenKind.STRING:
                continue
        return False
    return True
