"""Shapes in well-known binary as the JSON that Paimon's actions make of them.

Source: OGC 06-103r4 (well-known binary, with the Z, M and SRID flags of EWKB); apache/paimon@1.3.1
``MySqlTypeUtils.convertWkbArray``: ``type``, ``coordinates`` or ``geometries``, ``srid``.
"""

from __future__ import annotations

import json
import struct
from typing import Any

_NAMES = {
    1: "Point",
    2: "LineString",
    3: "Polygon",
    4: "MultiPoint",
    5: "MultiLineString",
    6: "MultiPolygon",
    7: "GeometryCollection",
}
MYSQL_SHAPES = ("GEOMETRY", *(name.upper() for name in _NAMES.values()), "GEOMCOLLECTION")
"""MySQL's types of shapes, each at its number in the log; the last one is another name."""
_HAS_SRID = 0x20000000
_MOST_DEPTH = 32
"""Collections in collections; MySQL allows fewer."""


def geometry_json(wkb: bytes, srid: int) -> str:
    """Return a shape as JSON.

    Parameters
    ----------
    wkb
        Well-known binary in two dimensions.
    srid
        Of its coordinates; one in ``wkb`` wins.

    Raises
    ------
    ValueError
        If it is damaged or has more dimensions.

    Examples
    --------
    >>> geometry_json(bytes.fromhex("0101000000000000000000f03f0000000000000040"), 0)
    '{"coordinates":[1,2],"type":"Point","srid":0}'
    """
    try:
        shape, end, inner = _shape(wkb, 0, 0)
    except (struct.error, IndexError) as error:
        raise ValueError("damaged well-known binary") from error
    if end != len(wkb):
        raise ValueError("damaged well-known binary")
    shape["srid"] = srid if inner is None else inner
    return json.dumps(shape, separators=(",", ":"))


def mysql_geometry_json(stored: bytes) -> str:
    """Return MySQL's stored form, four bytes of SRID before well-known binary, as JSON.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    if len(stored) < 9:
        raise ValueError("damaged geometry")
    return geometry_json(stored[4:], int.from_bytes(stored[:4], "little"))


def _shape(data: bytes, at: int, depth: int) -> tuple[dict[str, Any], int, int | None]:
    if depth > _MOST_DEPTH or data[at] not in (0, 1):
        raise ValueError("damaged well-known binary")
    order = "<" if data[at] else ">"
    (number,) = struct.unpack_from(f"{order}I", data, at + 1)
    at += 5
    srid = None
    if number & _HAS_SRID:
        (srid,) = struct.unpack_from(f"{order}I", data, at)
        number, at = number & ~_HAS_SRID, at + 4
    name = _NAMES.get(number)
    if name is None:
        raise ValueError(f"kind {number} of shapes is unknown")
    if number == 1:
        point = _numbers(struct.unpack_from(f"{order}2d", data, at))
        return {"coordinates": point, "type": name}, at + 16, srid
    if number == 2:
        line, at = _line(data, at, order)
        return {"coordinates": line, "type": name}, at, srid
    (count,) = struct.unpack_from(f"{order}I", data, at)
    at += 4
    parts: list[Any] = []
    for _ in range(count):
        if number == 3:
            part, at = _line(data, at, order)
            parts.append(part)
        else:
            inner, at, _srid = _shape(data, at, depth + 1)
            if number == 7:  # inside a collection the type is first
                inner = {"type": inner.pop("type"), **inner}
            parts.append(inner if number == 7 else inner["coordinates"])
    return {"geometries" if number == 7 else "coordinates": parts, "type": name}, at, srid


def _numbers(found: tuple[float, ...]) -> list[float]:
    return [int(number) if number.is_integer() else number for number in found]


def _line(data: bytes, at: int, order: str) -> tuple[list[list[float]], int]:
    (count,) = struct.unpack_from(f"{order}I", data, at)
    numbers = _numbers(struct.unpack_from(f"{order}{2 * count}d", data, at + 4))
    points = [numbers[index : index + 2] for index in range(0, 2 * count, 2)]
    return points, at + 4 + 16 * count
