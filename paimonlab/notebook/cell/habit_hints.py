"""Statements of other table formats and engines that Spark refuses: what does that here."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.sql_text.tokens import Token, TokenKind

_STATEMENTS = {
    "CREATE INDEX": (
        "Files get indexes by an option: ALTER TABLE db.t SET TBLPROPERTIES "
        "('file-index.bloom-filter.columns' = 'c')"
    ),
    "MSCK REPAIR": "Nothing is to be done: a table knows its partitions by its commits",
    "DESCRIBE DETAIL": "Write DESCRIBE EXTENDED db.t, or SELECT * FROM db.t$files",
    "DESC DETAIL": "Write DESCRIBE EXTENDED db.t, or SELECT * FROM db.t$files",
    "CONVERT TO": "Write CALL sys.migrate_table('parquet', '/folder', target_table => 'db.t')",
    "REORG TABLE": "Write OPTIMIZE db.t FULL",
    "UNDROP TABLE": "A table that was dropped is gone; tags and branches go with it",
    "REFRESH TABLE": "Nothing is to be done: each statement reads the latest snapshot",
}
"""By the first two words."""
_FUNCTIONS = {
    "TABLE_CHANGES": "Write SELECT * FROM paimon_incremental_query('db.t', 1, 5): after 1, up to 5",
}
"""By the name of a function in FROM."""
_ARGUMENTS = {("COMPACT", "FULL"): "Write compact_strategy => 'full'"}
"""By a procedure and an argument that it does not have."""


def habit_hint(tokens: Sequence[Token]) -> str:
    """Say what is written here instead of a statement; empty if nothing is known.

    Parameters
    ----------
    tokens
        Of the whole statement.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> habit_hint(tokenize("CALL sys.compact(table => 'db.t', full => true)"))
    "Write compact_strategy => 'full'"
    >>> habit_hint(tokenize("SELECT 1"))
    ''
    """
    words = [token.text.upper() for token in tokens if token.kind is TokenKind.WORD]
    if found := _STATEMENTS.get(" ".join(words[:2])):
        return found
    if words[:1] == ["CALL"]:
        asked = (hint for (name, given), hint in _ARGUMENTS.items() if {name, given} <= {*words})
        return next(asked, "")
    return next((hint for name, hint in _FUNCTIONS.items() if name in words), "")
