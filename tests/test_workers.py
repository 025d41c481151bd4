"""Workers that are threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from paimonlab.workers import Divided, side_by_side


def test_jobs_give_their_results_in_order_and_tell_when_they_are_done() -> None:
    told: list[int] = []

    made = side_by_side(lambda job: job * job, range(20), undo=print, done=told.append, threads=4)

    assert made == [job * job for job in range(20)]
    assert sorted(told) == list(range(20))
    assert side_by_side(lambda job: job, [], undo=print) == []


@pytest.mark.parametrize("error", [OSError("no"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("place", ["work", "done"])
def test_after_a_failure_what_the_others_made_is_undone(
    error: BaseException, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[int] = []
    undone: list[int] = []
    lock = threading.Lock()

    def work(job: int) -> int:
        if place == "work" and job == 7:
            raise error
        with lock:
            made.append(job)
        return -job

    def undo(job: int, result: int) -> None:
        assert result == -job
        undone.append(job)
        if job == 1:
            raise OSError("cannot be deleted")

    def done(job: int) -> None:
        if place == "done" and job == 7:
            raise error

    with pytest.raises(type(error)):
        side_by_side(work, range(100), undo=undo, done=done, threads=2)

    assert sorted(undone) == sorted(made)
    assert ("cannot be deleted" in caplog.text) == (1 in made)


def test_rows_of_all_jobs_are_written_as_they_come() -> None:
    events: list[str] = []

    def read(job: int) -> Divided:
        for number in range(2):
            events.append(f"read {job}.{number}")
            yield 0, pa.RecordBatch.from_pydict({"a": [10 * job + number]})

    def write(share: str, rows: Iterator[pa.RecordBatch]) -> list[int]:
        assert share == "all"
        written = []
        for batch in rows:
            events.append(f"write {batch['a'][0]}")
            written += batch["a"].to_pylist()
        return written

    (written,) = side_by_side.exchange(
        read, [1, 2], write, ["all"], what="", undo=print, done=lambda job: events.append(f"{job}")
    )

    assert written == [10, 11, 20, 21]
    assert events[:4] == ["read 1.0", "write 10", "read 1.1", "write 11"]
    assert events[4] == "1"
