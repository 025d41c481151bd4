"""The statements of a cell: where each begins, and what is sent to Spark for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from paimonlab.secrets import hides_secrets
from paimonlab.spec.sql_text.system_names import dollar_names, quoted_name
from paimonlab.spec.sql_text.tokens import Token, TokenKind, line_and_column, tokenize

QUERY_WORDS = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE", "("})
"""First words of what returns rows without changing anything, so that a limit may apply."""
_WORDS_BEFORE_NAMES = frozenset({"UPDATE", "OPTIMIZE", "CALL", "USE", "VACUUM", "DESCRIBE"})
"""First words that the name of a table or a procedure follows."""
_KINDS = frozenset({"GLOBAL", "TEMP", "TEMPORARY", "EXTERNAL"})
"""Words of CREATE before what is created."""
_MOST_WORDS = 7


@hides_secrets
@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a cell, without the ``;`` that ends it."""

    cell: str
    """The whole text it was found in: errors show the user's own lines."""
    tokens: tuple[Token, ...] = field(repr=False)
    """At least one; offsets count from the start of the cell."""
    number: int = 1
    """Counted from 1."""
    count: int = 1
    """How many statements the cell has."""

    @property
    def start(self) -> int:
        """Offset of the first token in the cell."""
        return self.tokens[0].start

    @property
    def text(self) -> str:
        """The statement as the user wrote it."""
        return self.cell[self.start : self.tokens[-1].end]

    @property
    def is_query(self) -> bool:
        """Whether it only reads, so that fewer rows may be fetched than there are."""
        return self.tokens[0].text.upper() in QUERY_WORDS

    @property
    def title(self) -> str:
        """The first words, as in ``CREATE TABLE``.

        Examples
        --------
        >>> split("CREATE OR REPLACE TEMP VIEW v AS SELECT 1")[0].title
        'CREATE OR REPLACE TEMP VIEW'
        """
        words = [token.text.upper() for token in self.tokens[:_MOST_WORDS]]
        count = 1 if words[0] in _WORDS_BEFORE_NAMES else 2
        if words[:3] == ["CREATE", "OR", "REPLACE"]:
            count = 4
        while words[0] == "CREATE" and words[count - 1 : count] and words[count - 1] in _KINDS:
            count += 1
        kinds = [token.kind for token in self.tokens[:count]]
        return " ".join(
            word for word, kind in zip(words, kinds, strict=False) if kind is TokenKind.WORD
        )

    @property
    def place(self) -> str:
        """Say which statement of the cell this is: ``statement 3 of 5, lines 7-9``."""
        first, _ = line_and_column(self.cell, self.start)
        last, _ = line_and_column(self.cell, self.tokens[-1].end)
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        return f"statement {self.number} of {self.count}, {lines}"


def split(cell: str) -> list[Statement]:
    """Split a cell at each ``;`` that is not part of a string, a comment or a script.

    A ``BEGIN … END`` script is one statement and takes the rest of the cell: Spark runs it
    itself. Empty statements are left out.
    """
    pieces = [piece for piece in _pieces(tokenize(cell)) if piece]
    return [
        Statement(cell, tuple(piece), number, len(pieces))
        for number, piece in enumerate(pieces, start=1)
    ]


def _pieces(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for index, token in enumerate(tokens):
        if index == start and _begins_script(tokens[index:]):
            break
        if token.kind is TokenKind.SYMBOL and token.text == ";":
            yield tokens[start:index]
            start = index + 1
    rest = tokens[start:]
    while rest and rest[-1].text == ";" and not _begins_script(rest):
        rest = rest[:-1]
    yield rest


def _begins_script(tokens: Sequence[Token]) -> bool:
    words = [token.text.upper() for token in tokens[:2]]
    return words[:1] == ["BEGIN"] and words[1:] not in ([], ["TRANSACTION"], ["WORK"], [";"])


class SentText(Struct, frozen=True):
    """What Spark gets for a statement, and where each of its characters is from."""

    text: str
    _pieces: tuple[tuple[int, int], ...]
    """(offset in the sent text, offset in the cell) of each piece, rising."""

    def cell_offset(self, offset: int) -> int:
        """Return the offset in the cell of a character that Spark points at."""
        piece = bisect_right(self._pieces, (offset, 2**62)) - 1
        sent, cell = self._pieces[max(piece, 0)]
        return cell + offset - sent


def quote_system_tables(statement: Statement) -> SentText:
    """Put ``t$snapshots`` into back-quotes, which Spark's grammar wants.

    Only names outside of strings and comments whose parts touch each other; ``${…}`` and
    names entirely in back-quotes are left unchanged.

    Examples
    --------
    >>> quote_system_tables(split("SELECT 'a$b' FROM db.t$files;")[0]).text
    "SELECT 'a$b' FROM db.`t$files`"
    """
    cell, end = statement.cell, statement.tokens[-1].end
    parts: list[tuple[str, int]] = []
    position = statement.start
    for first, last in dollar_names(statement.tokens):
        parts += [
            (cell[position : first.start] + "`", position),
            (quoted_name(cell[first.start : last.end])[1:-1], first.start),
            ("`", last.end),
        ]
        position = last.end
    parts.append((cell[position:end], position))
    offsets, sent = [], 0
    for text, origin in parts:
        offsets.append((sent, origin))
        sent += len(text)
    return SentText("".join(text for text, _ in parts), tuple(offsets))
