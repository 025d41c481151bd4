"""Which process runs a job: one at a time, and the next one when it is gone.

A process takes a job by creating the file of the next generation, which only one can. It renews a
lease while it lives. Who finds a lease that was not renewed, or a process that is gone, takes the
next generation; the process before finds that out before its next epoch, and could not publish it
anyway (`paimonlab.ingest.epochs`).
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

import msgspec

from paimonlab.clock import now_millis
from paimonlab.errors import CorruptMetadataError, IngestRunningError
from paimonlab.spec.decoding import ready
from paimonlab.storage import FileIO, join
from paimonlab.storage.processes import began, may_run, this_machine

logger = logging.getLogger(__name__)

LIVES_MILLIS = 30_000
"""How long a process counts as running after it renewed its lease."""
_RENEWED_MILLIS = 5_000
_OWNER, _LEASE = "owner-", "lease"
_held: set[str] = set()
"""Owners of this process."""


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """A process that took a job."""

    id: str
    """Of this taking, used once."""
    generation: int
    machine: str
    process: int
    began: str
    """Tells processes of the same number apart; empty: unknown."""
    at_millis: int


class _Lease(msgspec.Struct, kw_only=True):
    generation: int
    renewed_millis: int
    is_released: bool = False


@dataclass(kw_only=True)
class Lease:
    """A job that this process runs."""

    job: str
    file_io: FileIO
    folder: str
    owner: Owner
    lives_millis: int
    _ended: threading.Event = field(default_factory=threading.Event)
    _lost: bool = False

    def __post_init__(self) -> None:
        _held.add(self.owner.id)
        self._thread = threading.Thread(
            target=self._renew_always, name=f"lease of ingest job {self.job}", daemon=True
        )
        self._renew()
        self._thread.start()

    def check(self) -> None:
        """Make sure that no other process took the job.

        Raises
        ------
        IngestRunningError
            If one did.
        """
        if not self._lost and self.file_io.exists(_path(self, self.owner.generation + 1)):
            self._lost = True
        if self._lost:
            raise IngestRunningError(
                self.job,
                "another process took the job over, as this one had not renewed its lease for "
                f"{self.lives_millis / 1000:g} s; this one stops",
            )

    def release(self) -> None:
        """Let others take the job at once."""
        self._ended.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=self.lives_millis / 1000)
        _held.discard(self.owner.id)
        if not self._lost:
            self._write(is_released=True)

    def _renew_always(self) -> None:
        seconds = min(_RENEWED_MILLIS, self.lives_millis // 3) / 1000
        while not self._ended.wait(seconds):
            try:
                self.check()
                self._renew()
            except IngestRunningError:
                return
            except Exception as error:  # noqa: BLE001 - of any store: it is tried again
                logger.warning("ingest job %s: its lease was not renewed: %s", self.job, error)

    def _renew(self) -> None:
        self._write(is_released=False)

    def _write(self, *, is_released: bool) -> None:
        lease = _Lease(
            generation=self.owner.generation, renewed_millis=now_millis(), is_released=is_released
        )
        path = join(self.folder, _LEASE)
        self.file_io.replace(path, msgspec.json.encode(lease), durable=False)


def take(
    job: str,
    file_io: FileIO,
    folder: str,
    *,
    lives_millis: int = LIVES_MILLIS,
    now: Callable[[], int] = now_millis,
) -> Lease:
    """Take a job that no process runs.

    Parameters
    ----------
    job
        Its name.
    file_io, folder
        Where it is.
    lives_millis
        How long a process counts as running without renewing its lease.
    now
        Epoch milliseconds.

    Raises
    ------
    IngestRunningError
        If a process runs it, or takes it at the same time.
    """
    before = owner_of(file_io, folder)
    if before is not None and (since := runs(file_io, folder, before, lives_millis, now())):
        raise IngestRunningError(
            job,
            f"process {before.process} on {before.machine} runs it ({since}); stop it there, or "
            "give this job another name",
        )
    generation = 1 if before is None else before.generation + 1
    owner = Owner(
        id=str(uuid4()),
        generation=generation,
        machine=this_machine(),
        process=os.getpid(),
        began=began(os.getpid()),
        at_millis=now(),
    )
    path = join(folder, f"{_OWNER}{generation}")
    if not file_io.publish(path, msgspec.json.encode(owner)):
        raise IngestRunningError(job, "another process takes it at this moment")
    for number in range(generation - 2, 0, -1):
        old = join(folder, f"{_OWNER}{number}")
        if not file_io.exists(old):
            break
        file_io.delete(old)
    return Lease(job=job, file_io=file_io, folder=folder, owner=owner, lives_millis=lives_millis)


def owner_of(file_io: FileIO, folder: str) -> Owner | None:
    """Return the process that took a job last; None: none ever did.

    Raises
    ------
    CorruptMetadataError
        If its file is damaged.
    """
    texts = [
        name.removeprefix(_OWNER) for name in file_io.list_names(folder) if name.startswith(_OWNER)
    ]
    numbers = [int(text) for text in texts if text.isascii() and text.isdecimal()]
    if not numbers:
        return None
    path = join(folder, f"{_OWNER}{max(numbers)}")
    try:
        return msgspec.json.decode(file_io.read(path), type=ready(Owner))
    except msgspec.DecodeError as error:
        raise CorruptMetadataError(path, str(error)) from error


def runs(file_io: FileIO, folder: str, owner: Owner, lives_millis: int, now: int) -> str | None:
    """Say since when a process has been seen running a job; None: it does not run any more."""
    lease = _lease(file_io, folder)
    renewed = owner.at_millis
    if lease is not None and lease.generation == owner.generation:
        if lease.is_released:
            return None
        renewed = lease.renewed_millis
    if owner.machine == this_machine() and not _may_run(owner):
        return None
    age = max(now - renewed, 0)
    if age >= lives_millis and owner.id not in _held:
        return None
    return f"seen {age / 1000:.0f} s ago"


def _lease(file_io: FileIO, folder: str) -> _Lease | None:
    try:
        return msgspec.json.decode(file_io.read(join(folder, _LEASE)), type=ready(_Lease))
    except (FileNotFoundError, msgspec.DecodeError):
        return None  # it is written without waiting for the disk


def _may_run(owner: Owner) -> bool:
    if owner.process == os.getpid():
        return owner.id in _held
    return may_run(owner.process, owner.began)


def _path(lease: Lease, generation: int) -> str:
    return join(lease.folder, f"{_OWNER}{generation}")
