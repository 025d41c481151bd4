"""Changing numbers inside a structure in Thrift's compact encoding, leaving all else as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, Union

from paimonlab.formats.parquet.thrift_compact import Kind, Reader, encoded

Changes: TypeAlias = Mapping[int, Union[Callable[[int], int], bytes, "Changes"]]
"""By field id: what an integer becomes; bytes that stand for a value, as it is encoded; or the
changes inside a structure, or inside each of a list of structures."""


def spliced(data: bytes, changes: Changes, start: int = 0) -> bytes:
    """Change some fields of a structure.

    Parameters
    ----------
    data
        Bytes that hold it.
    changes
        Fields that are missing are left out.
    start
        Where it begins.

    Returns
    -------
    bytes
        The structure alone.

    Raises
    ------
    IndexError
        If the bytes end too early.

    Examples
    --------
    >>> spliced(bytes([0x15, 0x06, 0x15, 0x08, 0x00]), {1: lambda number: number + 1}).hex()
    '1508150800'
    """
    splicer = _Splicer(data, start)
    splicer.walk(changes)
    return b"".join([*splicer.out, data[splicer.copied : splicer.position]])


class _Splicer(Reader):
    __slots__ = ("copied", "out")

    def __init__(self, data: bytes, position: int) -> None:
        super().__init__(data, position)
        self.out: list[bytes] = []
        self.copied = position
        """Up to where bytes are in ``out``."""

    def walk(self, changes: Changes) -> None:
        field = 0
        while True:
            head = self.data[self.position]
            self.position += 1
            if head == 0:
                return
            delta, kind = head >> 4, Kind(head & 15)
            field = field + delta if delta else self.integer()
            change = changes.get(field)
            if kind in (Kind.TRUE, Kind.FALSE):
                continue
            if change is None:
                self.value(kind, 0)
            elif isinstance(change, bytes):
                self._replace(kind, change)
            elif callable(change):
                start = self.position
                number = change(self.integer())
                self._put(start, encoded(kind, number))
            elif kind is Kind.LIST:
                for _ in range(self.list_head()[0]):
                    self.walk(change)
            else:
                self.walk(change)

    def _replace(self, kind: Kind, value: bytes) -> None:
        start = self.position
        self.value(kind, 0)
        self._put(start, value)

    def _put(self, start: int, value: bytes) -> None:
        self.out += [self.data[self.copied : start], value]
        self.copied = self.position
