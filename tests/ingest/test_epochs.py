from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paimonlab.errors import CorruptMetadataError, IngestRunningError
from paimonlab.ingest.epochs import Epoch, JobFiles, Known, Stopped, TableCommit
from paimonlab.ingest.event_log import JobEvent
from paimonlab.ingest.leases import owner_of, take
from paimonlab.storage import LocalFileIO
from tests.ingest.drawing import source


@pytest.fixture
def files(tmp_path: Path) -> JobFiles:
    return JobFiles("job", LocalFileIO(), str(tmp_path / "job"))


def _epoch(number: int, owner: str = "a", position: bytes = b"7") -> Epoch:
    commit = TableCommit(table="db.t", messages=(b"x",), rows=3)
    return Epoch(number=number, owner=owner, position=position, phase="stream", commits=(commit,))


def test_an_epoch_is_read_as_it_was_written(files: JobFiles) -> None:
    assert files.newest() is None

    files.publish(_epoch(1))

    assert files.newest() == (_epoch(1), False)
    files.mark_done(_epoch(1))
    assert files.newest() == (_epoch(1), True)
    assert _epoch(1).source_position == 7


def test_of_two_processes_one_makes_an_epoch(files: JobFiles) -> None:
    files.publish(_epoch(1))

    files.publish(_epoch(1))  # the answer was lost
    with pytest.raises(IngestRunningError, match="made epoch 1 first"):
        files.publish(_epoch(1, owner="b"))

    assert files.newest() == (_epoch(1), False)


def test_who_comes_back_late_cannot_make_an_epoch_that_was_deleted(files: JobFiles) -> None:
    for number in range(1, 20):
        files.publish(_epoch(number))
        files.mark_done(_epoch(number))
    names = [path.name for path in Path(files.folder).iterdir()]
    assert "epoch-1" not in names
    assert len(names) < 12

    with pytest.raises(IngestRunningError, match="made epoch 3 first"):
        files.publish(_epoch(3, owner="b"))

    assert files.newest() == (_epoch(19), True)
    assert not Path(files.folder, "epoch-3").exists()


def test_a_lost_answer_is_found_out_by_reading_back(
    files: JobFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = LocalFileIO.publish

    def loses_the_answer(store: LocalFileIO, path: str, data: bytes) -> bool:
        publish(store, path, data)
        raise TimeoutError("no answer")

    def does_nothing(store: LocalFileIO, path: str, data: bytes) -> bool:
        raise TimeoutError("no connection")

    monkeypatch.setattr(LocalFileIO, "publish", loses_the_answer)
    files.publish(_epoch(1))
    monkeypatch.setattr(LocalFileIO, "publish", does_nothing)
    with pytest.raises(TimeoutError, match="no connection"):
        files.publish(_epoch(2))

    assert files.newest() == (_epoch(1), False)


def test_a_damaged_epoch_is_named(files: JobFiles) -> None:
    files.publish(_epoch(1))
    path = Path(files.folder, "epoch-1")
    path.write_bytes(path.read_bytes()[:-3])

    with pytest.raises(CorruptMetadataError, match="epoch-1"):
        files.newest()


def test_what_is_known_of_the_source_comes_back(files: JobFiles) -> None:
    known = Known(
        schemas={"a.t": source("id BIGINT NOT NULL, v ROW<a INT> DEFAULT x KEY(id) PARTIAL")},
        stopped={"db.t": Stopped(reason="no", position={"p": 1}, at_millis=5)},
        skipped={"db.t": 9},
        targets={"a.t": "db.t"},
    )

    name = files.write_known(known, 4, "me")

    assert files.known(name) == known


def test_events_come_back_in_order(files: JobFiles) -> None:
    first = JobEvent(at_millis=1, kind="created", table="db.t", text="x", after=("a INT",))
    second = JobEvent(at_millis=2, kind="stopped", table="db.t", text="y", position=[1])
    files.log.write([second], 10, "me")
    files.log.write([first], 9, "me")

    assert files.events() == [first, second]


def test_a_job_is_taken_by_one_process_at_a_time(files: JobFiles) -> None:
    lease = take("job", files.file_io, files.folder)
    with pytest.raises(IngestRunningError, match=f"process {os.getpid()} on .* runs it"):
        take("job", files.file_io, files.folder)

    lease.release()

    again = take("job", files.file_io, files.folder)
    assert again.owner.generation == 2
    again.release()


def test_a_process_that_is_gone_holds_nothing(files: JobFiles) -> None:
    code = (
        "import os, sys\n"
        "from paimonlab.ingest.leases import take\n"
        "from paimonlab.storage import LocalFileIO\n"
        "take('job', LocalFileIO(), sys.argv[1])\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, files.folder], check=True, timeout=60)

    lease = take("job", files.file_io, files.folder)

    assert lease.owner.generation == 2
    lease.release()


def test_a_process_elsewhere_holds_a_job_until_its_lease_ends(
    files: JobFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.ingest.leases.this_machine", lambda: "far away")
    lease = take("job", files.file_io, files.folder, now=lambda: 1_000)
    lease.release()  # as if it had died: the file of the lease is put back below
    owner = owner_of(files.file_io, files.folder)
    assert owner is not None
    Path(files.folder, "lease").write_text('{"generation": 1, "renewed_millis": 5000}')
    monkeypatch.setattr("paimonlab.ingest.leases.this_machine", lambda: "here")

    with pytest.raises(IngestRunningError, match="far away"):
        take("job", files.file_io, files.folder, now=lambda: 34_000)
    later = take("job", files.file_io, files.folder, now=lambda: 35_000)

    assert later.owner.machine == "here"
    later.release()


def test_who_lost_the_job_finds_out(files: JobFiles) -> None:
    lease = take("job", files.file_io, files.folder)
    lease.check()
    Path(files.folder, "owner-2").write_text("{}")

    with pytest.raises(IngestRunningError, match="another process took the job over"):
        lease.check()

    lease.release()
