"""Names with ``$`` of system tables and branches, which Spark's grammar wants in back-quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paimonlab.spec.sql_text.tokens import Token, TokenKind


def dollar_names(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the first and the last token of each ``name$name…`` whose parts touch each other."""
    index = 0
    while index < len(tokens):
        last = index
        while _continues(tokens, last):
            last += 2
        if last > index:
            yield tokens[index], tokens[last]
        index = last + 1


def quoted_name(name: str) -> str:
    """Put a name with ``$`` into back-quotes, as a whole.

    Examples
    --------
    >>> quoted_name("t$files"), quoted_name("`my t`$files")
    ('`t$files`', '`my t$files`')
    """
    return f"`{name.replace('`', '')}`"


def with_quoted_names(text: str, tokens: Sequence[Token]) -> str:
    """Put every name with ``$`` of a text into back-quotes.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> text = "SELECT 'a$b', `c$d` FROM db.t$files"
    >>> with_quoted_names(text, tokenize(text))
    "SELECT 'a$b', `c$d` FROM db.`t$files`"
    """
    for first, last in reversed(list(dollar_names(tokens))):
        name = quoted_name(text[first.start : last.end])
        text = text[: first.start] + name + text[last.end :]
    return text


def _continues(tokens: Sequence[Token], index: int) -> bool:
    """Tell whether ``$name`` follows the name at ``index`` without a space."""
    if index + 2 >= len(tokens):
        return False
    name, dollar, after = tokens[index : index + 3]
    names = (TokenKind.WORD, TokenKind.QUOTED)
    return (
        name.kind in names
        and dollar.text == "$"
        and after.kind in names
        and name.end == dollar.start
        and dollar.end == after.start
    )
