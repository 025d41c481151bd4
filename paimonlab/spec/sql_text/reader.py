"""Reading the tokens of a statement from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from paimonlab.errors import PaimonError
from paimonlab.spec.sql_text.strings import string_value
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind


class StatementSyntaxError(PaimonError, ValueError):
    """A text that is not the statement it begins like.

    Parameters
    ----------
    message
        What is wrong, in a sentence.
    span
        The piece of the text to point at.
    """

    def __init__(self, message: str, span: Span) -> None:
        self.span = span
        super().__init__(message)


class TokenReader:
    """A place in a sequence of tokens.

    Parameters
    ----------
    tokens
        All of the statement; semicolons at its end are left out.
    statement
        How messages call it.
    """

    def __init__(self, tokens: Sequence[Token], statement: str) -> None:
        end = len(tokens)
        while end and tokens[end - 1].text == ";":
            end -= 1
        self._tokens = tokens[:end]
        self._statement = statement
        self._place = 0

    @property
    def is_at_end(self) -> bool:
        """Whether all tokens are read."""
        return self._place == len(self._tokens)

    @property
    def offset(self) -> int:
        """Where in the text the next token begins, or the last one ends."""
        token = self._peek()
        if token is not None:
            return token.start
        return self._tokens[-1].end if self._tokens else 0

    @property
    def is_at_text(self) -> bool:
        """Whether a string literal follows."""
        token = self._peek()
        return token is not None and token.kind is TokenKind.STRING

    @property
    def is_at_name(self) -> bool:
        """Whether an identifier follows."""
        token = self._peek()
        return token is not None and token.kind in {TokenKind.WORD, TokenKind.QUOTED}

    def is_at(self, word: str) -> bool:
        """Whether this keyword or symbol follows."""
        token = self._peek()
        return token is not None and token.kind in _PLAIN and token.text.upper() == word

    def take(self, *words: str) -> bool:
        """Read these keywords or symbols if all of them follow, else nothing."""
        following = self._tokens[self._place : self._place + len(words)]
        found = [token.text.upper() for token in following if token.kind in _PLAIN]
        if found != list(words):
            return False
        self._place += len(words)
        return True

    def expect(self, *words: str) -> None:
        """Read these keywords or symbols.

        Raises
        ------
        StatementSyntaxError
            If something else follows.
        """
        if not self.take(*words):
            self.refuse(" ".join(words))

    def name(self, wanted: str) -> str:
        """Read an identifier; ``wanted`` says of what."""
        token = self._peek()
        if token is None or token.kind not in {TokenKind.WORD, TokenKind.QUOTED}:
            self.refuse(wanted)
        self._place += 1
        if token.kind is TokenKind.QUOTED:
            return token.text[1:-1].replace("``", "`")
        return token.text

    def names(self, wanted: str) -> tuple[str, ...]:
        """Read an identifier of several parts."""
        parts = [self.name(wanted)]
        while self.take("."):
            parts.append(self.name(wanted))
        return tuple(parts)

    def number(self, wanted: str) -> int:
        """Read a whole number that is not negative."""
        token = self._peek()
        if token is None or not token.text.isdecimal():
            self.refuse(wanted)
        self._place += 1
        return int(token.text)

    def text(self, wanted: str) -> str:
        """Read a string literal."""
        token = self._peek()
        value = string_value(token.text) if token and token.kind is TokenKind.STRING else None
        if value is None:
            self.refuse(wanted)
        self._place += 1
        return value

    def block(self) -> Span:
        """Read what is in parentheses, and return where the inside of them is."""
        self.expect("(")
        start, depth = self.offset, 1
        while depth:
            token = self._peek()
            if token is None:
                self.refuse(")")
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind in _PLAIN else 0
            self._place += 1
        return Span(start, self._tokens[self._place - 1].start)

    def skip_to(self, word: str) -> None:
        """Read up to this keyword, or all that is left."""
        while not self.is_at_end and not self.is_at(word):
            self._place += 1

    def end(self) -> None:
        """Check that nothing follows."""
        if not self.is_at_end:
            self.refuse("the end")

    def refuse(self, wanted: str) -> NoReturn:
        """Say what would have to follow."""
        token = self._peek()
        given = "the end" if token is None else token.text
        pointed_at = self._tokens[-1] if token is None and self._tokens else token
        span = Span(pointed_at.start, pointed_at.end) if pointed_at is not None else Span(0, 0)
        raise StatementSyntaxError(f"{self._statement} needs {wanted} here, not {given}.", span)

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None


_PLAIN = {TokenKind.WORD, TokenKind.SYMBOL}
