"""Where reading begins and goes on, decided without a broker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.sources.kafka_positions import (
    Range,
    Start,
    continued,
    from_json,
    specific,
    start_of,
    to_json,
)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("earliest-offset", Start(at="earliest")),
        ("latest", Start(at="latest")),
        ("group-offsets", Start(at="group")),
        (
            "partition:0,offset:42; partition:1,offset:300",
            Start(at="offsets", offsets={0: 42, 1: 300}),
        ),
        ({3: 7}, Start(at="offsets", offsets={3: 7})),
        (datetime(2024, 1, 1, tzinfo=UTC), Start(at="time", millis=1_704_067_200_000)),
    ],
    ids=str,
)
def test_starts_are_read(given: Any, wanted: Start) -> None:
    assert start_of(given) == wanted


@pytest.mark.parametrize("given", ["", "oldest", "partition:0", "partition:0,offset:-1", "0:42"])
def test_other_starts_are_refused(given: str) -> None:
    with pytest.raises(UnsupportedError, match="use 'earliest', 'latest'"):
        start_of(given)


def test_a_time_has_a_zone() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        start_of(datetime(2024, 1, 1))


def test_positions_are_the_same_text_for_the_same_offsets() -> None:
    offsets = {("b", 10): 1, ("a", 2): 5, ("b", 9): 0}

    assert str(to_json(offsets)) == "{'a': {'2': 5}, 'b': {'9': 0, '10': 1}}"
    assert from_json(to_json(offsets)) == offsets


@pytest.mark.parametrize("position", [None, 7, "x", {"t": 3}, {"t": {"x": 1}}, {"t": {"0": None}}])
def test_positions_of_other_sources_are_refused(position: Any) -> None:
    with pytest.raises(SourceError, match="whose job is it"):
        from_json(position)


def test_new_partitions_begin_at_their_beginning() -> None:
    ranges = {("t", 0): Range(0, 10), ("t", 1): Range(3, 8)}

    assert continued("kafka", {("t", 0): 10}, ranges) == {("t", 0): 10, ("t", 1): 3}


@pytest.mark.parametrize(
    ("offset", "problem"),
    [
        (2, r"t\[0\]: offsets 2 to 4 were deleted before they were read"),
        (11, r"t\[0\] ends at offset 10, and 11 is next to read"),
    ],
)
def test_lost_offsets_say_what_is_lost_and_what_to_do(offset: int, problem: str) -> None:
    with pytest.raises(SourceError, match=rf"{problem}.*begin a job of another name"):
        continued("kafka", {("t", 0): offset}, {("t", 0): Range(5, 10)})


def test_offsets_of_several_topics_or_of_no_partition_are_refused() -> None:
    with pytest.raises(SourceError, match="offsets are of one topic"):
        specific("kafka", {0: 1}, {("a", 0): Range(0, 1), ("b", 0): Range(0, 1)})
    with pytest.raises(SourceError, match="a has no partition 5"):
        specific("kafka", {5: 1}, {("a", 0): Range(0, 1)})
