"""The text of a query that one scan answers.

``SELECT * | columns | count(*) FROM table [VERSION AS OF …] [WHERE …] [LIMIT n]``.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from paimonlab.notebook.cell.parameters import Bound
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.running.native_condition import Condition, ConditionText, Given
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

_NAMES = (TokenKind.WORD, TokenKind.QUOTED)
WITHOUT_SPARK = "connect with --engine spark"


class ScanQuery(Struct, frozen=True):
    """A query that a scan answers."""

    columns: tuple[str, ...] | None
    """None: all."""
    is_count: bool
    table: tuple[str, ...]
    version: int | str | None
    where: Condition | None
    limit: int | None


def scan_query(statement: Statement, values: Bound) -> ScanQuery:
    """Read a query.

    Raises
    ------
    NotOneScanError
        If it takes more than a scan of one table.
    """
    return _Parser(statement, values).query()


class NotOneScanError(QueryError):
    """A statement that a scan does not answer."""


class _Parser:
    """Reads the tokens of a statement from left to right."""

    def __init__(self, statement: Statement, values: Bound) -> None:
        self._statement = statement
        self._given = Given(values)
        self._tokens = statement.tokens
        self._index = 0

    def query(self) -> ScanQuery:
        """Read all of it."""
        self._expect("SELECT")
        columns, is_count = self._columns()
        self._expect("FROM")
        table = self._name()
        version = self._version()
        where = self._where()
        limit = self._limit()
        if self._peek() is not None:
            raise self._refused()
        return ScanQuery(columns, is_count, table, version, where, limit)

    def _columns(self) -> tuple[tuple[str, ...] | None, bool]:
        if self._take("*"):
            return None, False
        words = [token.text.upper() for token in self._tokens[self._index :][:5]]
        if words[:3] == ["COUNT", "(", "*"] and words[3:] == [")", "FROM"]:
            self._index += 4
            return None, True
        names = [self._column()]
        while self._take(","):
            names.append(self._column())
        if len(set(names)) < len(names):
            raise self._refused("a column asked for twice", self._index - 1)
        return tuple(names), False

    def _column(self) -> str:
        token = self._peek()
        after = self._peek(1)
        ends = after is not None and (after.text == "," or after.text.upper() == "FROM")
        if token is None or token.kind not in _NAMES or not ends or token.text[0].isdigit():
            raise self._refused()
        self._index += 1
        return _plain(token)

    def _name(self) -> tuple[str, ...]:
        parts = [self._part()]
        while self._take("."):
            parts.append(self._part())
        if not 2 <= len(parts) <= 3:
            raise self._refused("a table without its database", self._index - 1)
        return tuple(parts)

    def _part(self) -> str:
        text = self._word()
        while (token := self._peek()) is not None and token.text == "$":
            self._index += 1
            text += "$" + self._word()
        return text

    def _word(self) -> str:
        token = self._peek()
        if token is None or token.kind not in _NAMES:
            raise self._refused()
        self._index += 1
        return _plain(token)

    def _version(self) -> int | str | None:
        if not self._take("VERSION"):
            return None
        self._expect("AS")
        self._expect("OF")
        token = self._peek()
        if token is None:
            raise self._refused()
        self._index += 1
        if token.kind is TokenKind.WORD and token.text.isdecimal():
            return int(token.text)
        if token.kind is TokenKind.STRING and "\\" not in token.text and token.text[0] in "'\"":
            return token.text[1:-1]
        raise self._refused(place=self._index - 1)

    def _where(self) -> Condition | None:
        """Take the condition, up to LIMIT; `Table.scan` interprets it."""
        if not self._take("WHERE"):
            return None
        begin = self._index
        condition = ConditionText(self._statement, self._given)
        while (token := self._peek()) is not None and token.text.upper() != "LIMIT":
            is_word = token.kind is TokenKind.WORD
            if is_word and token.text.upper() in {"GROUP", "ORDER", "HAVING", "SELECT", "UNION"}:
                raise self._refused()
            self._index += condition.take(self._index)
        if begin == self._index:
            raise self._refused()
        return condition.made()

    def _limit(self) -> int | None:
        if not self._take("LIMIT"):
            return None
        token = self._peek()
        taken = self._given.take(self._tokens, self._index)
        if taken is not None:
            if type(taken.value) is not int or taken.value < 0:
                raise self._refused(f"LIMIT {taken.value!r}")
            self._index += taken.token_count
            return taken.value
        if token is None or not token.text.isdecimal():
            raise self._refused()
        self._index += 1
        return int(token.text)

    def _peek(self, ahead: int = 0) -> Token | None:
        index = self._index + ahead
        return self._tokens[index] if index < len(self._tokens) else None

    def _take(self, word: str) -> bool:
        token = self._peek()
        is_unquoted = token is not None and token.kind is not TokenKind.QUOTED
        if is_unquoted and token is not None and token.text.upper() == word:
            self._index += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise self._refused()

    def _refused(self, what: str = "", place: int | None = None) -> QueryError:
        tokens: Sequence[Token] = self._tokens
        token = tokens[min(self._index if place is None else place, len(tokens) - 1)]
        feature = what or (token.text if token.kind is TokenKind.WORD else repr(token.text))
        return NotOneScanError(
            f"{feature} without Spark is not supported: {WITHOUT_SPARK}",
            topic="without spark",
            statement=self._statement,
            span=Span(token.start, token.end),
            hint="Without Spark: SELECT columns FROM db.t [VERSION AS OF …] [WHERE …] [LIMIT n]",
        )


def _plain(token: Token) -> str:
    if token.kind is TokenKind.QUOTED:
        return token.text[1:-1].replace("``", "`")
    return token.text
