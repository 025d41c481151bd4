"""Statements of other formats and engines that no engine runs here: what does that instead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from paimonlab.spec.sql_text.mistakes import UPSERT
from paimonlab.spec.sql_text.tokens import Token, TokenKind

_NO_CHECK = (
    "A Paimon table has PRIMARY KEY (…) and NOT NULL; other conditions are kept by the query that "
    "inserts: INSERT INTO db.t SELECT … WHERE id > 0"
)
_CLUSTERED = (
    "CLUSTER BY sorts rows here when they are compacted: TBLPROPERTIES ('clustering.columns' = "
    "'id', 'clustering.incremental' = 'true')"
)
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
    "GENERATE SYMLINK_FORMAT_MANIFEST": (
        "Nothing is to be generated: SELECT file_path FROM db.t$files lists the files of a table"
    ),
    "FSCK REPAIR": (
        "CALL sys.remove_unexisting_files(table => 'db.t', dry_run => true) lists the files that "
        "are missing; without dry_run it takes them out of the table. paimonlab fsck db.t checks "
        "all files"
    ),
    "UNDROP TABLE": "A table that was dropped is gone; tags and branches go with it",
    **dict.fromkeys(
        ("BEGIN", "BEGIN TRANSACTION", "START TRANSACTION", "COMMIT", "ROLLBACK"),
        "Each statement is a commit of its own: all of it, or nothing",
    ),
    "SHOW HISTORY": "Write DESCRIBE HISTORY db.t",
    "SHOW CREATE": "Write DESCRIBE db.t for columns, SELECT * FROM db.t$options for options",
    "GRANT SELECT": "Rights are those of the store, or of the server that has the catalog",
    "REFRESH TABLE": "Nothing is to be done: each statement reads the latest snapshot",
}
"""By the first two words."""
_COPY = "Write COPY INTO db.t FROM '/csv' FILE_FORMAT = (TYPE = CSV), or INTO '/csv' FROM db.t"
_COUNTERS = {"AUTO_INCREMENT", "AUTOINCREMENT", "IDENTITY"}
_FUNCTIONS = {
    **dict.fromkeys(
        ("READ_CSV", "READ_CSV_AUTO", "READ_JSON", "READ_JSON_AUTO", "READ_PARQUET"),
        "A file is a table: FROM 'sales.csv'",
    ),
    "TABLE_CHANGES": "Write SELECT * FROM paimon_incremental_query('db.t', 1, 5): after 1, up to 5",
}
"""By the name of a function in FROM."""
_FILES = (".csv", ".json", ".parquet", ".orc")
_ARGUMENTS = {("COMPACT", "FULL"): "Write compact_strategy => 'full'"}
"""By a procedure and an argument that it does not have."""
_FIRST_OF_EACH = (
    "Spark's SQL has no DISTINCT ON. SELECT … FROM … QUALIFY row_number() OVER (PARTITION BY id "
    "ORDER BY day) = 1 keeps the first row of each"
)


def habit_hint(tokens: Sequence[Token], *, reads_files: bool = False) -> str:
    """Say what is written here instead of a statement; empty if nothing is known.

    Parameters
    ----------
    tokens
        Of the whole statement.
    reads_files
        Whether a file is a table where it runs, so that this is not what was wrong.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> habit_hint(tokenize("CALL sys.compact(table => 'db.t', full => true)"))
    "Write compact_strategy => 'full'"
    >>> habit_hint(tokenize("SELECT 1"))
    ''
    >>> habit_hint(tokenize("CREATE TABLE db.t (id INT) PRIMARY KEY (id)"))
    'Write PRIMARY KEY (id) as the last in the parentheses of the columns'
    >>> habit_hint(tokenize("SELECT * FROM 'a.csv'"))[:43]
    "With --engine native, or auto, 'a.csv' is a"
    """
    words = [token.text.upper() for token in tokens if token.kind is TokenKind.WORD]
    if found := _STATEMENTS.get(" ".join(words[:2])):
        return found
    if words[:1] == ["CALL"]:
        asked = (hint for (name, given), hint in _ARGUMENTS.items() if {name, given} <= {*words})
        return next(asked, "")
    if found := _said_of_clauses(words) or _said_of_distinct(tokens):
        return found
    if words[:1] == ["CREATE"] and _has_key_behind(tokens):
        return "Write PRIMARY KEY (id) as the last in the parentheses of the columns"
    if not reads_files and words[:1] != ["COPY"] and (file := _file_read(tokens)):
        return (
            f"With --engine native, or auto, {file} is a table; Spark loads it by "
            f"COPY INTO db.t FROM {file}"
        )
    return next((hint for name, hint in _FUNCTIONS.items() if name in words), "")


def _said_of_clauses(words: Sequence[str]) -> str:
    """Say what there is instead of clauses that only others have; empty: they are not there."""
    match words[:1]:
        case ["COPY"] if words[1:2] != ["INTO"]:
            return _COPY
        case ["INSERT"] if {("ON", "CONFLICT"), ("ON", "DUPLICATE")} & {*pairwise(words)}:
            return UPSERT.removesuffix(".")
        case ["ALTER"] if "EXECUTE" in words:
            return "Write OPTIMIZE db.t, or CALL sys.expire_snapshots(table => 'db.t')"
        case ["CREATE" | "ALTER"]:
            return _said_of_columns(words)
    return ""


def _said_of_distinct(tokens: Sequence[Token]) -> str:
    """Say what there is instead of DISTINCT ON; empty: it is not there."""
    texts = [token.text.upper() for token in tokens]
    is_there = ("DISTINCT", "ON", "(") in zip(texts, texts[1:], texts[2:], strict=False)
    return _FIRST_OF_EACH if is_there else ""


def _said_of_columns(words: Sequence[str]) -> str:
    """Say what there is instead of constraints and CLUSTER BY; empty: they are not there."""
    if ("CLUSTER", "BY") in pairwise(words):
        return _CLUSTERED
    if _COUNTERS & {*words}:
        return "Ids are given by who writes the rows: leave it out"
    if words[0] == "CREATE":
        return _NO_CHECK if "CHECK" in words else ""
    is_altered = {"CONSTRAINT", "CHECK"} & {*words} and {"ADD", "DROP"} & {*words}
    return _NO_CHECK if is_altered else ""


def _file_read(tokens: Sequence[Token]) -> str:
    """Return the first file that is written where a table is; empty if there is none."""
    for before, token in pairwise(tokens):
        is_table = token.kind is TokenKind.STRING and before.text.upper() in ("FROM", "JOIN")
        if is_table and token.text.strip("'\"").lower().endswith(_FILES):
            return token.text
    return ""


def _has_key_behind(tokens: Sequence[Token]) -> bool:
    """Tell whether PRIMARY KEY follows the parentheses of the columns."""
    depth = 0
    for token in tokens:
        if token.kind is TokenKind.SYMBOL:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        elif token.text.upper() == "PRIMARY" and not depth:
            return True
    return False
