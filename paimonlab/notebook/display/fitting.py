"""How a table is fitted into a page without a script: which columns wrap, which are left out.

HTML that is kept knows nothing of the page it is read on, so this plans for a narrow one; browsers
give wrapped columns more room where there is more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from paimonlab.notebook.display.characters import text_width
from paimonlab.notebook.display.grid import Align, Column

PAGE = 550
"""Pixels of a narrow page."""
WIDE_PAGE = 850
"""Pixels of a wide one; in a table that does not fit into it no line is wrapped."""
BREAKS = re.compile(r"(?<=[^\s\d…][._/])(?=[^\s._/-])|(?<=\d[_/])(?=[^\s\d._/-])")
"""Where a long name may go on in the next line; never within a number or a date."""
_LATER_BREAKS = re.compile(r"(?<=[^\s\d…]-)(?=[^\s._/-])(?<!\de-)")
"""Where a name may that is too long even so."""

_LETTER = 8
"""Pixels of a letter in a wide font of 14 px, on average."""
_BOLD_LETTER = 9
"""In heads."""
_NARROW = str.maketrans(dict.fromkeys(" \u00a0.,:;'|!()[]/-ijlt…"))
_NARROWER = 3
"""Pixels by which these are narrower."""
_WIDE = str.maketrans(dict.fromkeys("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabdeghmnopquw%+=_"))
_WIDER = 1
_PADDING = 16
_MOST_LINES = 3.7
_ID_LINES = 1.7
_HEAD_LINES = 2.6
"""Of a name, so that it is over three lines wherever they end."""
_A_LINE = 130
"""Pixels of texts; shorter ones are one line."""
_LONG_TEXT = 180
"""Pixels."""
_LONG_WORD = 14
"""Letters; shorter words are one line."""
_LONG_HEAD = 10
_LONGEST_PIECE = 32
"""Letters; a longer piece may be broken anywhere."""
_ROWS_LOOKED_AT = 200
_TOGETHER = re.compile(
    r"(?<=\d{4}-\d\d-\d\d) (?=\d\d:\d\d)|(?<=\d\d:\d\d:\d\d) (?=UTC)"
    r"|(?<=^[A-Z]) (?=\w)|(?<=level) (?=\d)|(?<=bucket) (?=\d)|(?<=schema) (?=\d)"
    r"|(?<=\d) (?=(?:[kMGTP]?B|bytes|%|ms|s)\b|%)"
)
"""Spaces where no line ends: in a moment, an amount, the name of a level, bucket or schema."""
_PAIR = re.compile(r"\+[\d,]{1,7} -[\d,]{1,7}")
"""What was added and deleted: one figure, unless it is long."""
_HYPHEN_IN = re.compile(r"[^\W\d]-\w|\w-[^\W\d]")
_HYPHEN = re.compile(r"(?<=[^\W\d])-(?=[^\W\d])")
_UNIT = re.compile(r"(?<=\d) (?=[^\W\d]|%)")


class Fitted(Struct, frozen=True):
    """Where the columns of a table are left out and where their lines end."""

    shown: tuple[int, ...]
    left_out: tuple[int, ...]
    """Details for which there is no room."""
    room: tuple[int | None, ...]
    """Of each shown column the pixels that its texts take at least; None: each cell is one line."""
    any_place: frozenset[int]
    """Columns with names so long that their lines may end anywhere."""
    is_whole: bool
    """Each cell is one line, and the page has room for it."""
    is_tight: bool
    """There is no room for names but with lines that end behind hyphens."""
    is_wide: bool
    """The table is wider than a wide page, whatever is done: each cell is one line there, too."""


def fitted(columns: Sequence[Column], lines: Sequence[Sequence[str]]) -> Fitted:
    """Fit a table into a narrow page.

    Parameters
    ----------
    columns
        Those with a rank are left out, as many as it takes.
    lines
        The texts of each row as they are shown.
    """
    looked_at = lines[:_ROWS_LOOKED_AT]
    whole = [_whole(column, [line[at] for line in lines]) for at, column in enumerate(columns)]
    every = list(range(len(columns)))
    if sum(whole) <= PAGE:
        return Fitted(
            *(tuple(every), (), (None,) * len(every), frozenset()),
            is_whole=True,
            is_tight=False,
            is_wide=False,
        )
    found = [[line[at] for line in looked_at] for at in every]
    longest = list(map(_longest_piece, columns, found))
    widest = [max(map(_pixels, texts), default=0) for texts in found]
    least = list(map(_least, columns, longest, whole, widest))
    tight = [
        _least(*facts, 0)
        for facts in zip(columns, map(_tightest, columns, found), whole, strict=True)
    ]
    details = sorted(
        (at for at in every if columns[at].rank), key=lambda at: (columns[at].rank, at)
    )
    left_out: list[int] = []
    while details and sum(least[at] for at in every if at not in left_out) > PAGE:
        left_out.append(details.pop())
    shown = [at for at in every if at not in left_out]
    is_tight = sum(least[at] for at in shown) > PAGE
    if is_tight:
        least = tight
    is_wide = sum(least[at] for at in shown) > WIDE_PAGE
    room = {} if is_wide else _wrapped(shown, whole, least)
    rooms = tuple(room.get(at) for at in shown)
    any_place = frozenset(at for at in room if longest[at] > _LONGEST_PIECE * _LETTER)
    left = tuple(sorted(left_out))
    return Fitted(
        *(tuple(shown), left, rooms, any_place),
        is_whole=False,
        is_tight=is_tight,
        is_wide=is_wide,
    )


def _wrapped(shown: Sequence[int], whole: Sequence[int], least: Sequence[int]) -> dict[int, int]:
    """Choose the columns of long texts, and those that gain most until the others have room."""
    room: dict[int, int] = {}
    over = sum(whole[at] for at in shown) - PAGE
    for at in sorted(shown, key=lambda at: least[at] - whole[at]):
        if whole[at] == least[at] or (over <= 0 and whole[at] < _LONG_TEXT):
            continue
        room[at] = least[at] - _PADDING
        over -= whole[at] - least[at]
    return room


def number_pieces(text: str) -> list[str]:
    r"""Split numbers where their line may end: each keeps its unit, short counts stay together.

    Examples
    --------
    >>> number_pieces("+95 -136"), number_pieces("+90.2 kB -1.1 MB")
    (['+95\xa0-136'], ['+90.2\xa0kB', '-1.1\xa0MB'])
    """
    if _PAIR.fullmatch(text):
        return [text.replace(" ", "\u00a0")]
    return _UNIT.sub("\u00a0", text.replace("→ ", "→\u00a0")).split(" ")


def words(text: str) -> list[str]:
    """Split a text where its line may end: a day keeps its time."""
    return _TOGETHER.sub("\u00a0", text).split(" ")


def parts(word: str) -> list[str]:
    """Split a long word where its line may end."""
    return _split(word) if len(word) > _LONG_WORD else [word]


def head_parts(word: str) -> list[str]:
    """Split a word of a head where its line may end."""
    return _split(word) if len(word) > _LONG_HEAD else [word]


def code_parts(word: str) -> list[str]:
    """Split a word of a statement where its line may end: only if it is very long."""
    return _split(word) if len(word) > _LONGEST_PIECE else [word]


def tight_parts(word: str) -> list[str]:
    """Split a long word behind its hyphens, too, where there is no room otherwise."""
    return [part for piece in parts(word) for part in _LATER_BREAKS.split(piece)]


def is_one_line(piece: str) -> bool:
    """Whether a part of a name has hyphens where no line ends, though browsers would.

    Examples
    --------
    >>> [is_one_line(piece) for piece in ("data-d085bd95…-0.parquet", "num-sorted-run.", "a-b")]
    [True, True, False]
    """
    return _LONG_WORD < len(piece) <= _LONGEST_PIECE and bool(_HYPHEN_IN.search(piece))


def _split(word: str) -> list[str]:
    return [
        part
        for piece in BREAKS.split(word)
        for part in (_LATER_BREAKS.split(piece) if len(piece) > _LONGEST_PIECE else [piece])
    ]


def _pixels(text: str) -> int:
    letters = text_width(text)
    narrow = letters - text_width(text.translate(_NARROW))
    wide = letters - text_width(text.translate(_WIDE))
    return letters * _LETTER - narrow * _NARROWER + wide * _WIDER


def _whole(column: Column, texts: Iterable[str]) -> int:
    widest = max(map(_pixels, (column.type_text, *texts)), default=0)
    return max(widest, text_width(column.name) * _BOLD_LETTER) + _PADDING


def _pieces(column: Column, text: str) -> list[str]:
    if column.align is Align.RIGHT:
        return number_pieces(text)
    parts_of = code_parts if column.is_code else parts
    return [piece for word in words(text) for piece in parts_of(word)]


def _longest_piece(column: Column, texts: Iterable[str]) -> int:
    return max((_pixels(piece) for text in texts for piece in _pieces(column, text)), default=0)


def _tightest(column: Column, texts: Iterable[str]) -> int:
    """Return the longest piece where lines end behind hyphens of short names, too."""
    hyphens = (_HYPHEN.sub("- ", _LATER_BREAKS.sub(" ", text)) for text in texts)
    return _longest_piece(column, hyphens if column.align is Align.LEFT else texts)


def _least(column: Column, longest: int, whole: int, widest: int) -> int:
    """Return the pixels of the longest piece, or as many as bring the text into few lines."""
    if column.align is Align.LEFT:
        longest = max(min(longest, _LONGEST_PIECE * _LETTER), min(widest, _A_LINE))
    pieces = (piece for word in words(column.name) for piece in head_parts(word))
    longest_part = max(map(text_width, pieces), default=0)
    head = max(longest_part, text_width(column.name) / _HEAD_LINES) * _BOLD_LETTER
    few = (whole - _PADDING) / (_ID_LINES if column.is_id else _MOST_LINES)
    return min(math.ceil(max(longest, head, few)) + _PADDING, whole)
