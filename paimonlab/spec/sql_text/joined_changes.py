"""UPDATE … FROM, DELETE … USING and their like, of other databases: which MERGE INTO does it.

Source: PostgreSQL 17 ``UPDATE … FROM`` and ``DELETE … USING``; MySQL 8.4 ``ORDER BY … LIMIT`` and
``DELETE t FROM t JOIN s``.
Spark's grammar has none of them (apache/spark@v4.3.0 ``SqlBaseParser.g4``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from paimonlab.errors import UnsupportedError
from paimonlab.spec.sql_text.call_text import quoted
from paimonlab.spec.sql_text.reader import StatementSyntaxError, TokenReader
from paimonlab.spec.sql_text.tokens import Token, TokenKind

_CLAUSES = frozenset({"SET", "FROM", "USING", "WHERE", "ORDER", "LIMIT"})
_CONDITIONS = frozenset({"ON", "USING", "WHERE", "ORDER", "LIMIT"})
_JOINS = ("JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "NATURAL", ",")
_SEVERAL = frozenset({",", "JOIN", "LATERAL"})


class JoinedChange(Struct, frozen=True):
    """An UPDATE or DELETE that names other rows, or how many rows at most."""

    verb: str
    """``UPDATE`` or ``DELETE FROM``."""
    table: tuple[str, ...]
    """Parts of the name."""
    target: str
    """The table and its alias, as written."""
    clause: str
    """What Spark's grammar lacks: ``FROM``, ``USING``, ``JOIN`` or ``LIMIT``."""
    before: str
    """WITH and its queries; empty if there are none."""
    parts: Mapping[str, str]
    """Texts after the keywords."""
    has_several: bool = False
    """Whether the other rows are of more than one table or query."""

    def refusal(self, keys: Sequence[str]) -> UnsupportedError:
        """Make the error: which MERGE INTO does it.

        Parameters
        ----------
        keys
            The primary key of the table; none: it has none.
        """
        where, is_update = self.parts.get("WHERE", ""), "SET" in self.parts
        end = f"UPDATE SET {self.parts['SET']}" if is_update else "DELETE"
        said = f"{self.verb} {'.'.join(self.table)} {'SET … ' if is_update else ''}{self.clause}"
        merge = f"write {self.before}MERGE INTO {self.target} USING"
        if self.clause == "LIMIT":
            on = " AND ".join(
                f"{quoted(name)} = {quoted(f'chosen_{name}')}" for name in keys or ["key"]
            )
            note = "" if keys else ", where key is a column that differs in all rows"
            source = f"({self._chosen(keys or ['key'])}) AS chosen"
            return UnsupportedError(said, f"{merge} {source} ON {on} WHEN MATCHED THEN {end}{note}")
        source = self.parts[self.clause]
        if self.has_several:
            query = f"(SELECT … FROM {source}) AS s ON …"  # noqa: S608 - a text to be read
            return UnsupportedError(said, f"{merge} {query} WHEN MATCHED THEN {end}")
        on = where or "true"
        return UnsupportedError(said, f"{merge} {source} ON {on} WHEN MATCHED THEN {end}")

    def _chosen(self, keys: Sequence[str]) -> str:
        """Write the query of the rows that LIMIT lets through."""
        columns = ", ".join(f"{quoted(name)} AS {quoted(f'chosen_{name}')}" for name in keys)
        clauses = [f"SELECT {columns} FROM {self.target}"]  # noqa: S608 - a text to be read
        for word in ("WHERE", "ORDER", "LIMIT"):
            clauses += [f"{word} {self.parts[word]}"] if word in self.parts else []
        return " ".join(clauses)


def joined_change(tokens: Sequence[Token], text: str) -> JoinedChange | None:
    """Read an UPDATE or DELETE with a clause that Spark's grammar lacks.

    Parameters
    ----------
    tokens, text
        A statement that was not understood.

    Returns
    -------
    JoinedChange or None
        None if it is another statement.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> said = "DELETE FROM db.t USING s WHERE s.id = t.id"
    >>> joined_change(tokenize(said), said).refusal(()).reason
    'write MERGE INTO db.t USING s ON s.id = t.id WHEN MATCHED THEN DELETE'
    """
    reader = TokenReader(tokens, "the statement")
    try:
        _ = _names_of_with(reader)
        start = reader.offset
        verb = _verb(reader)
        if not verb:
            return _joined_delete(reader, tokens, text, start)
        beginning = reader.offset
        table = reader.names("a table")
        _ = reader.take("AS")
    except StatementSyntaxError:
        return None
    marks = _clauses(tokens, reader.offset)
    by_name = {mark.text.upper(): mark for mark in marks}
    wanted = ("FROM", "LIMIT") if verb == "UPDATE" else ("USING", "LIMIT")
    clause = next((name for name in wanted if name in by_name), "")
    if not clause or ("SET" in by_name) != (verb == "UPDATE"):
        return None
    ends = [*(mark.start for mark in marks[1:]), tokens[-1].end]
    parts = {
        mark.text.upper(): text[mark.end : end].rstrip("; \n").strip()
        for mark, end in zip(marks, ends, strict=True)
    }
    target = text[beginning : marks[0].start].strip()
    has_several = clause != "LIMIT" and _has_several(tokens, by_name[clause].end, marks)
    before = text[tokens[0].start : start]
    return JoinedChange(verb, table, target, clause, before, parts, has_several)


def _joined_delete(
    reader: TokenReader, tokens: Sequence[Token], text: str, start: int
) -> JoinedChange | None:
    """Read ``DELETE t FROM t JOIN s ON …``; None if it is another statement.

    Raises
    ------
    StatementSyntaxError
        If it is another statement.
    """
    if not reader.take("DELETE"):
        return None
    deleted = reader.names("a table")
    reader.expect("FROM")
    beginning = reader.offset
    table = reader.names("a table")
    known = [table[-len(deleted) :]]
    if not any(map(reader.is_at, _JOINS)):
        _ = reader.take("AS")
        known.append((reader.name("an alias"),))
    if [name.lower() for name in deleted] not in [[part.lower() for part in one] for one in known]:
        return None
    target = text[beginning : reader.offset].strip()
    is_joined = any(map(reader.is_at, _JOINS))
    is_inner = reader.take("JOIN") or reader.take("INNER", "JOIN") or reader.take(",")
    source = reader.offset
    marks = {mark.text.upper(): mark for mark in _clauses(tokens, source, _CONDITIONS)}
    if not is_joined or reader.is_at_end or {"ORDER", "LIMIT"} & marks.keys():
        return None
    before = text[tokens[0].start : start]
    where = [marks["WHERE"]] if "WHERE" in marks else []
    if not is_inner or "USING" in marks or _has_several(tokens, source, where):
        parts = {"JOIN": text[beginning : tokens[-1].end].rstrip("; \n")}
        return JoinedChange("DELETE FROM", table, target, "JOIN", before, parts, has_several=True)
    ends = [*(mark.start for mark in marks.values()), tokens[-1].end]
    first, *conditions = (
        text[begin:end].rstrip("; \n").strip()
        for begin, end in zip([source, *(mark.end for mark in marks.values())], ends, strict=True)
    )
    on = " AND ".join(f"({one})" for one in conditions) if conditions[1:] else "".join(conditions)
    return JoinedChange("DELETE FROM", table, target, "JOIN", before, {"JOIN": first, "WHERE": on})


def changed_name(tokens: Sequence[Token]) -> str:
    """Say how a statement begins whose target is a name of its WITH clause; empty: another one.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> changed_name(tokenize("WITH c AS (SELECT * FROM db.t) DELETE FROM c WHERE id = 1"))
    'DELETE FROM c'
    """
    reader = TokenReader(tokens, "the statement")
    try:
        known = _names_of_with(reader)
        verb = _verb(reader) or ("MERGE INTO" if _is_merge(reader) else "")
        table = reader.names("a table") if verb else ()
    except StatementSyntaxError:
        return ""
    is_known = len(table) == 1 and table[0].lower() in known
    return f"{verb} {table[0]}" if is_known else ""


def name_refusal(statement: str) -> UnsupportedError:
    """Make the error of a statement that changes the rows of a name in its WITH clause.

    Parameters
    ----------
    statement
        How it begins: ``DELETE FROM c``.
    """
    name = statement.rsplit(maxsplit=1)[-1]
    return UnsupportedError(
        f"{statement}, which is a query of WITH,",
        "rows of a query cannot be changed: name its table, and the query in a condition: "
        f"MERGE INTO db.t USING {name} ON t.id = {name}.id",
    )


def _names_of_with(reader: TokenReader) -> set[str]:
    """Read WITH and its queries, and return their names in small letters."""
    names: set[str] = set()
    if not reader.take("WITH"):
        return names
    _ = reader.take("RECURSIVE")
    while True:
        names.add(reader.name("a name").lower())
        if reader.is_at("("):
            reader.block()
        _ = reader.take("AS")
        reader.block()
        if not reader.take(","):
            return names


def _verb(reader: TokenReader) -> str:
    if reader.take("DELETE", "FROM"):
        return "DELETE FROM"
    return "UPDATE" if reader.take("UPDATE") else ""


def _is_merge(reader: TokenReader) -> bool:
    return reader.take("MERGE", "INTO") or reader.take(
        "MERGE", "WITH", "SCHEMA", "EVOLUTION", "INTO"
    )


def _clauses(tokens: Sequence[Token], start: int, words: Collection[str] = _CLAUSES) -> list[Token]:
    """Return the keywords that begin clauses, outside of parentheses."""
    found: list[Token] = []
    depth = 0
    before = ""
    for token in tokens:
        word = token.text.upper()
        depth += {"(": 1, ")": -1}.get(word, 0) if token.kind is TokenKind.SYMBOL else 0
        is_clause = token.kind is TokenKind.WORD and word in words and not depth
        if is_clause and token.start >= start and before not in ("DISTINCT", "."):
            found.append(token)
        before = word
    return found


def _has_several(tokens: Sequence[Token], start: int, marks: Iterable[Token]) -> bool:
    """Whether a source is more than one table or query."""
    end = min((mark.start for mark in marks if mark.start >= start), default=None)
    depth = 0
    for token in tokens:
        if token.kind is TokenKind.SYMBOL:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        is_within = token.start >= start and (end is None or token.start < end)
        if is_within and not depth and token.text.upper() in _SEVERAL:
            return True
    return False
