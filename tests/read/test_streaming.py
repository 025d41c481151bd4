from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from paimonlab.read.streaming import in_threads


def _numbers(start: int) -> Iterator[int]:
    yield from range(start, start + 10)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_item_of_every_source_comes_once(threads: int) -> None:
    sources = [lambda start=start: _numbers(start) for start in range(0, 100, 10)]

    assert sorted(in_threads(sources, threads=threads)) == list(range(100))


def test_no_sources_no_items() -> None:
    assert list(in_threads([])) == []


def test_sources_do_not_run_far_ahead() -> None:
    produced = []

    def endless() -> Iterator[int]:
        number = 0
        while True:
            produced.append(number)
            yield number
            number += 1

    items = in_threads([endless, endless], threads=2)
    for _ in range(10):
        next(items)
    items.close()

    # Taken, waiting in the queue, and one in the hands of each thread.
    assert len(produced) <= 10 + 4 + 2


def test_an_error_comes_as_it_was_and_stops_the_others() -> None:
    started, stopped = threading.Event(), threading.Event()

    def failing() -> Iterator[int]:
        yield 1
        assert started.wait(60)
        raise KeyError("lost")

    def endless() -> Iterator[int]:
        started.set()
        try:
            while True:
                yield 2
        finally:
            stopped.set()

    with pytest.raises(KeyError, match="lost"):
        list(in_threads([failing, endless], threads=2))

    assert stopped.wait(60)


def test_closing_runs_the_ends_of_sources() -> None:
    ended = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            ended.set()

    items = in_threads([endless, endless], threads=2)
    next(items)
    items.close()

    assert ended.wait(60)


def test_a_reader_left_open_does_not_keep_the_interpreter() -> None:
    program = """
import itertools
from paimonlab.read.streaming import in_threads
items = in_threads([itertools.count, itertools.count], threads=2)
next(items)
import gc; gc.disable()
kept = [items]; kept.append(kept)
print("end")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_large_items_wait_by_their_bytes() -> None:
    produced = []

    def endless() -> Iterator[int]:
        while True:
            produced.append(1)
            yield 1

    items = in_threads([endless, endless], threads=2, size_of=lambda _: 20 << 20)
    for _ in range(10):
        next(items)
    items.close()

    # Taken, one that waits although two would have more than 32 MB, one in hand of each thread.
    assert len(produced) <= 10 + 1 + 2


def test_an_item_larger_than_all_that_may_wait_comes() -> None:
    sources = [lambda: iter([1, 2, 3])] * 2

    items = in_threads(sources, threads=2, size_of=lambda _: 1 << 40)

    assert sorted(items) == [1, 1, 2, 2, 3, 3]
