"""Which statements a read-only connection allows: those that change nothing."""

from __future__ import annotations

from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import QUERY_WORDS, Statement
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

_READING = QUERY_WORDS | {
    *("SHOW", "DESCRIBE", "DESC", "EXPLAIN", "LIST"),
    *("USE", "SET", "RESET", "CACHE", "UNCACHE", "CLEAR", "REFRESH"),
}
"""First words of statements that change nothing but the session."""
_CHANGING = frozenset(
    {
        *(("INSERT", "INTO"), ("INSERT", "OVERWRITE"), ("INSERT", "WITH"), ("DELETE", "FROM")),
        *(("MERGE", "INTO"), ("MERGE", "WITH")),
    }
)
"""How a query can continue: ``WITH … INSERT INTO``, ``FROM t INSERT INTO``."""
_BEFORE_NAMES = frozenset({".", ",", "SELECT", "AS", "DISTINCT"})
_TEMPORARY = ({"TEMP", "TEMPORARY"}, {"VIEW", "FUNCTION"})


def check_reads(statement: Statement, alias: str) -> None:
    """Refuse a statement that would change a table, a database or files.

    Parameters
    ----------
    statement
        The statement.
    alias
        Of the connection, for the message.

    Raises
    ------
    QueryError
        Names what is refused.
    """
    token = _changing(statement.tokens)
    if token is None:
        return
    raise QueryError(
        f"{_title(statement, token)} is refused: the connection {alias} is read-only.",
        topic="connections",
        statement=statement,
        span=Span(token.start, token.end),
        hint="%paimon_connect without --read-only makes one that writes; --dry-run shows what a "
        "call would do.",
    )


def _changing(tokens: tuple[Token, ...]) -> Token | None:
    """Return the word that makes a statement change something."""
    first = tokens[0]
    word = first.text.upper()
    if word in {"CREATE", "DROP"}:
        return None if _is_temporary(tokens) else first
    if word not in _READING:
        return first
    return next((token for token in _outside(tokens) if word in QUERY_WORDS), None)


def _outside(tokens: tuple[Token, ...]) -> list[Token]:
    """Return the words outside of parentheses that begin a change."""
    depth, changes = 0, []
    texts = [token.text.upper() for token in tokens]
    for index, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.kind is not TokenKind.WORD or depth != 0 or texts[index - 1] in _BEFORE_NAMES:
            continue
        # WITH a AS (…) UPDATE t SET …: what follows its name tells it from a column `update`.
        is_update = texts[index] == "UPDATE" and "SET" in texts[index + 2 :]
        if is_update or tuple(texts[index : index + 2]) in _CHANGING:
            changes.append(token)
    return changes


def _is_temporary(tokens: tuple[Token, ...]) -> bool:
    """Tell whether a view or function belongs to the session alone."""
    words = [token.text.upper() for token in tokens[:6]]
    begin = 3 if words[1:3] == ["OR", "REPLACE"] else 1
    begin += words[begin : begin + 1] == ["GLOBAL"]
    rest = words[begin : begin + 2]
    return len(rest) == 2 and rest[0] in _TEMPORARY[0] and rest[1] in _TEMPORARY[1]


def _title(statement: Statement, token: Token) -> str:
    """Name a statement by the words that say what it does."""
    index = statement.tokens.index(token)
    if token.text.upper() == "CALL":
        name = "".join(part.text for part in statement.tokens[index + 1 :]).partition("(")[0]
        return f"CALL {name}"
    words = [part.text.upper() for part in statement.tokens[index : index + 2]]
    return " ".join(words)
