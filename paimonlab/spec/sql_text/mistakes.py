"""Mistakes that words of a statement show: brackets, the order of clauses, habits of other SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from itertools import pairwise

from paimonlab.spec.sql_text.tokens import Token, TokenKind

_CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "ORDER", "LIMIT", "OFFSET")
"""In the order in which they are written."""
_COUNTS = (":", "?", "(", "ALL")
"""What a number of rows begins with, beside digits."""
_SHOWN = {"GROUP": "GROUP BY", "ORDER": "ORDER BY"}
_RESERVED = frozenset(
    {"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "JOIN", "ON", "AS"}
    | {"AND", "OR", "NOT", "CASE", "WHEN", "THEN", "ELSE", "END", "IN", "TABLE", "WITH", "BY"}
)
_CURLED = frozenset("\u201c\u201d\u201e\u2018\u2019\u201a\u00b4")
"""Quotes of printed texts, which no SQL has."""
_TYPES = frozenset(
    {"INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "DOUBLE", "FLOAT", "STRING", "BOOLEAN"}
    | {"DATE", "TIMESTAMP", "DECIMAL", "BINARY"}
)
_BEGINNINGS = (
    *("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "ALTER", "DROP", "TRUNCATE"),
    *("DESCRIBE", "DESC", "SHOW", "WITH", "FROM", "VALUES", "CALL", "COPY", "EXPLAIN", "OPTIMIZE"),
    *("TABLE", "SET", "USE", "VACUUM", "COMMENT", "ANALYZE", "REFRESH", "CACHE", "GRANT"),
)
_SETS = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS"})


def mistake(tokens: Sequence[Token], offset: int) -> str:
    """Say which common mistake a statement has; empty: none is known.

    Parameters
    ----------
    tokens
        Of the statement or condition.
    offset
        Where a reader gave up, in code points.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> mistake(tokenize("SELECT a FROM t LIMIT 3 WHERE a = 1"), 24)
    'WHERE is written before LIMIT.'
    >>> mistake(tokenize("SELECT count(* FROM t"), 15)
    'The bracket ( after count is never closed.'
    """
    words = [token.text.upper() for token in tokens]
    at = next((n for n, token in enumerate(tokens) if token.end > offset), len(tokens))
    for look in (*_CERTAIN, *_LIKELY):
        found = look(tokens, words, at)
        if found:
            return found
    return ""


def certain_mistake(tokens: Sequence[Token]) -> str:
    """Say what of a statement no SQL of Spark has; empty: nothing is known.

    Readers of other SQL take some of it: clauses in any order, two commas side by side.

    Parameters
    ----------
    tokens
        Of the statement.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> certain_mistake(tokenize("SELECT a,, b FROM t"))
    'There is a comma too many after a.'
    """
    words = [token.text.upper() for token in tokens]
    for look in _CERTAIN:
        found = look(tokens, words, 0)
        if found:
            return found
    return ""


UPSERT = (
    "Write INSERT INTO db.t VALUES (…): rows of a table with a primary key replace those of the "
    "same key."
)
"""What other databases have words of their own for."""
_VERBS = {
    "SUMMARIZE": (
        "In notebooks %paimon_profile db.t, in Python table.show.profile(), says what is in each "
        "column."
    ),
    "ATTACH": "paimonlab.connect(path) opens another warehouse.",
    "PRAGMA": "DESCRIBE db.t lists columns, SHOW TABLES IN db tables.",
    ".": "SHOW TABLES IN db lists tables, DESCRIBE db.t columns.",
}
"""First words of statements that only other databases have."""


def _other_verb(_tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    return _VERBS.get(words[0], "") if words else ""


def _curled(tokens: Sequence[Token], _words: Sequence[str], _at: int) -> str:
    for token in tokens:
        if token.text in _CURLED:
            return (
                f"{token.text} is a quote for printing: texts are written 'so', names in backquotes"
            )
    return ""


def _in_braces(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    """Look for ``{x}``, which other notebooks replace by the text of a variable."""
    for number, token in enumerate(tokens[:-2]):
        if token.text == "{" and words[number + 2] == "}":
            name = tokens[number + 1].text
            if tokens[number + 1].kind is TokenKind.WORD and name.isidentifier():
                return f"Write :{name} for the value of the variable {name}."
    return ""


def _top(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    for number, word in enumerate(words[:-2]):
        after = tokens[number + 1].text
        if word == "TOP" and words[number - 1 : number] == ["SELECT"] and after.isdecimal():
            return f"Write LIMIT {after} at the end instead of TOP {after}."
        is_pair = after.isdecimal() and words[number + 2] == "," and number + 3 < len(words)
        if word == "LIMIT" and is_pair:
            return f"Write LIMIT {tokens[number + 3].text} OFFSET {after}."
        if word == "FETCH" and words[number + 1] in ("FIRST", "NEXT"):
            return f"Write LIMIT {tokens[number + 2].text} instead of FETCH."
    return ""


def _clause_order(_tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    """Look for a clause after one that is written later, in the same query."""
    latest: list[str] = [""]
    for number, word in enumerate(words):
        after = words[number + 1] if number + 1 < len(words) else ""
        if word in _SHOWN and after != "BY":
            continue  # WITHIN GROUP
        if word in ("LIMIT", "OFFSET") and not (after.isdecimal() or after in _COUNTS):
            continue  # a column of this name
        if word == "FROM" and words[number - 1] == "DISTINCT" and latest[-1]:
            continue  # IS DISTINCT FROM
        if word == "(":
            latest.append("")
        elif word == ")" and len(latest) > 1:
            latest.pop()
        elif word == "SELECT" or word in _SETS:
            latest[-1] = ""
        elif word in _CLAUSES:
            before = latest[-1]
            if before and _CLAUSES.index(before) > _CLAUSES.index(word):
                return f"{_SHOWN.get(word, word)} is written before {_SHOWN.get(before, before)}."
            latest[-1] = word
    return ""


def _brackets(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    opened: list[int] = []
    for number, word in enumerate(words):
        if word == "(":
            opened.append(number)
        elif word == ")":
            if not opened:
                return f"There is a ) too many{_place(tokens, number)}."
            opened.pop()
    if opened:
        return f"The bracket ({_place(tokens, opened[-1])} is never closed."
    return ""


def _place(tokens: Sequence[Token], number: int) -> str:
    return f" after {tokens[number - 1].text}" if number else ""


def _case(_tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    if words.count("CASE") > words.count("END"):
        return "CASE WHEN … THEN … ELSE … END: an END is missing."
    return ""


def _habits(_tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    match list(words[:4]):
        case ["DELETE", "*", *_]:
            return "Write DELETE FROM table WHERE …, without *."
        case ["DELETE", second, *_] if second != "FROM":
            return "Write DELETE FROM table WHERE …"
        case ["INSERT", "OR", "REPLACE" | "IGNORE", *_] | ["REPLACE" | "UPSERT", "INTO", *_]:
            return UPSERT
        case ["INSERT", second, *_] if second not in ("INTO", "OVERWRITE"):
            return "Write INSERT INTO table VALUES (…)"
    return ""


def _unbracketed(_tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    if words[:1] == ["UPDATE"] and "SET" not in words:
        return "Write UPDATE table SET column = value WHERE …"
    for before, word in pairwise(words):
        if before == "VALUES" and word != "(":
            return "Each row of VALUES is in brackets: VALUES (1, 'a'), (2, 'b')"
        if before == "IN" and word != "(" and "INSERT" not in words[:1]:
            return "What follows IN is in brackets: IN (1, 2)"
    return ""


def _without_by(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    for number, word in enumerate(words[1:-1], 1):
        is_after = tokens[number - 1].kind is TokenKind.WORD and words[number - 1] not in _RESERVED
        is_clause = word in _SHOWN and is_after
        if is_clause and words[number + 1] != "BY" and tokens[number + 1].kind is TokenKind.WORD:
            return f"Write {_SHOWN[word]}."
    return ""


def _first_word(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    """Look for a verb that is misspelt: all others a reader takes for names."""
    is_word = bool(words) and tokens[0].kind is TokenKind.WORD and words[0] not in _BEGINNINGS
    close = get_close_matches(words[0], _BEGINNINGS, n=1) if is_word else []
    return f"Did you mean {close[0]} instead of {tokens[0].text}?" if close else ""


def _between(_tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    for number, word in enumerate(words):
        if word == "BETWEEN" and words[number + 2 : number + 3] == [","]:
            return "Write BETWEEN a AND b."
    return ""


def _named_query(_tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    if words[:1] == ["WITH"]:
        for number, word in enumerate(words[:-1]):
            if word == "AS" and words[number + 1] == "SELECT":
                return "The query after WITH name AS is in brackets: WITH a AS (SELECT …)"
    return ""


def _square(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    for number, word in enumerate(words[:-2]):
        is_first = number == 0 or tokens[number - 1].kind is TokenKind.SYMBOL
        is_begin = is_first or words[number - 1] in _RESERVED
        if word == "[" and words[number + 2] == "]" and is_begin:
            name = tokens[number + 1].text
            return f"Names are written in backquotes: `{name}`"
    return ""


def _pattern(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    for number, word in enumerate(words[:-1]):
        if word == "LIKE" and tokens[number + 1].kind is TokenKind.WORD:
            rest = words[number + 2 : number + 3]
            if rest == ["%"] or not rest:
                return f"The pattern of LIKE is a text: LIKE '{tokens[number + 1].text}%'"
    return ""


def _two_commas(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    for number, word in enumerate(words[1:], 1):
        if word == "," and words[number - 1] in (",", "(", "SELECT"):
            place = number - 1 if words[number - 1] == "," else number
            return f"There is a comma too many{_place(tokens, place)}."
        if word in (")", "FROM", "WHERE") and words[number - 1] == ",":
            return f"There is a comma too many before {word}."
    return ""


def _last_word(tokens: Sequence[Token], words: Sequence[str], _at: int) -> str:
    """Look for a statement that ends where more is expected."""
    if not words:
        return ""
    ends = {"AND", "OR", "NOT", "WHERE", "FROM", "SET", "BY", "ON", "JOIN", "SELECT", "=", "<", ">"}
    if words[-1] in ends:
        return f"Something is missing after {tokens[-1].text}."
    return ""


def _reserved(tokens: Sequence[Token], words: Sequence[str], at: int) -> str:
    """Look for a keyword where a name is expected."""
    for number in (at, at - 1):
        if not 0 < number < len(words):
            continue
        before, word = words[number - 1], words[number]
        after = words[number + 1] if number + 1 < len(words) else ""
        is_place = before in ("SELECT", ",", ".", "(", "BY", "WHERE", "AND")
        is_alone = after in ("FROM", ",", "", ")", "=", "<", ">", "IS", "IN")
        if word in _RESERVED and is_place and is_alone:
            name = tokens[number].text
            return f"If {name} is a name, write it in backquotes: `{name}`"
    return ""


def _missing_comma(tokens: Sequence[Token], words: Sequence[str], at: int) -> str:
    """Look for a call or a column right after something that is complete."""
    names = (TokenKind.WORD, TokenKind.QUOTED)
    if not 2 <= at < len(tokens):
        return ""
    first, second = tokens[at - 2], tokens[at - 1]
    is_pair = first.kind in names and second.kind in names
    if words[at] == "(" and is_pair and not {words[at - 2], words[at - 1]} & _RESERVED:
        return f"A comma is missing before {second.text}."
    if (
        words[:2] == ["CREATE", "TABLE"]
        and second.text.upper() in _TYPES
        and tokens[at].kind in names
    ):
        return f"A comma is missing before {tokens[at].text}."
    return ""


def _double_quotes(tokens: Sequence[Token], _words: Sequence[str], _at: int) -> str:
    for token in tokens:
        if token.kind is TokenKind.STRING and token.text[0] == '"' and len(token.text) > 2:
            name = token.text.strip('"')
            return f"{token.text} is a text; a name is written in backquotes: `{name}`"
    return ""


_Look = Callable[[Sequence[Token], Sequence[str], int], str]
_CERTAIN: tuple[_Look, ...] = (_curled, _in_braces, _top, _clause_order, _habits, _two_commas)
_LIKELY: tuple[_Look, ...] = (
    _other_verb,
    _first_word,
    _reserved,
    _without_by,
    _named_query,
    _case,
    _unbracketed,
    _between,
    _square,
    _pattern,
    _last_word,
    _missing_comma,
    _brackets,
    _double_quotes,
)
