"""The log of a job in few files, whoever is killed while it is folded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from paimonlab.ingest import event_log
from paimonlab.ingest.event_log import EventLog, JobEvent
from paimonlab.storage import LocalFileIO


class _Killed(BaseException):
    """What ends a process between two writes."""


def _dying(left: int) -> LocalFileIO:
    """Return a store of a process that is killed after so many writes and deletes."""
    steps = iter(range(left))

    def step() -> None:
        if next(steps, None) is None:
            raise _Killed

    class _Dying(LocalFileIO):
        def publish(self, path: str, data: bytes) -> bool:
            step()
            return LocalFileIO().publish(path, data)

        def delete_files(self, paths: Sequence[str]) -> Any:
            for path in paths:
                step()
                LocalFileIO().delete(path)
            return {}

    return _Dying()


def _event(number: int) -> JobEvent:
    return JobEvent(at_millis=number, kind="note", table="ods.t", text=f"event {number}")


def _filled(folder: Path, numbers: range, epoch: int = 1) -> None:
    log = EventLog(LocalFileIO(), str(folder))
    for place, number in enumerate(numbers):
        log.write([_event(number)], epoch + place, "me")


def _told(folder: Path) -> list[int]:
    return [one.at_millis for one in EventLog(LocalFileIO(), str(folder)).read()]


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("left", [0, 1, 2, 60, 121, 122])
def test_a_log_that_is_folded_while_the_process_is_killed_tells_all_once(
    tmp_path: Path, left: int
) -> None:
    _filled(tmp_path, range(120))
    dying = EventLog(_dying(left), str(tmp_path))

    try:
        dying.fold(_names(tmp_path))
    except _Killed:
        assert left < 121
    assert _told(tmp_path) == [*range(120)]

    _filled(tmp_path, range(120, 240), epoch=121)
    again = EventLog(LocalFileIO(), str(tmp_path))
    again.fold(_names(tmp_path))
    assert _told(tmp_path) == [*range(240)]
    assert len(_names(tmp_path)) == 1


def test_only_the_newest_events_are_kept_and_few_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "MOST_EVENTS", 50)
    monkeypatch.setattr(event_log, "_MOST_FILES", 10)
    log = EventLog(LocalFileIO(), str(tmp_path))
    for number in range(120):
        log.write([_event(number)], number + 1, "me")
        log.fold(_names(tmp_path))
        assert len(_names(tmp_path)) <= 11

    assert _told(tmp_path) == [*range(70, 120)]


def test_of_two_processes_that_fold_one_does(tmp_path: Path) -> None:
    _filled(tmp_path, range(120))
    seen = _names(tmp_path)
    EventLog(LocalFileIO(), str(tmp_path)).fold(seen)
    _filled(tmp_path, range(120, 125), epoch=121)

    EventLog(LocalFileIO(), str(tmp_path)).fold(seen)  # was stopped before it read the files

    assert _told(tmp_path) == [*range(125)]
    assert _names(tmp_path)[-1] == "folded-events-1"


def test_a_reader_meets_a_fold_half_way(tmp_path: Path) -> None:
    _filled(tmp_path, range(120))

    listed: list[str] = []

    class _Late(LocalFileIO):
        """Lists files before they are folded, and reads them afterwards."""

        def list_names(self, path: str) -> Any:
            found = LocalFileIO().list_names(path)
            if not listed:
                EventLog(LocalFileIO(), path).fold(found)
            listed.append(path)
            return found

    found = EventLog(_Late(), str(tmp_path)).read()
    assert [one.at_millis for one in found] == [*range(120)]
    assert len(listed) == 2
