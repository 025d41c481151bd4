"""What statements in a binary log do to tables.

The log has the columns of each row itself. A statement is needed for what columns do not tell:
which were renamed, how types were declared, and that a table was emptied, dropped or renamed.

Source: MySQL Reference Manual, "ALTER TABLE", "CREATE TABLE"; MariaDB Knowledge Base, the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import Enum

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

_EXECUTED = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)
_WORDS = re.compile(r"^\s*(?:(?:/\*.*?\*/|#[^\n]*\n|--\s[^\n]*\n)\s*)*([A-Za-z]+)", re.DOTALL)
_OWN_TYPES = ("UUID", "INET4", "INET6")
_XA_END = re.compile(r"\s*XA\s+(COMMIT|ROLLBACK)\s+(.*)", re.DOTALL | re.IGNORECASE)
_XA_BEGIN = re.compile(r"\s*XA\s+(START|BEGIN)\b", re.IGNORECASE)
_ROWS = ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "WITH", "CALL")
_NO_COLUMNS = (
    *("PRIMARY", "KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN"),
    *("CHECK", "PARTITION", "PERIOD", "SYSTEM"),
)
_ALTER_WAIT = ("WAIT", "NOWAIT")


class Kind(Enum):
    """What a statement is."""

    OTHER = "other"
    """Nothing that rows or columns follow from."""
    BEGIN = "begin"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    SAVEPOINT = "rollback to savepoint"
    ROWS = "rows"
    """It changed rows: the log has the statement in place of rows."""
    TABLES = "tables"
    XA_COMMIT = "xa commit"
    XA_ROLLBACK = "xa rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnWords:
    """What a definition of a column says that rows do not."""

    declared: str | None
    """The type, if the log does not tell it."""
    default: str | None
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStep:
    """What a part of a statement does to one column."""

    old: str | None
    """Its name before; None: it is added."""
    new: str | None
    """Its name afterwards; None: it is dropped."""
    is_conditional: bool = False
    """IF EXISTS, or IF NOT EXISTS."""
    words: ColumnWords | None = None
    """Of its definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChanges:
    """What a statement does to the columns of a table."""

    renamed: dict[str, str]
    """Old to new names."""
    dropped: tuple[str, ...]
    """It may add others of their names."""
    added: tuple[str, ...]
    """Those that were not there before."""
    words: dict[str, ColumnWords]
    """Of columns that are added or defined anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of a table."""

    table: str
    """``database.table``."""
    verb: str
    """``create``, ``alter``, ``drop``, ``rename``, ``truncate`` or ``drop database``."""
    new_name: str | None = None
    like: str | None = None
    """The table whose columns it has."""
    rows_go: bool = False
    """Whether partitions were dropped or emptied: the log has no rows of that."""
    rows_come: bool = False
    """Whether rows were taken over from elsewhere, of which the log has none."""
    columns: tuple[ColumnStep, ...] = ()
    """What becomes of columns, in the order of the statement."""
    is_conditional: bool = False
    """Whether a table is created only if it does not exist."""
    replaces: bool = False
    """Whether a table is dropped before, if it exists."""

    def column_changes(self, names: Collection[str]) -> ColumnChanges:
        """Return what it does to a table.

        Parameters
        ----------
        names
            Of the table's columns; () if they are unknown: then each condition is fulfilled.
        """
        spelled = {name.casefold(): name for name in names}
        found = ColumnChanges(renamed={}, dropped=(), added=(), words={})
        taken = set(spelled)
        spoken_of = set[str]()
        for step in self.columns:
            if step.old is None:
                assert step.new is not None, "a column that is added has a name"
                if step.is_conditional and step.new.casefold() in taken:
                    continue
                found = replace(found, added=(*found.added, step.new))
            elif step.is_conditional and spelled and step.old.casefold() not in spelled:
                continue
            elif step.is_conditional and step.old.casefold() in spoken_of:
                continue  # the server lets the first of two count
            else:
                spoken_of.add(step.old.casefold())
                old = spelled.get(step.old.casefold(), step.old)
                if step.new is None:
                    found = replace(found, dropped=(*found.dropped, old))
                elif step.new != old:
                    found.renamed[old] = step.new
            if step.words is not None and step.new is not None:
                found.words[step.new] = step.words
                taken.add(step.new.casefold())
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a statement means."""

    kind: Kind
    changes: tuple[Change, ...] = ()
    xa: str = ""
    """The name of the XA transaction that it ends."""


_SHORT = {
    "BEGIN": Kind.BEGIN,
    "COMMIT": Kind.COMMIT,
    "ROLLBACK": Kind.ROLLBACK,
    "SAVEPOINT": Kind.OTHER,
}


def meaning_of(text: str, database: str) -> Meaning:  # noqa: PLR0911 - one return a case
    """Return what a statement means.

    Parameters
    ----------
    text
        The statement.
    database
        Which was chosen.
    """
    found = _WORDS.match(_EXECUTED.sub(_inner, text))
    word = found.group(1).upper() if found else ""
    if xa := _XA_END.match(text):
        return Meaning(kind=Kind[f"XA_{xa.group(1).upper()}"], xa="".join(xa.group(2).split()))
    if word in _ROWS:
        return Meaning(kind=Kind.ROWS)
    if _XA_BEGIN.match(text):
        return Meaning(kind=Kind.BEGIN)
    if word == "ROLLBACK" and re.search(r"\bTO\b", text, re.IGNORECASE):
        return Meaning(kind=Kind.SAVEPOINT)
    if word in _SHORT:
        return Meaning(kind=_SHORT[word])
    if word not in ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE"):
        return Meaning(kind=Kind.OTHER)
    try:
        # RENAME at the begin would make one text of all that follows.
        tokens = sqlglot.tokenize(f"x {_EXECUTED.sub(_inner, text)}", read="mysql")[1:]
    except SqlglotError:
        return Meaning(kind=Kind.OTHER)
    try:
        changes = tuple(_Reader(tokens, database).changes())
    except _EndError:
        return Meaning(kind=Kind.OTHER)
    return Meaning(kind=Kind.TABLES if changes else Kind.OTHER, changes=changes)


def _inner(comment: re.Match[str]) -> str:
    return f" {comment.group(1)} "


class _EndError(Exception):
    """The statement ends where something is missing."""


class _Reader:
    """Reads a statement word by word."""

    def __init__(self, tokens: list[Token], database: str) -> None:
        self._tokens = tokens
        self._database = database
        self._at = 0
        self._is_conditional = self._replaces = False

    # Words

    def _word(self, ahead: int = 0) -> str:
        at = self._at + ahead
        if at >= len(self._tokens):
            return ""
        token = self._tokens[at]
        is_word = token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)
        return token.text.upper() if is_word else ""

    def _skip(self, *words: str) -> bool:
        """Pass over some words, if they come next."""
        if all(self._word(index) == word for index, word in enumerate(words)):
            self._at += len(words)
            return True
        return False

    def _next(self) -> Token:
        if self._at >= len(self._tokens):
            raise _EndError
        self._at += 1
        return self._tokens[self._at - 1]

    def _name(self) -> str:
        return self._next().text

    def _table(self) -> str:
        first = self._name()
        if self._skip("."):
            return f"{first}.{self._name()}"
        return f"{self._database}.{first}"

    # Statements

    def changes(self) -> Iterator[Change]:
        verb = self._next().text.upper()
        self._replaces = self._skip("OR", "REPLACE")
        for word in ("ONLINE", "OFFLINE", "IGNORE"):
            self._skip(word)
        if self._skip("TEMPORARY"):
            return
        if verb == "TRUNCATE":
            self._skip("TABLE")
            yield Change(table=self._table(), verb="truncate")
            return
        if verb == "DROP" and (self._skip("DATABASE") or self._skip("SCHEMA")):
            self._skip("IF", "EXISTS")
            yield Change(table=f"{self._name()}.", verb="drop database")
            return
        if not (self._skip("TABLE") or self._skip("TABLES")):
            return
        self._is_conditional = self._skip("IF", "NOT", "EXISTS")
        self._skip("IF", "EXISTS")
        read = {"CREATE": self._create, "ALTER": self._alter, "DROP": self._drop}
        yield from read.get(verb, self._rename)()

    def _drop(self) -> Iterator[Change]:
        while True:
            yield Change(table=self._table(), verb="drop")
            if not self._skip(","):
                return

    def _rename(self) -> Iterator[Change]:
        while True:
            table = self._table()
            self._wait()
            self._skip("TO")
            yield Change(table=table, verb="rename", new_name=self._table())
            if not self._skip(","):
                return

    def _wait(self) -> None:
        if self._word() in _ALTER_WAIT and self._next().text.upper() == "WAIT":
            self._next()

    def _create(self) -> Iterator[Change]:
        table = self._table()
        if self._skip("LIKE") or self._skip("(", "LIKE"):
            yield self._created(table, like=self._table())
            return
        columns: list[ColumnStep] = []
        if self._skip("("):
            for start, end in list(self._parts(closes=True)):
                columns += self._definition(start, end)
        yield self._created(table, columns=tuple(columns))

    def _created(
        self, table: str, *, like: str | None = None, columns: tuple[ColumnStep, ...] = ()
    ) -> Change:
        return Change(
            table=table,
            verb="create",
            like=like,
            columns=columns,
            is_conditional=self._is_conditional,
            replaces=self._replaces,
        )

    def _alter(self) -> Iterator[Change]:
        table = self._table()
        self._wait()
        columns: list[ColumnStep] = []
        new_name = None
        rows_go = rows_come = False
        for start, end in list(self._parts(closes=False)):
            columns += self._dropped_column(start, end)
            self._at = start
            if self._word(1) in ("PARTITION", "TABLE", "TABLESPACE"):
                rows_go = rows_go or self._word() in ("DROP", "TRUNCATE")
                rows_come = rows_come or self._word() in ("EXCHANGE", "CONVERT", "IMPORT")
            if self._skip("ADD"):
                columns += self._added(end)
            elif self._skip("CHANGE") or self._skip("MODIFY"):
                is_named = self._tokens[start].text.upper() == "CHANGE"
                self._skip("COLUMN")
                is_conditional = self._skip("IF", "EXISTS")
                old = self._name() if is_named else None
                for step in self._definition(self._at, end):
                    columns.append(
                        replace(step, old=old or step.new, is_conditional=is_conditional)
                    )
            elif self._skip("RENAME", "COLUMN"):
                is_conditional = self._skip("IF", "EXISTS")
                old = self._name()
                self._skip("TO")
                new = self._name()
                columns.append(ColumnStep(old=old, new=new, is_conditional=is_conditional))
            elif self._skip("RENAME"):
                if self._word() in ("INDEX", "KEY"):
                    continue
                if not self._skip("TO"):
                    self._skip("AS")
                self._skip("=")
                new_name = self._table()
        yield Change(
            table=table,
            verb="alter",
            new_name=new_name,
            rows_go=rows_go,
            rows_come=rows_come,
            columns=tuple(columns),
        )

    def _dropped_column(self, start: int, end: int) -> list[ColumnStep]:
        """Return the column that is dropped, if it is one: others are named after their kind."""
        self._at = start
        if not self._skip("DROP"):
            return []
        is_column = self._skip("COLUMN")
        is_conditional = self._skip("IF", "EXISTS")
        is_column = is_column or self._at + 1 == end or self._word(1) in ("RESTRICT", "CASCADE")
        if not is_column or self._word() == "PRIMARY KEY":
            return []
        return [ColumnStep(old=self._name(), new=None, is_conditional=is_conditional)]

    def _added(self, end: int) -> list[ColumnStep]:
        self._skip("COLUMN")
        is_conditional = self._skip("IF", "NOT", "EXISTS")
        found: list[ColumnStep] = []
        if self._skip("("):
            for start, inner in list(self._parts(closes=True)):
                found += self._definition(start, inner)
        else:
            found = self._definition(self._at, end)
        return [replace(step, is_conditional=is_conditional) for step in found]

    # Lists

    def _parts(self, *, closes: bool) -> Iterator[tuple[int, int]]:
        """Yield where the parts between commas begin and end, up to a bracket or the end."""
        depth, start = 0, self._at
        while self._at < len(self._tokens):
            word = self._word()
            if word == "(":
                depth += 1
            elif word == ")" and depth == 0 and closes:
                yield start, self._at
                self._at += 1
                return
            elif word == ")":
                depth -= 1
            elif word == "," and depth == 0:
                yield start, self._at
                start = self._at + 1
            self._at += 1
        yield start, self._at

    def _definition(self, start: int, end: int) -> list[ColumnStep]:
        """Read the definition of a column; none if it is that of something else."""
        before, self._at = self._at, start
        try:
            if self._word().split(" ")[0] in _NO_COLUMNS and not self._is_type(start + 1):
                return []
            name = self._name()
            kind = self._next().text.upper() if self._at < end else ""
            size = ""
            if self._word() == "(" and self._at < end:
                size = self._word(1)
            words = [self._word(index - self._at) for index in range(self._at, end)]
            said = ColumnWords(
                declared=_declared(kind, size, words),
                default=self._default(end),
                comment=self._after("COMMENT", end),
            )
            return [ColumnStep(old=None, new=name, words=said)]
        finally:
            self._at = max(before, start)

    def _is_type(self, at: int) -> bool:
        """Whether a word that could be that of a key is the name of a column."""
        token = self._tokens[at] if at < len(self._tokens) else None
        return token is not None and token.text.upper() in ("INT", "BIGINT", "VARCHAR", "TINYINT")

    def _after(self, word: str, end: int) -> str | None:
        for at in range(self._at, end - 1):
            token, following = self._tokens[at], self._tokens[at + 1]
            if (
                token.token_type is not TokenType.IDENTIFIER
                and token.text.upper() == word
                and following.token_type is TokenType.STRING
            ):
                return following.text
        return None

    def _default(self, end: int) -> str | None:
        for at in range(self._at, end - 1):
            token = self._tokens[at]
            if token.text.upper() != "DEFAULT" or token.token_type in (
                TokenType.IDENTIFIER,
                TokenType.STRING,
            ):
                continue
            following = self._tokens[at + 1]
            if following.token_type in (TokenType.STRING, TokenType.NUMBER):
                return following.text
            if following.text == "-" and at + 2 < end:
                return f"-{self._tokens[at + 2].text}"
            return {"TRUE": "1", "FALSE": "0"}.get(following.text.upper())
        return None


def _declared(kind: str, size: str, words: list[str]) -> str | None:
    if kind in ("BOOL", "BOOLEAN"):
        return "tinyint(1)"
    if kind in _OWN_TYPES:
        return kind.lower()
    is_plain = "UNSIGNED" not in words and "ZEROFILL" not in words
    return "tinyint(1)" if kind == "TINYINT" and size == "1" and is_plain else None
