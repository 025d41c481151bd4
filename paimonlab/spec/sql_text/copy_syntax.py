"""``COPY INTO``: rows of files into a table, or rows of a table or query into files.

Source: apache/paimon@5dacde5 ``PaimonSqlExtensions.g4``, ``CopyOptions.scala``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from paimonlab.spec.sql_text.reader import TokenReader
from paimonlab.spec.sql_text.tokens import Token

FormatValue: TypeAlias = str | tuple[str, ...]
"""Of an option of a file format; several texts for NULL_IF."""


class CopyFormat(Enum):
    """What the files are."""

    CSV = "CSV"
    JSON = "JSON"
    PARQUET = "PARQUET"


class OnError(Enum):
    """What becomes of rows that cannot be loaded."""

    ABORT_STATEMENT = "ABORT_STATEMENT"
    """Nothing is loaded."""
    CONTINUE = "CONTINUE"
    """The other rows are loaded."""
    SKIP_FILE = "SKIP_FILE"
    """The other files are loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyIntoTable:
    """Load files into a table."""

    table: tuple[str, ...]
    """Parts of its name."""
    columns: tuple[str, ...] | None
    """Which columns the files have; None: all."""
    source: str
    """A folder or a file."""
    format: CopyFormat
    options: Mapping[str, FormatValue]
    """Of the format, by their names in upper case."""
    pattern: str | None = None
    """A regular expression of Java that names of files match somewhere; None: all files."""
    is_forced: bool = False
    """Whether files that were loaded before are loaded again."""
    on_error: OnError = OnError.ABORT_STATEMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyIntoFolder:
    """Write a table or the rows of a query to files."""

    target: str
    table: tuple[str, ...] | None
    """Parts of its name; None: a query."""
    query: str | None
    format: CopyFormat
    options: Mapping[str, FormatValue]
    """Of the format, by their names in upper case."""
    is_overwrite: bool = False
    """Whether what the folder holds is replaced."""


def parse_copy_statement(
    tokens: Sequence[Token], text: str
) -> CopyIntoTable | CopyIntoFolder | None:
    """Read ``COPY INTO``.

    Parameters
    ----------
    tokens
        All of the statement.
    text
        What they were cut from.

    Returns
    -------
    CopyIntoTable, CopyIntoFolder or None
        None if it is another statement.

    Raises
    ------
    StatementSyntaxError
        If it begins like one and goes on otherwise.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> said = "COPY INTO db.t FROM '/in' FILE_FORMAT = (TYPE = CSV, SKIP_HEADER = 1) FORCE = TRUE"
    >>> made = parse_copy_statement(tokenize(said), said)
    >>> made.table, made.source, made.options, made.is_forced
    (('db', 't'), '/in', {'SKIP_HEADER': '1'}, True)
    """
    reader = TokenReader(tokens, "COPY INTO")
    if not reader.take("COPY", "INTO"):
        return None
    return _from_source(reader, text) if reader.is_at_text else _into_table(reader)


def _into_table(reader: TokenReader) -> CopyIntoTable:
    table = reader.names("a table, or the path of a folder in quotes,")
    columns = None
    if reader.take("("):
        columns = [reader.name("a column")]
        while reader.take(","):
            columns.append(reader.name("a column"))
        reader.expect(")")
    reader.expect("FROM")
    source = reader.text("the path of a folder in quotes")
    kind, options = _file_format(reader)
    pattern, is_forced, on_error = None, False, OnError.ABORT_STATEMENT
    said: set[str] = set()
    while not reader.is_at_end:
        if "PATTERN" not in said and reader.take("PATTERN", "="):
            said.add("PATTERN")
            pattern = reader.text("a regular expression in quotes")
        elif "FORCE" not in said and reader.take("FORCE", "="):
            said.add("FORCE")
            is_forced = _boolean(reader)
        elif "ON_ERROR" not in said and reader.take("ON_ERROR", "="):
            said.add("ON_ERROR")
            on_error = _on_error(reader)
        else:
            reader.refuse("PATTERN, FORCE or ON_ERROR, each once,")
    return CopyIntoTable(
        table=table,
        columns=None if columns is None else tuple(columns),
        source=source,
        format=kind,
        options=options,
        pattern=pattern,
        is_forced=is_forced,
        on_error=on_error,
    )


def _from_source(reader: TokenReader, text: str) -> CopyIntoFolder:
    target = reader.text("the path of a folder in quotes")
    reader.expect("FROM")
    table, query = None, None
    if reader.is_at("("):
        inside = reader.block()
        query = text[inside.start : inside.end].strip()
    else:
        table = reader.names("a table, or a query in parentheses,")
    kind, options = _file_format(reader)
    is_overwrite = reader.take("OVERWRITE", "=") and _boolean(reader)
    reader.end()
    return CopyIntoFolder(
        target=target,
        table=table,
        query=query,
        format=kind,
        options=options,
        is_overwrite=is_overwrite,
    )


def _file_format(reader: TokenReader) -> tuple[CopyFormat, dict[str, FormatValue]]:
    if not reader.is_at("FILE_FORMAT"):
        reader.refuse("FILE_FORMAT = (TYPE = CSV), or another type,")
    reader.expect("FILE_FORMAT", "=", "(")
    options: dict[str, FormatValue] = {}
    while True:
        key = reader.name("an option of the format").upper()
        if key in options:
            reader.refuse(f"{key} only once, and another option")
        reader.expect("=")
        options[key] = _format_value(reader)
        if not reader.take(","):
            break
    kind = str(options.pop("TYPE", ""))
    if kind.upper() not in CopyFormat.__members__:
        reader.refuse(f"TYPE = CSV, JSON or PARQUET ({kind!r} is none of them) before what is")
    reader.expect(")")
    return CopyFormat[kind.upper()], options


def _format_value(reader: TokenReader) -> FormatValue:
    if reader.take("("):
        texts = [reader.text("a text in quotes")]
        while reader.take(","):
            texts.append(reader.text("a text in quotes"))
        reader.expect(")")
        return tuple(texts)
    if reader.is_at_text:
        return reader.text("a text in quotes")
    return reader.name("a value")


def _boolean(reader: TokenReader) -> bool:
    if reader.take("TRUE"):
        return True
    if not reader.take("FALSE"):
        reader.refuse("TRUE or FALSE")
    return False


def _on_error(reader: TokenReader) -> OnError:
    chosen = next((way for way in OnError if reader.take(way.value)), None)
    if chosen is None:
        reader.refuse(", ".join(way.value for way in OnError))
    return chosen
