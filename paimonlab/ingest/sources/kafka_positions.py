"""Where reading of Kafka's topics begins and goes on: decided from what a cluster says.

A position is the next offset to read of each partition, ``{"orders": {"0": 42}}``. Partitions that
are not in it are new: they are read from their beginning. ``"again:"``, which no topic is called,
has the tables of which all messages before those offsets are read first, and ``"from:"`` the
offsets at which reading began, where nothing else tells them. ``"ids:"`` has the numbers by which a
cluster tells a topic from one that had its name before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.changes import JsonValue

Partition: TypeAlias = tuple[str, int]
"""Topic and number."""

Offsets: TypeAlias = dict[Partition, int]
"""Next offset to read."""

_AGAIN = "again:"
_FROM = "from:"
_IDS = "ids:"
_SPECIFIC = re.compile(r"partition:(\d+),offset:(\d+)")
_WORDS: dict[str, Literal["earliest", "latest", "group"]] = {
    "earliest": "earliest",
    "earliest-offset": "earliest",
    "latest": "latest",
    "latest-offset": "latest",
    "group": "group",
    "group-offsets": "group",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where reading begins without a position."""

    at: Literal["earliest", "latest", "group", "time", "offsets"]
    millis: int | None = None
    """With ``time``: the first message of that epoch time or later."""
    offsets: Mapping[int, int] | None = None
    """With ``offsets``: by partition of the only topic."""


def start_of(start: str | datetime | Mapping[int, int]) -> Start:
    """Read what users give as a start.

    Parameters
    ----------
    start
        ``earliest``, ``latest``, ``group``, a time with zone, or offsets by partition; a text as
        Paimon's actions take them also: ``latest-offset``, ``partition:0,offset:42;…``.

    Raises
    ------
    UnsupportedError
        If it is something else.

    Examples
    --------
    >>> start_of("latest-offset").at, start_of("partition:0,offset:42;partition:1,offset:3").offsets
    ('latest', {0: 42, 1: 3})
    """
    if isinstance(start, datetime):
        if start.tzinfo is None:
            raise ValueError(f"start = {start!r} has no time zone")
        return Start(at="time", millis=round(start.timestamp() * 1000))
    if isinstance(start, Mapping):
        return Start(at="offsets", offsets=dict(start))
    if start in _WORDS:
        return Start(at=_WORDS[start])
    found = [_SPECIFIC.fullmatch(part.strip()) for part in start.split(";")]
    if all(found):
        pairs = [match.groups() for match in found if match is not None]
        return Start(at="offsets", offsets={int(number): int(offset) for number, offset in pairs})
    raise UnsupportedError(
        f"start = {start!r}",
        "use 'earliest', 'latest', 'group', a datetime with zone, or offsets by partition",
    )


@dataclass(frozen=True, slots=True)
class Range:
    """What a partition has."""

    low: int
    """Its first offset."""
    high: int
    """After its last one."""


def to_json(offsets: Offsets) -> JsonValue:
    """Return a position as JSON; the same offsets always give the same text."""
    found: dict[str, JsonValue] = {}
    for (topic, number), offset in sorted(offsets.items()):
        by_number = found.setdefault(topic, {})
        assert isinstance(by_number, dict)
        by_number[str(number)] = offset
    return found


def from_json(position: JsonValue) -> Offsets:
    """Read a position.

    Raises
    ------
    SourceError
        If it is not one of this source.
    """
    try:
        assert isinstance(position, dict)
        return {
            (topic, int(number)): int(offset)  # type: ignore[arg-type]
            for topic, by_number in position.items()
            if topic not in (_AGAIN, _FROM, _IDS)
            for number, offset in by_number.items()  # type: ignore[union-attr]
        }
    except (AssertionError, AttributeError, TypeError, ValueError):
        raise SourceError(
            "kafka", f"{position!r} is not a position of it: whose job is it?"
        ) from None


def since(position: JsonValue, begin: JsonValue) -> JsonValue:
    """Return a position that also says where reading began; None: nothing does.

    Examples
    --------
    >>> since({"orders": {"0": 42}}, {"orders": {"0": 7}})
    {'orders': {'0': 42}, 'from:': {'orders': {'0': 7}}}
    """
    assert isinstance(position, dict)
    return position if begin is None else {**position, _FROM: begin}


def begin_of(position: JsonValue) -> JsonValue:
    """Return where reading began, as a position says it; None: it does not."""
    return position.get(_FROM) if isinstance(position, dict) else None


def with_ids(position: JsonValue, ids: Mapping[str, str]) -> JsonValue:
    """Return a position that also says which topics they are.

    Examples
    --------
    >>> with_ids({"orders": {"0": 42}}, {"orders": "xyz"})
    {'orders': {'0': 42}, 'ids:': {'orders': 'xyz'}}
    """
    assert isinstance(position, dict)
    return {**position, _IDS: dict[str, JsonValue](sorted(ids.items()))} if ids else position


def ids_of(position: JsonValue) -> dict[str, str]:
    """Return the ids of topics, as far as a position has them."""
    ids = position.get(_IDS) if isinstance(position, dict) else None
    return {topic: str(one) for topic, one in ids.items()} if isinstance(ids, dict) else {}


def check_ids(source: str, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Make sure that topics are those that were read.

    Raises
    ------
    SourceError
        If one has only the name of it.
    """
    for topic, one in before.items():
        if now.get(topic, one) != one:
            raise SourceError(
                source,
                f"topic {topic} was deleted and created again: its offsets are those of other "
                f"messages; {_WAY_OUT}",
            )


def to_read_again(position: JsonValue, tables: Collection[str]) -> JsonValue:
    """Return a position from which all messages of some tables come again before others go on.

    Examples
    --------
    >>> to_read_again({"orders": {"0": 42}, "again:": ["d.b"]}, ["d.a"])
    {'orders': {'0': 42}, 'again:': ['d.a', 'd.b']}
    """
    assert isinstance(position, dict)
    names: list[JsonValue] = [*sorted({*tables, *read_again(position)})]
    return {**position, _AGAIN: names}


def read_again(position: JsonValue) -> frozenset[str]:
    """Return the tables of which all messages are read again first."""
    again = position.get(_AGAIN, []) if isinstance(position, dict) else []
    assert isinstance(again, list)
    return frozenset(map(str, again))


def continued(source: str, offsets: Offsets, ranges: Mapping[Partition, Range]) -> Offsets:
    """Return where reading goes on: old partitions at their offset, new ones at their beginning.

    Parameters
    ----------
    source
        Name of the source, for errors.
    offsets
        Of a position.
    ranges
        Of all partitions there are.

    Raises
    ------
    SourceError
        If a partition or offsets that were not read yet are lost.
    """
    for partition, offset in offsets.items():
        found = ranges.get(partition)
        where = f"{partition[0]}[{partition[1]}]"
        if found is None:
            raise SourceError(source, f"{where} is not there any more; {_WAY_OUT}")
        if offset < found.low:
            raise SourceError(
                source,
                f"{where}: offsets {offset} to {found.low - 1} were deleted before they were read "
                f"(retention.ms, retention.bytes of the topic); {_WAY_OUT}",
            )
        if offset > found.high:
            raise SourceError(
                source,
                f"{where} ends at offset {found.high}, and {offset} is next to read: the topic was "
                f"deleted and created again, or lost messages; {_WAY_OUT}",
            )
    return {partition: offsets.get(partition, found.low) for partition, found in ranges.items()}


def limited(
    begin: Offsets, ends: Offsets, *, most: int | None = None, until: Offsets | None = None
) -> Offsets:
    """Return how far partitions are read at once: in equal shares of what each has.

    Parameters
    ----------
    begin, ends
        Where reading goes on, and where partitions end; of the same partitions.
    most
        How many offsets together; None: no limit.
    until
        Offsets that are not passed; partitions that are not in it are not read.

    Examples
    --------
    >>> limited({("a", 0): 10, ("a", 1): 0}, {("a", 0): 110, ("a", 1): 300}, most=40)
    {('a', 0): 20, ('a', 1): 30}
    >>> limited({("a", 0): 10}, {("a", 0): 12}, until={("a", 0): 11})
    {('a', 0): 11}
    """
    if until is not None:
        ends = {one: min(end, until.get(one, begin[one])) for one, end in ends.items()}
    behind = {one: max(end - begin[one], 0) for one, end in ends.items()}
    total = sum(behind.values())
    if most is None or total <= most:
        return {one: begin[one] + count for one, count in behind.items()}
    shares = {one: count * most // total for one, count in behind.items()}
    if not any(shares.values()):
        shares[max(behind, key=lambda one: behind[one])] = most
    return {one: begin[one] + count for one, count in shares.items()}


_WAY_OUT = (
    "what is missing cannot be read again: compare the tables with their origin, then begin a job "
    "of another name with start='earliest', or with offsets"
)


def lost(source: str, partition: Partition, offset: int, problem: str) -> SourceError:
    """Make the error of an offset that a broker does not have."""
    return SourceError(
        source, f"{partition[0]}[{partition[1]}] at offset {offset}: {problem}; {_WAY_OUT}"
    )


def whole_from(source: str, begins: Offsets, ranges: Mapping[Partition, Range]) -> None:
    """Make sure that partitions have all messages from where reading began without a position.

    Raises
    ------
    SourceError
        If the first ones were deleted, as far as that can be seen.
    """
    for partition, begin in begins.items():
        low = ranges[partition].low
        if begin == low > 0:
            raise SourceError(
                source,
                f"{partition[0]}[{partition[1]}] begins at offset {low}: what came before was "
                "deleted (retention.ms, retention.bytes of the topic), and rows that only those "
                "messages had would be lost",
            )


def begins_since(source: str, begin: Offsets, ranges: Mapping[Partition, Range]) -> Offsets:
    """Return from where partitions have all messages since reading began at some offsets.

    Raises
    ------
    SourceError
        If some were deleted.
    """
    for partition, offset in begin.items():
        found = ranges.get(partition)
        if found is None or found.low > offset:
            where = f"{partition[0]}[{partition[1]}]"
            raise SourceError(
                source,
                f"{where}: the job began at offset {offset}, which was deleted (retention.ms, "
                "retention.bytes of the topic), and rows that only the messages from there had "
                "would be lost",
            )
    return {partition: begin.get(partition, found.low) for partition, found in ranges.items()}


def specific(source: str, given: Mapping[int, int], ranges: Mapping[Partition, Range]) -> Offsets:
    """Return the offsets that users gave; partitions without one begin at their beginning.

    Raises
    ------
    SourceError
        If there is no such partition or offset, or several topics.
    """
    topics = {topic for topic, _ in ranges}
    if len(topics) != 1:
        raise SourceError(source, f"offsets are of one topic, not of {sorted(topics)}")
    (topic,) = topics
    unknown = [number for number in given if (topic, number) not in ranges]
    if unknown:
        raise SourceError(source, f"{topic} has no partition {unknown[0]}")
    return continued(source, {(topic, number): offset for number, offset in given.items()}, ranges)
