"""``CREATE TABLE … AS TABLE`` and ``CREATE DATABASE … AS DATABASE``: changes of a source, read in.

The words are those of Alibaba's Realtime Compute for Flink ("CREATE TABLE AS", "CREATE DATABASE
AS"), which made them for the same purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from paimonlab.secrets import hides_secrets
from paimonlab.spec.sql_text.reader import StatementSyntaxError, TokenReader
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

_OF_SPARK = frozenset({"USING", "TBLPROPERTIES", "LOCATION", "CLUSTERED", "LIKE", "SELECT", "ROW"})
"""Words before ``AS`` that say that a query is stored once."""


@hides_secrets
class CreateTableAs(Struct, frozen=True, kw_only=True):
    """Read the changes of one table of a source, or of those that match, into a table."""

    target: tuple[str, ...]
    """Parts of the table's name."""
    source: tuple[str, ...]
    """The name of the source, then what is read of it; parts may be regular expressions."""
    source_span: Span
    if_not_exists: bool = False
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    source_options: dict[str, str] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)
    """Functions by the column that they compute."""


@hides_secrets
class CreateDatabaseAs(Struct, frozen=True, kw_only=True):
    """Read the changes of many tables of a source into a database."""

    target: tuple[str, ...]
    source: tuple[str, ...]
    """The name of the source, then a database of it, if it has several."""
    source_span: Span
    including: str | None
    """A regular expression for names of tables; None: all."""
    excluding: str | None = None
    if_not_exists: bool = False
    options: dict[str, str] = field(default_factory=dict)
    source_options: dict[str, str] = field(default_factory=dict)


IngestStatement: TypeAlias = CreateTableAs | CreateDatabaseAs


def begins_ingest(tokens: Sequence[Token]) -> bool:
    """Tell whether a statement can only be one that reads changes: no SQL of Spark is like it.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> begins_ingest(tokenize("CREATE DATABASE ods AS DATABASE shop INCLUDING ALL TABLES"))
    True
    >>> begins_ingest(tokenize("CREATE TABLE a.b AS TABLE c.d"))
    False
    """
    words = _words(tokens)
    if words[:2] == ["CREATE", "DATABASE"]:
        return _place(words, "DATABASE") is not None
    place = _place(words, "TABLE") if words[:2] == ["CREATE", "TABLE"] else None
    if place is None or _OF_SPARK & set(words[:place]):
        return False
    tail = words[place + 2 :]
    return bool({"WITH", "PRIMARY"} & set(words[:place]) or "/*+" in tail or "ADD" in tail)


def parse_ingest_statement(
    tokens: Sequence[Token], text: str, is_source: Callable[[str], bool]
) -> IngestStatement | None:
    """Read a statement that makes tables follow those of a source.

    Parameters
    ----------
    tokens
        All of the statement.
    text
        What they were cut from.
    is_source
        Says of a name whether it is that of a source; ``CREATE TABLE a.b AS TABLE c.d`` stores a
        query if it is not.

    Returns
    -------
    CreateTableAs, CreateDatabaseAs or None
        None if it is another statement.

    Raises
    ------
    StatementSyntaxError
        If it is one and goes on otherwise.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> said = "CREATE TABLE ods.o WITH ('bucket' = '2') AS TABLE shop.db.orders"
    >>> made = parse_ingest_statement(tokenize(said), said, lambda name: name == "shop")
    >>> made.target, made.source, made.options
    (('ods', 'o'), ('shop', 'db', 'orders'), {'bucket': '2'})
    """
    words = _words(tokens)
    if words[:2] == ["CREATE", "DATABASE"]:
        return None if _place(words, "DATABASE") is None else _database(tokens, words)
    place = _place(words, "TABLE") if words[:2] == ["CREATE", "TABLE"] else None
    if place is None or _OF_SPARK & set(words[:place]):
        return None
    if not begins_ingest(tokens) and not _names_source(tokens[place + 2 :], is_source):
        return None
    return _table(tokens, text)


def _names_source(tokens: Sequence[Token], is_source: Callable[[str], bool]) -> bool:
    return bool(tokens) and is_source(tokens[0].text.strip("`"))


def _words(tokens: Sequence[Token]) -> list[str]:
    plain = (TokenKind.WORD, TokenKind.SYMBOL)
    return [token.text.upper() if token.kind in plain else "''" for token in tokens]


def _place(words: Sequence[str], what: str) -> int | None:
    """Return where ``AS TABLE`` is, outside of parentheses."""
    depth = 0
    for place, word in enumerate(words[:-1]):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if not depth and word == "AS" and words[place + 1] == what:
            return place
    return None


def _table(tokens: Sequence[Token], text: str) -> CreateTableAs:
    reader = TokenReader(tokens, "CREATE TABLE … AS TABLE")
    reader.expect("CREATE", "TABLE")
    if_not_exists = reader.take("IF", "NOT", "EXISTS")
    target = reader.names("the name of the table")
    keys: tuple[str, ...] = ()
    if reader.take("("):
        reader.expect("PRIMARY", "KEY")
        keys = _columns(reader)
        reader.take("NOT", "ENFORCED")
        reader.expect(")")
    if reader.is_at("COMMENT"):
        reader.refuse("no COMMENT, which is that of the source,")
    partitions = _columns(reader) if reader.take("PARTITIONED", "BY") else ()
    options = _pairs(reader) if reader.take("WITH") else {}
    reader.expect("AS", "TABLE")
    start = reader.offset
    source = reader.names("source.database.table")
    span = Span(start, _end_of_names(tokens, start))
    hints = _hints(reader)
    computed = _added(reader, tokens, text) if reader.take("ADD", "COLUMN") else {}
    reader.end()
    return CreateTableAs(
        target=target,
        source=source,
        source_span=span,
        if_not_exists=if_not_exists,
        primary_keys=keys,
        partition_keys=partitions,
        options=options,
        source_options=hints,
        computed=computed,
    )


def _database(tokens: Sequence[Token], _words: Sequence[str]) -> CreateDatabaseAs:
    reader = TokenReader(tokens, "CREATE DATABASE … AS DATABASE")
    reader.expect("CREATE", "DATABASE")
    if_not_exists = reader.take("IF", "NOT", "EXISTS")
    target = reader.names("the name of the database")
    if reader.is_at("COMMENT"):
        reader.refuse("no COMMENT, which CREATE DATABASE alone takes,")
    options = _pairs(reader) if reader.take("WITH") else {}
    reader.expect("AS", "DATABASE")
    start = reader.offset
    source = reader.names("source.database")
    span = Span(start, _end_of_names(tokens, start))
    reader.expect("INCLUDING")
    including = None if reader.take("ALL", "TABLES") else _pattern(reader)
    excluding = _pattern(reader) if reader.take("EXCLUDING") else None
    hints = _hints(reader)
    reader.end()
    return CreateDatabaseAs(
        target=target,
        source=source,
        source_span=span,
        including=including,
        excluding=excluding,
        if_not_exists=if_not_exists,
        options=options,
        source_options=hints,
    )


def _pattern(reader: TokenReader) -> str:
    reader.expect("TABLE")
    return reader.text("a regular expression in quotes")


def _columns(reader: TokenReader) -> tuple[str, ...]:
    reader.expect("(")
    names = [reader.name("a column")]
    while reader.take(","):
        names.append(reader.name("a column"))
    reader.expect(")")
    return tuple(names)


def _hints(reader: TokenReader) -> dict[str, str]:
    if not reader.take("/*+"):
        return {}
    reader.expect("OPTIONS")
    found = _pairs(reader)
    reader.expect("*/")
    return found


def _pairs(reader: TokenReader) -> dict[str, str]:
    """Read ``('key' = 'value', …)``."""
    reader.expect("(")
    found: dict[str, str] = {}
    while True:
        at = reader.offset
        key = reader.text("an option in quotes")
        reader.expect("=")
        value = reader.text("its value in quotes")
        if key in found:
            raise StatementSyntaxError(f"{key!r} is given twice.", Span(at, at + len(key) + 2))
        found[key] = value
        if not reader.take(","):
            break
    reader.expect(")")
    return found


def _added(reader: TokenReader, tokens: Sequence[Token], text: str) -> dict[str, str]:
    """Read ``(c AS function(…), …)``; texts of functions are left as they are."""
    inside = reader.block()
    within = [one for one in tokens if inside.start <= one.start < inside.end]
    found: dict[str, str] = {}
    for part in _parts(within):
        column = TokenReader(part, "ADD COLUMN")
        name = column.name("a column")
        column.expect("AS")
        first = column.offset
        column.name("a function of columns")
        if not column.is_at("("):
            column.refuse("a function of columns, as date_format(created, 'yyyy-MM-dd'),")
        span = column.block()
        if not column.is_at_end:
            column.refuse("',' or ')' (columns have no comment, and are added at the end)")
        if name in found:
            raise StatementSyntaxError(f"{name!r} is added twice.", Span(first, span.end))
        found[name] = text[first : span.end] + ")"
    if not found:
        reader.refuse("columns to add")
    return found


def _parts(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut tokens at commas outside of parentheses."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind is TokenKind.SYMBOL:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.text == "," and not depth:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts if parts != [[]] else []


def _end_of_names(tokens: Sequence[Token], start: int) -> int:
    """Return where the name that begins at an offset ends."""
    place = next(place for place, token in enumerate(tokens) if token.start >= start)
    end = tokens[place].end
    while place + 2 < len(tokens) and tokens[place + 1].text == ".":
        place += 2
        end = tokens[place].end
    return end
