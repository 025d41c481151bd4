"""What ``type_mapping`` may say, as Paimon's actions have it: words for sources and for tables.

Words for sources change what a value becomes when it is read, those for tables what a table takes.

Source: apache/paimon@1.4.2 ``TypeMapping``; ``JdbcSchemaUtils`` (``to-nullable``),
``UpdatedDataFieldsProcessFunctionBase`` (``decimal-no-change``, ``allow-non-string-to-string``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paimonlab.errors import UnsupportedError, close_matches

NULLABLE = "to-nullable"
"""Columns are nullable, but for those of the key."""
DECIMALS_STAY = "decimal-no-change"
"""A DECIMAL keeps its type, whatever the source changes it to."""
TO_TEXTS = "allow-non-string-to-string"
"""A column of any type may become a text."""
OF_TABLES = (NULLABLE, DECIMALS_STAY, TO_TEXTS)

OF_ACTIONS = (
    "tinyint1-not-bool",
    "to-string",
    "char-to-string",
    "longtext-to-bytes",
    "bigint-unsigned-to-bigint",
    *OF_TABLES,
)
"""All that Paimon's actions take, each of every source."""


def checked_words(given: Iterable[str], of_source: Sequence[str], source: str) -> frozenset[str]:
    """Return words after checking that there are such.

    Parameters
    ----------
    given
        By a user.
    of_source
        Those that the source takes, beside those for tables.
    source
        What it is called.

    Raises
    ------
    UnsupportedError
        If there is no such word.
    """
    words = frozenset(given)
    known = (*of_source, *OF_TABLES)
    for word in sorted(words.difference(known)):
        raise UnsupportedError(
            f"type_mapping = {word!r} of {source}",
            f"there are {', '.join(known)}.{close_matches(word, known)}",
        )
    return words


def of_tables(words: Iterable[str]) -> frozenset[str]:
    """Return the words that are for tables."""
    return frozenset(words).intersection(OF_TABLES)
