"""Row groups of one Parquet file become files of their own.

To make a writer of pyarrow and to close it takes as long as a fifth of what a small file takes. So
one writer encodes the rows of many files, a row group each; then the pages of each get a footer of
their own, in which only places are changed. The files are the ones that pyarrow would have written
one by one, byte by byte. This is the contrary of `joined_groups`.

Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paimonlab.formats.parquet.file_end import MAGIC
from paimonlab.formats.parquet.thrift_compact import DamagedThriftError, Kind, Reader
from paimonlab.formats.varints import varint_at, varint_of

_ROWS = 3  # of FileMetaData; the row groups are next
_ONE_GROUP = bytes([1 << 4 | Kind.LIST, 1 << 4 | Kind.STRUCT])
_MOST_SHAPES = 8
_LAST = 127
"""The last byte of a number is at most that."""


# What differs from one row group to the other: bytes and texts or an integer, which stay as they
# are; where something begins in the file, 0 being nowhere; the size of the pages of a column; the
# number of rows. Last: the structure ends. Members of an enumeration take long to look up.
_BYTES, _NUMBER, _PLACE, _PAGES_SIZE, _ROW_COUNT, _NOTHING = range(6)

_FIXED = "fixed"
_META: Mapping[int, Any] = {  # of a column
    1: _FIXED,  # type, encodings, path, codec
    2: _FIXED,
    3: _FIXED,
    4: _FIXED,
    7: _PAGES_SIZE,
    9: _PLACE,  # data pages, index pages, dictionary page
    10: _PLACE,
    11: _PLACE,
    13: _FIXED,  # how many pages of which encoding
}
_ROLES: Mapping[int, Any] = {1: {2: _PLACE, 3: _META}, 3: _ROW_COUNT, 5: _PLACE}
"""By field id of RowGroup: what becomes of the value, or of the fields of a structure in it."""


@dataclass(frozen=True, slots=True)
class CutGroup:
    """Where the pages of a row group are, and the footer of a file that has them alone."""

    start: int
    end: int
    footer: bytes


@dataclass(frozen=True, slots=True)
class _Moved:
    """A row group as it is described in a file of its own."""

    description: bytes
    row_count: bytes
    """As it is encoded."""
    size: int
    """Bytes of its pages."""
    end: int
    """Where the next description begins."""


class GroupCutter:
    """Cuts files of one schema; it remembers how their footers look."""

    def __init__(self) -> None:
        self._begin: bytes | None = None
        self._shapes: list[_Shape] = []

    def cut(self, footer: bytes, pages_end: int) -> list[CutGroup]:
        """Tell how the row groups of a file become files.

        Parameters
        ----------
        footer
            Of a file of row groups and nothing else: no page indexes, no bloom filters.
        pages_end
            Where the last page ends.

        Raises
        ------
        IndexError, DamagedThriftError
            If it is not the footer of such a file.
        """
        if self._begin is None:
            self._begin = _until_row_count(footer)
        begin = self._begin
        if not footer.startswith(begin):
            raise DamagedThriftError("the files have several schemas")
        reader = Reader(footer, len(begin))
        reader.integer()
        if footer[reader.position] != _ONE_GROUP[0]:
            raise DamagedThriftError("a footer without row groups")
        reader.position += 1
        count, _ = reader.list_head()
        position, groups = reader.position, list[_Moved]()
        start = len(MAGIC)
        for _ in range(count):
            groups.append(self._moved(footer, position, start - len(MAGIC)))
            start += groups[-1].size
            position = groups[-1].end
        rest = footer[position:]
        cut, start = list[CutGroup](), len(MAGIC)
        for group in groups:
            own = b"".join((begin, group.row_count, _ONE_GROUP, group.description, rest))
            cut.append(CutGroup(start, start + group.size, own))
            start += group.size
        if start != pages_end:
            raise DamagedThriftError("there is more than pages in the file")
        return cut

    def _moved(self, footer: bytes, position: int, shift: int) -> _Moved:
        for shape in self._shapes:
            moved = shape.moved(footer, position, shift)
            if moved is not None:
                return moved
        shape = _Shape.of(footer, position)
        self._shapes = [shape, *self._shapes[: _MOST_SHAPES - 1]]
        moved = shape.moved(footer, position, shift)
        assert moved is not None, "it has its own shape"
        return moved


@dataclass(frozen=True, slots=True)
class _Shape:
    """What row groups have in common: bytes, each followed by something that may differ."""

    steps: Sequence[tuple[bytes, int, int]]
    """Bytes, how many they are, and what follows."""

    @classmethod
    def of(cls, footer: bytes, position: int) -> _Shape:
        """Look at the description of one."""
        walker = _Walker(footer, position)
        walker.walk(_ROLES)
        walker.put(walker.position, _NOTHING)
        return cls(walker.steps)

    def moved(self, data: bytes, position: int, shift: int) -> _Moved | None:
        """Describe a row group whose pages begin earlier; None: it has another shape.

        Parameters
        ----------
        data, position
            Where its description begins.
        shift
            How much earlier its pages begin.
        """
        out, copied, size, row_count = list[bytes](), position, 0, b""
        for fixed, length, slot in self.steps:
            start = position + length
            if data[position:start] != fixed:
                return None
            position = start
            if slot == _NUMBER:
                while data[position] > _LAST:
                    position += 1
                position += 1
                continue
            if slot == _NOTHING:
                break
            value, position = varint_at(data, start)
            if slot == _BYTES:
                position += value
            elif slot == _PLACE and value:  # twice the place: its sign is the last bit
                out += (data[copied:start], varint_of(value - 2 * shift))
                copied = position
            elif slot == _PAGES_SIZE:
                size += value >> 1
            elif slot == _ROW_COUNT:
                row_count = data[start:position]
        out.append(data[copied:position])
        return _Moved(b"".join(out), row_count, size, position)


class _Walker(Reader):
    """Finds out which bytes of a structure are fixed."""

    __slots__ = ("copied", "steps")

    def __init__(self, data: bytes, position: int) -> None:
        super().__init__(data, position)
        self.steps: list[tuple[bytes, int, int]] = []
        self.copied = position

    def put(self, start: int, slot: int) -> None:
        """Say that what is from a place on may differ, up to where the reader is now."""
        fixed = self.data[self.copied : start]
        self.steps.append((fixed, len(fixed), slot))
        self.copied = self.position

    def walk(self, roles: Mapping[int, Any]) -> None:
        """Look at the fields of a structure."""
        field = 0
        while True:
            head = self.data[self.position]
            self.position += 1
            if head == 0:
                return
            delta, kind = head >> 4, head & 15
            field = field + delta if delta else self.integer()
            if kind not in (Kind.TRUE, Kind.FALSE):
                self._look(kind, roles.get(field))

    def _look(self, kind: int, role: Any) -> None:
        start = self.position
        if role is _FIXED:
            self.value(kind, 0)
        elif kind == Kind.STRUCT:
            self.walk(role or {})
        elif kind in (Kind.LIST, Kind.SET):
            size, item = self.list_head()
            for _ in range(size):
                self._look(item, role)
        elif Kind.I16 <= kind <= Kind.I64:
            self.integer()
            self.put(start, _NUMBER if role is None else role)
        elif kind == Kind.BINARY:
            self.binary()
            self.put(start, _BYTES)
        else:
            self.value(kind, 0)


def _until_row_count(footer: bytes) -> bytes:
    """Return the begin of a footer: all that comes before the number of rows."""
    reader = Reader(footer, 0)
    field = 0
    while True:
        head = footer[reader.position]
        reader.position += 1
        field += head >> 4
        if field == _ROWS:
            return footer[: reader.position]
        reader.value(Kind(head & 15), 0)
