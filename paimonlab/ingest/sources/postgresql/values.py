"""Values of PostgreSQL become those of Arrow, a column at a time: pure functions.

Texts are those that a session prints with ``DateStyle = ISO``, ``TimeZone = UTC`` and
``bytea_output = hex``; binary forms are those of a binary COPY.

Source: PostgreSQL's documentation, "Data Types", "Arrays"; the send functions of its types.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values
from paimonlab.ingest.sources.postgresql.cells import Cells
from paimonlab.ingest.sources.postgresql.types import Kind, Way
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import format_type

Problems: TypeAlias = dict[int, str]
"""What is wrong with values, by their place."""

_EPOCH_2000_DAYS = 10_957
_EPOCH_2000_MICROS = 946_684_800_000_000
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""Of the years 1 and 9999."""
_FIRST_MICROS, _LAST_MICROS = _FIRST_DAY * 86_400_000_000, (_LAST_DAY + 1) * 86_400_000_000 - 1
_DAY_MILLIS = 86_400_000
_SPECIALS = ("NaN", "Infinity", "-Infinity", "infinity", "-infinity")
_DAY = arrow_scalar("1970-01-01 ")
_NOTHING = arrow_scalar("")


def of_text(texts: pa.Array, kind: Kind, *, drops_specials: bool) -> tuple[pa.Array, Problems]:
    """Return values that were printed.

    Parameters
    ----------
    texts
        string, shape (n,).
    kind
        What they become.
    drops_specials
        Whether NaN and infinity become null where the type does not have them.

    Returns
    -------
    pyarrow.Array
        Of the type of ``kind``; null where there is a problem.
    dict
        By place: what is wrong.
    """
    if kind.way is Way.TEXT:
        return texts, {}
    if kind.has_specials and drops_specials:
        texts = _without_specials(texts)
    return _tolerant(texts, kind, _READERS[kind.way])


def _tolerant(
    texts: pa.Array, kind: Kind, read: Callable[[pa.Array, Kind], pa.Array]
) -> tuple[pa.Array, Problems]:
    """Read all texts; if that fails halves of them, and so find those that cannot be read."""
    try:
        return read(texts, kind), {}
    except pa.ArrowInvalid:
        count = len(texts)
    if count == 1:
        problem = f"{texts[0].as_py()!r} is not a value of {format_type(kind.data_type)}"
        return pa.nulls(1, to_arrow(kind.data_type)), {0: problem}
    half = count // 2
    first, problems = _tolerant(texts.slice(0, half), kind, read)
    second, more = _tolerant(texts.slice(half), kind, read)
    joined = pa.concat_arrays([first, second])
    return joined, problems | {half + place: problem for place, problem in more.items()}


def _without_specials(texts: pa.Array) -> pa.Array:
    specials = pc.is_in(texts, value_set=arrow_array(_SPECIALS, pa.string()))
    if not specials.true_count:
        return texts
    return pc.if_else(specials, pa.nulls(1, pa.string())[0], texts)


def _plain(texts: pa.Array, kind: Kind) -> pa.Array:
    return texts.cast(to_arrow(kind.data_type))


def _bool(texts: pa.Array, _kind: Kind) -> pa.Array:
    return pc.equal(texts, arrow_scalar("t"))


def _time(texts: pa.Array, kind: Kind) -> pa.Array:
    """Arrow reads times of days: midnight at the end of one is refused, and so are microseconds."""
    moments = pc.binary_join_element_wise(_DAY, texts, _NOTHING).cast(pa.timestamp("us"))
    return _millis_of_day(moments.cast(pa.int64()), kind)


def _millis_of_day(micros: pa.Array, kind: Kind) -> pa.Array:
    millis = micros.view(pa.timestamp("us")).cast(pa.timestamp("ms"))  # finer digits are an error
    return millis.cast(pa.int64()).cast(pa.int32()).view(to_arrow(kind.data_type))


def _bytes(texts: pa.Array, _kind: Kind) -> pa.Array:
    r"""Read ``\x00ff``: each text has an even number of characters."""
    count = len(texts)
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32, count + 1 + texts.offset)[texts.offset :]
    lengths = np.diff(offsets)
    nulls = numpy_values(texts.is_null(), zero_copy_only=False)
    begin, end = int(offsets[0]), int(offsets[-1])
    raw = np.frombuffer(data_buffer or b"", np.uint8, end)[begin:]
    heads = (offsets[:-1] - begin)[lengths > 0]
    if np.any(lengths % 2) or np.any(raw[heads] != ord("\\")):
        raise pa.ArrowInvalid("not in hex")
    digits = _HEX[raw].reshape(-1, 2)
    is_kept = np.ones(len(digits), np.bool_)
    is_kept[heads // 2] = False
    digits = digits[is_kept]
    if np.any(digits > 15):
        raise pa.ArrowInvalid("not in hex")
    made = (digits[:, 0] << 4) | digits[:, 1]
    sizes = np.where(nulls | (lengths == 0), 0, lengths // 2 - 1)
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(sizes, out=starts[1:])
    known = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
    return pa.Array.from_buffers(
        pa.binary(), count, [known, pa.py_buffer(starts), pa.py_buffer(np.ascontiguousarray(made))]
    )


_HEX = np.full(256, 255, np.uint8)
for _digit, _sign in enumerate("0123456789abcdef"):
    _HEX[ord(_sign)] = _digit


def _array(texts: pa.Array, kind: Kind) -> pa.Array:
    """Read ``{1,NULL,"a b"}``.

    Without quotes and inner braces all are split at once; others one by one.
    """
    element = kind.element
    assert element is not None, "arrays have elements"
    is_plain = pc.match_substring_regex(texts, _PLAIN_ARRAY)
    if pc.all(is_plain).as_py() is not False:
        inner = pc.utf8_slice_codeunits(texts, 1, -1)
        lists = pc.split_pattern(inner, kind.delimiter)
        parts = lists.values
        parts = pc.if_else(
            pc.equal(parts, arrow_scalar("NULL")), pa.nulls(1, pa.string())[0], parts
        )
        offsets, parts = _without_empty(lists, parts, inner)
    else:
        offsets, parts = _split_singly(texts, kind.delimiter)
    values = _strictly(parts, element)
    nulls = numpy_values(texts.is_null(), zero_copy_only=False)
    known = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
    return pa.Array.from_buffers(
        to_arrow(kind.data_type), len(texts), [known, pa.py_buffer(offsets)], children=[values]
    )


_PLAIN_ARRAY = r'^\{[^"{}\\]*\}$'


def _strictly(parts: pa.Array, element: Kind) -> pa.Array:
    if element.way is Way.TEXT:
        return parts
    return _READERS[element.way](parts, element)


def _without_empty(
    lists: pa.Array, parts: pa.Array, inner: pa.Array
) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Drop the one empty text that an array without elements was split into."""
    count = len(lists)
    offsets = np.frombuffer(lists.buffers()[1], np.int32, count + 1 + lists.offset)[lists.offset :]
    is_empty = numpy_values(null_filled(pc.equal(inner, _NOTHING), False), zero_copy_only=False)
    if not is_empty.any():
        return offsets.copy(), parts
    is_kept = np.ones(len(parts), np.bool_)
    is_kept[offsets[:-1][is_empty]] = False
    lengths = np.diff(offsets) - is_empty
    new = np.zeros(count + 1, np.int32)
    np.cumsum(lengths, out=new[1:])
    return new, parts.filter(arrow_array(is_kept))


def _split_singly(texts: pa.Array, delimiter: str) -> tuple[npt.NDArray[np.int32], pa.Array]:
    offsets, parts = [0], list[str | None]()
    for text in texts.to_pylist():
        if text is not None:
            parts += array_parts(text, delimiter)
        offsets.append(len(parts))
    return np.array(offsets, np.int32), arrow_array(parts, pa.string())


_BOUNDS = re.compile(r"^(?:\[-?\d+:-?\d+\])+=")


def array_parts(text: str, delimiter: str = ",") -> list[str | None]:
    r"""Take an array of one dimension apart, as PostgreSQL prints it.

    Raises
    ------
    pyarrow.ArrowInvalid
        If it has more dimensions.

    Examples
    --------
    >>> array_parts('[0:2]={1,NULL,"NULL"}'), array_parts(r'{"a\"b",c d}'), array_parts("{}")
    (['1', None, 'NULL'], ['a"b', 'c d'], [])
    """
    text = _BOUNDS.sub("", text)
    if not (text.startswith("{") and text.endswith("}")):
        raise pa.ArrowInvalid(f"{text!r} is not an array")
    inner, found, place = text[1:-1], list[str | None](), 0
    while place < len(inner):
        if inner[place] == '"':
            quoted, place = _quoted_part(inner, place + 1)
            found.append(quoted)
        elif inner[place] == "{":
            raise pa.ArrowInvalid(f"{text!r} has more than one dimension")
        else:
            end = inner.find(delimiter, place)
            end = len(inner) if end < 0 else end
            part = inner[place:end].replace("\\", "")
            found.append(None if part == "NULL" else part)
            place = end
        place += 1  # the delimiter
    return found


def _quoted_part(text: str, place: int) -> tuple[str, int]:
    """Read up to the closing quote; return the text, and the place after the quote."""
    found = []
    while text[place] != '"':
        if text[place] == "\\":
            place += 1
        found.append(text[place])
        place += 1
    return "".join(found), place + 1


_PAIR = re.compile(r'"((?:[^"\\]|\\.)*)"=>(?:NULL|"((?:[^"\\]|\\.)*)")(?:, )?', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def hstore_pairs(text: str) -> list[tuple[str, str | None]]:
    """Take a value of hstore apart, as PostgreSQL prints it.

    Examples
    --------
    >>> hstore_pairs('"a"=>"1", "b"=>NULL')
    [('a', '1'), ('b', None)]
    """
    return [
        (_ESCAPE.sub(r"\1", key), None if value is None else _ESCAPE.sub(r"\1", value))
        for key, value in (match.groups() for match in _PAIR.finditer(text))
    ]


def _map(texts: pa.Array, kind: Kind) -> pa.Array:
    pairs = [None if text is None else hstore_pairs(text) for text in texts.to_pylist()]
    return arrow_array(pairs, to_arrow(kind.data_type))


_READERS: dict[Way, Callable[[pa.Array, Kind], pa.Array]] = {
    Way.PLAIN: _plain,
    Way.BOOL: _bool,
    Way.BYTES: _bytes,
    Way.DATE: _plain,
    Way.TIME: _time,
    Way.TIMESTAMP: _plain,
    Way.ARRAY: _array,
    Way.MAP: _map,
}


def of_binary(cells: Cells, kind: Kind, *, drops_specials: bool) -> tuple[pa.Array, Problems]:
    """Return values that were sent in binary; see `of_text`."""
    arrow_type = to_arrow(kind.data_type)
    if kind.way is Way.BYTES:
        return cells.texts(pa.binary()), {}
    nulls = cells.nulls if cells.nulls.any() else None
    if kind.way is Way.BOOL:
        return arrow_array(cells.numbers("?"), arrow_type, mask=nulls), {}
    if kind.way is Way.PLAIN:
        dtype = np.dtype(arrow_type.to_pandas_dtype())
        numbers = cells.numbers(dtype.newbyteorder(">").str).astype(dtype)
        return arrow_array(numbers, arrow_type, mask=nulls), {}
    if kind.way is Way.DATE:
        days = cells.numbers(">i4").astype(np.int64) + _EPOCH_2000_DAYS
        problems, mask = _outside(days, _FIRST_DAY, _LAST_DAY, cells, kind, drops_specials)
        made = arrow_array(np.where(mask, 0, days).astype(np.int32), mask=mask)
        return made.view(arrow_type), problems
    micros = cells.numbers(">i8").astype(np.int64)
    if kind.way is Way.TIME:
        return _binary_times(micros, cells, kind)
    problems, mask = _outside(
        micros,
        _FIRST_MICROS - _EPOCH_2000_MICROS,
        _LAST_MICROS - _EPOCH_2000_MICROS,
        cells,
        kind,
        drops_specials,
    )
    moments = np.where(mask, 0, micros) + _EPOCH_2000_MICROS
    if arrow_type.unit == "ms":
        moments //= 1000
    return arrow_array(moments, mask=mask).view(arrow_type), problems


def _binary_times(
    micros: npt.NDArray[np.int64], cells: Cells, kind: Kind
) -> tuple[pa.Array, Problems]:
    millis = micros // 1000
    wrong = ((micros % 1000 != 0) | (millis >= _DAY_MILLIS)) & ~cells.nulls
    problems = {}
    for place in np.flatnonzero(wrong).tolist():
        seconds, rest = divmod(int(micros[place]), 1_000_000)
        shown = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        shown += f".{rest:06}".rstrip("0") if rest else ""
        problems[place] = f"{shown!r} is not a value of {format_type(kind.data_type)}"
    mask = wrong | cells.nulls
    made = arrow_array(np.where(mask, 0, millis).astype(np.int32), mask=mask)
    return made.view(to_arrow(kind.data_type)), problems


def _outside(
    numbers: npt.NDArray[np.int64],
    first: int,
    last: int,
    cells: Cells,
    kind: Kind,
    drops_specials: bool,  # noqa: FBT001 - of one caller
) -> tuple[Problems, npt.NDArray[np.bool_]]:
    """Find dates and times that are infinite or beyond the years 1 to 9999."""
    wrong = ((numbers < first) | (numbers > last)) & ~cells.nulls
    mask = wrong | cells.nulls
    if not wrong.any():
        return {}, mask
    raw = cells.numbers(">i4" if kind.way is Way.DATE else ">i8")
    limits = np.iinfo(raw.dtype)
    problems = {}
    for place in np.flatnonzero(wrong).tolist():
        number = int(raw[place])
        is_special = number in (limits.min, limits.max)
        if is_special and drops_specials:
            continue
        shown = (
            ("'-infinity'", "'infinity'")[number > 0] if is_special else "a year beyond 1 to 9999"
        )
        problems[place] = f"{shown} is not a value of {format_type(kind.data_type)}"
    return problems, mask
