"""EXPLAIN: what a query reads, and how DuckDB computes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paimonlab.secrets import without_secret_values
from paimonlab.spec.plurals import many
from paimonlab.spec.predicates.predicate import Predicate, all_of
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.rows import Part, Rows

_QUERIES = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE", "("})
_MODES = frozenset({"EXTENDED", "CODEGEN", "COST"})
NO_BITS = b"\0"
"""In the place of those that say which rows count, which a plan would write out."""
_NO_BITS_TEXT, _BITS_NAME = "'00000000'::BIT", "rows_that_count"
"""As DuckDB writes them, and what is shown, equally wide."""
COLUMN = "plan"
"""Spark's name of the column that the plan is in."""


def explained_query(text: str) -> str | None:
    """Return the query that EXPLAIN is about; None if it is another statement.

    Raises
    ------
    NotTranslatedError
        If only Spark has such a plan, or it is not that of a query.

    Examples
    --------
    >>> explained_query("EXPLAIN FORMATTED SELECT 1"), explained_query("SELECT 1")
    ('SELECT 1', None)
    """
    words = tokenize(text)
    if len(words) < 2 or words[0].text.upper() != "EXPLAIN":
        return None
    mode = words[1].text.upper()
    if mode in _MODES:
        raise NotTranslatedError(f"EXPLAIN {mode}", mode, "Write EXPLAIN and the query")
    rest = words[2:] if mode == "FORMATTED" else words[1:]
    if not rest or rest[0].text.upper() not in _QUERIES:
        word = rest[0].text if rest else mode
        raise NotTranslatedError(f"EXPLAIN of {word.upper()}", word, "It explains queries")
    return text[rest[0].start :]


@dataclass(frozen=True, slots=True)
class ReadTable:
    """One mention of a table in a query, and what is read of it."""

    label: str
    """What is read, as ``db.t@5``."""
    alias: str
    """What the translated query calls it."""
    columns: Mapping[str, str]
    """Names of the columns that are read, by those that they have in the translated query."""
    filters: Sequence[Predicate]
    """Conditions that leave out files and rows when it is read."""
    rows: Rows = field(repr=False)


def explanation(
    tables: Sequence[ReadTable], sql: str, parts: Sequence[Part], computed: str, engine: str
) -> str:
    """Write who answers a query, of what, by which SQL, and how that is computed.

    Parameters
    ----------
    tables
        What it reads.
    sql
        The translated query, with tables by their names.
    parts, computed
        As for `plan_text`.
    engine
        Who answers.
    """
    lines = ["== Engine ==", engine, "", "== Tables =="]
    for table in tables:
        named = ", ".join(f"{short} = {name}" for short, name in table.columns.items())
        lines.append(f"{table.label} AS {table.alias}: {named or 'no column'}")
        if table.filters:
            lines.append(f"  filters: {without_secret_values(str(all_of(*table.filters)))}")
    lines += [*([] if tables else ["none"]), "", "== Translated SQL ==", sql, ""]
    return "\n".join(lines) + "\n" + plan_text(parts, computed)


def plan_text(parts: Sequence[Part], computed: str) -> str:
    """Write what is read, then how it is computed.

    Parameters
    ----------
    parts
        Where the rows are from.
    computed
        DuckDB's plan, as it draws it.
    """
    read = list(_read(parts)) or ["nothing"]
    drawn = computed.rstrip().replace(_NO_BITS_TEXT, _BITS_NAME)
    return "\n".join(["== Read ==", *read, "", "== Computed by DuckDB ==", drawn])


def _read(parts: Sequence[Part]) -> Iterator[str]:
    """Say for each mention of a table who reads its rows."""
    files: Counter[str] = Counter()
    masked: Counter[str] = Counter()
    kept: set[str] = set()
    streams: dict[str, int | None] = {}
    for part in parts:
        label = part.label or part.name
        (masked if part.bits is not None else files)[label] += len(part.paths)
        if part.is_kept:
            kept.add(label)
        elif part.stream is not None:
            streams[label] = part.file_count
    for label in dict.fromkeys(part.label or part.name for part in parts):
        said = [f"{many(files[label], 'file')} opened by DuckDB"] if files[label] else []
        if masked[label]:
            said.append(
                f"{many(masked[label], 'file')} opened by DuckDB, without rows that are deleted"
            )
        if label in kept:
            said.append("rows merged before, in memory")
        if label in streams:
            count = streams[label]
            said.append(
                f"{many(count, 'file') if count else 'rows'} that paimonlab reads and merges"
            )
        yield f"{label}: {'; '.join(said) or 'rows counted by metadata'}"
