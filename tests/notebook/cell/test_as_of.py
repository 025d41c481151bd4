"""Who travels in time does so alone: the options of a session are everybody's."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from paimonlab.notebook.cell.time_travel import Turns, is_moment


def test_whoever_comes_while_one_is_alone_waits() -> None:
    turns, seen, entered, leave = Turns(), [], Event(), Event()

    def alone() -> None:
        with turns.alone():
            entered.set()
            leave.wait(60)
            seen.append("alone")

    def together() -> None:
        with turns.together():
            seen.append("together")

    first = Thread(target=alone)
    first.start()
    assert entered.wait(60)
    others = [Thread(target=together) for _ in range(3)]
    for other in others:
        other.start()
    leave.set()
    for thread in (first, *others):
        thread.join(60)

    assert seen == ["alone", "together", "together", "together"]


def test_many_work_together_and_one_after_a_failure() -> None:
    turns = Turns()

    with turns.together(), turns.together():
        pass
    with pytest.raises(ZeroDivisionError), turns.alone():
        raise ZeroDivisionError
    with turns.alone():
        pass
    with turns.together():
        pass


@pytest.mark.parametrize(
    ("point", "expected"),
    [("2026-01-31", True), ("2026-01-31 12:00:00", True), ("daily", False), ("2026-01", False)],
)
def test_a_moment_begins_with_a_date(point: str, *, expected: bool) -> None:
    assert is_moment(point) is expected
