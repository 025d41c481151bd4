"""What is probably meant where SQL is not understood."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from paimonlab.spec.sql_text.mistakes import mistake
from paimonlab.spec.sql_text.tokens import Token, TokenKind

_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "LEFT", "RIGHT"),
    *("INNER", "OUTER", "CROSS", "UNION", "EXCEPT", "INTERSECT", "DISTINCT", "BETWEEN", "LIKE"),
    *("WITH", "VALUES", "INSERT", "INTO", "OVERWRITE", "CREATE", "TABLE", "DATABASE", "DROP"),
    *("ALTER", "COLUMN", "PARTITION", "PARTITIONED", "TBLPROPERTIES", "COMMENT", "EXISTS"),
    *("VERSION", "TIMESTAMP", "DELETE", "UPDATE", "MERGE", "MATCHED", "WHEN", "THEN", "CASE"),
    *("DESCRIBE", "SHOW", "TABLES", "DATABASES", "EXPLAIN", "CALL", "REPLACE", "RENAME"),
)
_SHORT_KEYWORDS = (
    *("AS", "BY", "AND", "OR", "ON", "SET", "NOT", "IN", "IS", "TO", "ADD", "USING", "ALL"),
    *("ELSE", "END", "ASC", "DESC", "FOR", "OF", "OVER", "ANY", "NULL", "TRUE", "FALSE"),
)
_TYPES = (
    *("INT", "INTEGER", "BIGINT", "SMALLINT", "DOUBLE", "FLOAT", "DECIMAL", "STRING", "VARCHAR"),
    *("BOOLEAN", "DATE", "BINARY"),
)
_RIGHT = frozenset((*_KEYWORDS, *_TYPES, "COUNT"))
"""Words that are near another one and right as they are."""
_NO_NAMES = frozenset((*_KEYWORDS, *_SHORT_KEYWORDS))
_BEFORE_NAMES = frozenset({".", ",", "(", "=", "<", ">", "SELECT", "BY", "WHERE", "AND", "OR"})
"""After which a keyword may be the first word of a name."""


def guess(tokens: Sequence[Token], offset: int) -> str:
    """Say what is probably meant where SQL is not understood; empty: nothing is known.

    Parameters
    ----------
    tokens
        Of the statement or condition.
    offset
        Where a reader gave up, in code points.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> guess(tokenize("SELECT id FORM t"), 15)
    'Did you mean FROM instead of FORM?'
    >>> guess(tokenize("Unit Price > 1"), 5)
    'If Unit Price is one name, write it in backquotes: `Unit Price`'
    """
    return (
        _unclosed(tokens)
        or mistake(tokens, offset)
        or _close_keyword(tokens, offset)
        or _one_name(tokens, offset)
    )


def _unclosed(tokens: Sequence[Token]) -> str:
    if any(not _is_closed(token) for token in tokens[-1:]):
        return f"The quote {tokens[-1].text[:1]} that begins here is never closed."
    return ""


def _close_keyword(tokens: Sequence[Token], offset: int) -> str:
    """Look for a misspelt keyword there, and right before."""
    near = [number for number, token in enumerate(tokens) if token.start <= offset][-2:]
    for number in near:
        token = tokens[number]
        beside = {one.text for one in tokens[max(number - 1, 0) : number + 2]}
        is_word = token.kind is TokenKind.WORD and "." not in beside  # else a part of a name
        if is_word and token.text.upper() not in _RIGHT:
            known = (*_KEYWORDS, *_TYPES)
            close = difflib.get_close_matches(token.text.upper(), known, n=1, cutoff=0.7)
            if close:
                return f"Did you mean {close[0]} instead of {token.text}?"
    return ""


def _one_name(tokens: Sequence[Token], offset: int) -> str:
    """Look for a name of two words that is not quoted."""
    triples = zip([None, *tokens], tokens, tokens[1:], [*tokens[2:], None], strict=False)
    for before, first, second, after in triples:
        is_there = offset in (first.start, second.start)
        is_renamed = after is not None and after.text.upper() == "AS" and offset == after.start
        is_words = first.kind is second.kind is TokenKind.WORD and not first.text[0].isdigit()
        is_name = first.text.upper() not in _NO_NAMES or (
            before is not None and before.text.upper() in _BEFORE_NAMES
        )
        if (
            (is_there or is_renamed)
            and is_words
            and is_name
            and second.text.upper() not in _NO_NAMES
        ):
            name = f"{first.text} {second.text}"
            return f"If {name} is one name, write it in backquotes: `{name}`"
    return ""


def _is_closed(token: Token) -> bool:
    if token.kind is TokenKind.QUOTED:
        return len(token.text) > 1 and token.text.endswith("`")
    is_quoted = token.kind is TokenKind.STRING and token.text[0] in "'\""
    return not is_quoted or (len(token.text) > 1 and token.text.endswith(token.text[0]))
