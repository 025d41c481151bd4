"""What can be typed at the cursor in SQL: tables, columns, fields, parameters, points in time.

Pure: what is known about a catalog comes as functions, called only where their answer matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from msgspec import Struct

from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.completion.call_completion import CallNames, begins_call, call_candidates
from paimonlab.notebook.completion.candidates import Candidate, starting
from paimonlab.secrets import HIDDEN, is_secret, without_secrets
from paimonlab.spec.sql_text.tokens import Token, TokenKind, tokenize

KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN"),
    *("INNER JOIN", "CROSS JOIN", "FULL OUTER JOIN", "UNION ALL", "EXCEPT", "INTERSECT"),
    *("DISTINCT", "BETWEEN", "LIKE", "IN", "IS NULL", "IS NOT NULL", "AND", "OR", "NOT", "EXISTS"),
    *("WITH", "VALUES", "INSERT INTO", "INSERT OVERWRITE", "CREATE TABLE", "CREATE DATABASE"),
    *("DROP TABLE", "DROP DATABASE", "ALTER TABLE", "ADD COLUMNS", "RENAME COLUMN", "PARTITION"),
    *("PARTITIONED BY", "TBLPROPERTIES", "COMMENT", "VERSION AS OF", "TIMESTAMP AS OF"),
    *("DELETE FROM", "UPDATE", "SET", "MERGE INTO", "WHEN MATCHED THEN", "CASE", "WHEN", "THEN"),
    *("ELSE", "END", "AS", "ON", "USING", "ASC", "DESC", "NULLS LAST", "OVER", "ROWS"),
    *("DESCRIBE", "SHOW TABLES", "SHOW DATABASES", "SHOW CREATE TABLE", "SHOW PARTITIONS"),
    *("EXPLAIN", "CALL", "CAST", "TRUE", "FALSE", "NULL", "DATE", "TIMESTAMP", "INTERVAL"),
)
_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "OVERWRITE", "DESCRIBE"})
_NO_ALIAS = frozenset(word for keyword in KEYWORDS for word in keyword.split()) | {
    "LEFT",
    "RIGHT",
    "FULL",
    "OUTER",
    "NATURAL",
    "SEMI",
    "ANTI",
    "LATERAL",
    "TABLESAMPLE",
    "FOR",
}
_WORD = re.compile(r"(?:`[^`]*`?|[\w$])(?:[.]|`[^`]*`?|[\w$])*$|$")
_NAMES = (TokenKind.WORD, TokenKind.QUOTED)
_VALUE_COLUMNS = 40


class Names(Struct, frozen=True):
    """What is known about a catalog."""

    tables: Callable[[], Sequence[str]]
    """``database.table`` of every table."""
    columns: Callable[[str], pa.Schema | None]
    """Columns of a table or system table; None if it is not known."""
    points: Callable[[str], Mapping[str, str]]
    """Snapshot ids and tags of a table, and what each is."""
    system_tables: Mapping[str, str]
    """Names after ``$`` and what each shows."""
    functions: Callable[[], Sequence[str]]
    tags: Callable[[str], Mapping[str, str]] = lambda _: {}
    """Tags of a table, and what each is."""
    branches: Callable[[str], Mapping[str, str]] = lambda _: {}
    """Branches of a table, and what each is."""
    catalog: str = ""
    """Its name in SQL; empty if nothing is connected."""

    @property
    def of_calls(self) -> CallNames:
        """What calls of procedures can name."""
        return CallNames(
            catalog=self.catalog,
            tables=self.tables,
            columns=self.columns,
            points=self.points,
            tags=self.tags,
            branches=self.branches,
        )


def sql_candidates(
    text: str, offset: int, names: Names, variables: Mapping[str, Any]
) -> tuple[str, list[Candidate]]:
    """Return the word at the cursor and what it could become.

    Parameters
    ----------
    text
        All SQL of the cell: a table is often named after the cursor.
    offset
        Where the cursor is.
    names
        The catalog.
    variables
        What a parameter can be.
    """
    before = text[:offset]
    tokens = tokenize(before)
    open_string = _open_string(tokens, before)
    if open_string is not None:
        return _of_string(open_string, tokens[:-1], names, text[offset:])
    if _in_comment(before):
        return "", []
    match = _WORD.search(before)
    word = match[0] if match else ""
    rest = before[: len(before) - len(word)]
    if rest.endswith(":") and not rest.endswith("::") and "." not in word:
        return ":" + word, starting(":" + word, _parameters(variables))
    preceding = tokenize(rest)
    if begins_call(call := _last_statement(preceding)):
        return call_candidates(word, call, names.of_calls, text=None, after=text[offset:])
    return word, _of_word(word, preceding, names, lambda: _aliases(text, offset))


def _of_string(
    open_string: Token, tokens: Sequence[Token], names: Names, after: str
) -> tuple[str, list[Candidate]]:
    """Offer what an open string after ``tokens`` can become."""
    word = open_string.text[1:]
    if begins_call(call := _last_statement(tokens)):
        return call_candidates(word, call, names.of_calls, text=word, after=after)
    if not _is_point(tokens):
        return word, []
    return word, starting(word, _points(tokens, names, is_quoted=True))


def _last_statement(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens after the last ``;``."""
    last = max((index for index, token in enumerate(tokens) if token.text == ";"), default=-1)
    return tokens[last + 1 :]


def _of_word(
    word: str,
    tokens: Sequence[Token],
    names: Names,
    aliases: Callable[[], Mapping[str, str]],
) -> list[Candidate]:
    """Offer what a word after ``tokens`` can become."""
    if _is_point(tokens):
        return starting(word, _points(tokens, names, is_quoted=False))
    if "$" in word:
        return starting(word, _system_tables(word, names))
    last = tokens[-1].text.upper() if tokens else ""
    if last in _BEFORE_TABLES or (last == "," and _in_from(tokens)):
        return starting(word, _tables(word, names))
    tables = aliases()
    if "." in word:
        fields = starting(word, _fields(word, tables, names))
        return fields or starting(word, _tables(word, names))
    return _anything(word, tables, names, is_start=not tokens or last == ";")


def _anything(
    word: str, tables: Mapping[str, str], names: Names, *, is_start: bool
) -> list[Candidate]:
    """Offer what an expression or a statement can continue with."""
    columns = [] if is_start else list(_columns(tables, names))
    offered = starting(word, columns)
    if not word:
        return offered
    lower = word.islower()
    keywords = (key.lower() if lower else key for key in KEYWORDS)
    offered += starting(word, (Candidate(key, "keyword") for key in keywords))
    functions = () if is_start else names.functions()
    offered += starting(word, (Candidate(f"{name}(", "function") for name in functions))
    return offered


def _open_string(tokens: Sequence[Token], before: str) -> Token | None:
    """Return the string that the cursor is in."""
    if not tokens or tokens[-1].kind is not TokenKind.STRING or tokens[-1].end != len(before):
        return None
    text = tokens[-1].text
    is_closed = len(text) > 1 and text[-1] == text[0]
    return None if is_closed or text[0] not in "'\"" else tokens[-1]


def _in_comment(before: str) -> bool:
    tokens = tokenize(before + "x")
    return not tokens or tokens[-1].end != len(before) + 1


def _is_point(tokens: Sequence[Token]) -> bool:
    return [token.text.upper() for token in tokens[-3:]] == ["VERSION", "AS", "OF"]


def _points(tokens: Sequence[Token], names: Names, *, is_quoted: bool) -> Iterator[Candidate]:
    """Yield snapshots and tags of the table before ``VERSION AS OF``."""
    parts: list[str] = []
    for token in reversed(tokens[:-3]):
        is_name = token.kind in _NAMES and (not parts or parts[-1] == ".")
        if not is_name and not (token.text == "." and parts and parts[-1] != "."):
            break
        parts.append(_plain(token))
    for point, about in names.points("".join(reversed(parts))).items():
        if is_quoted:
            yield Candidate(point, about)
        else:
            yield Candidate(point if point.isdecimal() else f"'{point}'", about)


def _parameters(variables: Mapping[str, Any]) -> Iterator[Candidate]:
    for name, value in variables.items():
        if name.startswith("_") or callable(value) or type(value).__name__ == "module":
            continue
        shown = HIDDEN if is_secret(name) else _short(value)
        yield Candidate(f":{name}", f"= {shown}")


def _short(value: Any) -> str:
    if isinstance(value, str | int | float | bytes) or type(value).__module__ == "datetime":
        text = without_secrets(repr(value))
        return text if len(text) <= _VALUE_COLUMNS else text[: _VALUE_COLUMNS - 1] + "…"
    return type(value).__name__  # large values take long to write


def _system_tables(word: str, names: Names) -> Iterator[Candidate]:
    base = word.rpartition("$")[0]
    for name, about in names.system_tables.items():
        yield Candidate(f"{base}${name}", about)


def _tables(word: str, names: Names) -> Iterator[Candidate]:
    """Yield tables; after the name of a catalog, with that name."""
    prefix = ""
    if word.count(".") == 2:
        prefix = word[: word.index(".") + 1]
    for name in names.tables():
        yield Candidate(prefix + name, "table")


def _in_from(tokens: Sequence[Token]) -> bool:
    """Tell whether the last word of a clause before the cursor is FROM."""
    depth = 0
    clauses = {"FROM", "SELECT", "WHERE", "GROUP", "ORDER", "ON", "USING", "HAVING", "SET"}
    for token in reversed(tokens):
        depth += {")": 1, "(": -1}.get(token.text, 0)
        if depth < 0:
            return False
        if depth == 0 and token.kind is TokenKind.WORD and token.text.upper() in clauses:
            return token.text.upper() == "FROM"
    return False


def _aliases(text: str, offset: int) -> dict[str, str]:
    """Return the tables of the statement around the cursor, by the names they have there."""
    for statement in split(text):
        end = statement.tokens[-1].end
        if statement.start <= offset <= end or offset <= statement.start:
            return _named(statement.tokens)
    statements = split(text)
    is_after = bool(statements) and ";" not in text[statements[-1].tokens[-1].end : offset]
    return _named(statements[-1].tokens) if is_after else {}


def _named(tokens: Sequence[Token]) -> dict[str, str]:
    named: dict[str, str] = {}
    index = 0
    while index < len(tokens):
        if tokens[index].text.upper() not in _BEFORE_TABLES:
            index += 1
            continue
        index += 1
        while True:
            name, index = _name(tokens, index)
            if not name:
                break
            alias, index = _alias(tokens, index)
            named[alias or name.rpartition(".")[2]] = name
            if index >= len(tokens) or tokens[index].text != ",":
                break
            index += 1
    return named


def _name(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    parts: list[str] = []
    while index < len(tokens):
        token = tokens[index]
        if token.kind in _NAMES and (not parts or parts[-1] in {".", "$"}):
            parts.append(_plain(token))
        elif token.text in {".", "$"} and parts and parts[-1] not in {".", "$"}:
            parts.append(token.text)
        else:
            break
        index += 1
    if parts and parts[0].upper() in _NO_ALIAS:
        return "", index
    return "".join(parts), index


def _alias(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    words = [token.text.upper() for token in tokens[index : index + 3]]
    if words[:1] in (["VERSION"], ["TIMESTAMP"]) and words[1:] == ["AS", "OF"]:
        index += 4
    if index < len(tokens) and tokens[index].text.upper() == "AS":
        index += 1
    if index >= len(tokens):
        return "", index
    token = tokens[index]
    if token.kind in _NAMES and token.text.upper() not in _NO_ALIAS:
        return _plain(token), index + 1
    return "", index


def _columns(tables: Mapping[str, str], names: Names) -> Iterator[Candidate]:
    for name in dict.fromkeys(tables.values()):
        schema = names.columns(name)
        for field in schema or ():
            yield Candidate(_quoted(field.name), _type(field.type))


def _fields(word: str, tables: Mapping[str, str], names: Names) -> Iterator[Candidate]:
    """Yield what can follow the last dot: a column of a table, a field of a struct."""
    base = word.rpartition(".")[0]
    path = [part.strip("`") for part in base.split(".")]
    for alias, table in tables.items():
        for head in ([alias.lower()], table.lower().split(".")):
            if [part.lower() for part in path[: len(head)]] == head:
                yield from _below(base, path[len(head) :], names.columns(table))
                break
        else:
            yield from _below(base, path, names.columns(table))


def _below(base: str, path: Sequence[str], schema: Any) -> Iterator[Candidate]:
    """Yield the fields at the end of a path of columns and struct fields."""
    if schema is None:
        return
    fields = list(schema)
    for part in path:
        kinds = [field.type for field in fields if field.name.lower() == part.lower()]
        kind = kinds[0] if kinds else None
        while kind is not None and pa.types.is_list(kind):
            kind = kind.value_type
        if kind is None or not pa.types.is_struct(kind):
            return
        fields = list(kind)
    for field in fields:
        yield Candidate(f"{base}.{_quoted(field.name)}", _type(field.type))


def _quoted(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*", name):
        return name
    return "`" + name.replace("`", "``") + "`"


def _plain(token: Token) -> str:
    return token.text.strip("`") if token.kind is TokenKind.QUOTED else token.text


def _type(kind: pa.DataType) -> str:
    text = str(kind)
    return text if len(text) <= _VALUE_COLUMNS else text[: _VALUE_COLUMNS - 1] + "…"
