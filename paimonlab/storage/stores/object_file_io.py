"""Objects as files: the methods of `FileIO`.

There are no folders: one is there as long as an object is below it, or the mark that
`make_directory` leaves in it. Moving a folder, one step on a local disk, is refused.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import random
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import obstore
import pyarrow as pa

from paimonlab.errors import CorruptMetadataError, StorageError, UnsupportedError
from paimonlab.storage.failures import delete_each
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, Buffer, FileStatus
from paimonlab.storage.guards import Guard, is_lock_held
from paimonlab.storage.places import Place, place_of
from paimonlab.storage.random_input import RandomFile
from paimonlab.storage.schemes import store_kind
from paimonlab.storage.stores.answers import (
    Answer,
    answer_of,
    failure,
    is_answer_of_store,
    no_conditions,
    whole_answer,
)
from paimonlab.storage.stores.connecting import Bucket, bucket_of
from paimonlab.storage.stores.object_inputs import ObjectInput
from paimonlab.storage.stores.object_outputs import ObjectOutput
from paimonlab.storage.stores.probing import broken_condition, refuses_versions
from paimonlab.storage.stores.s3_options import S3Options
from paimonlab.storage.stores.settling import Found, Put, UnsettledError, create
from paimonlab.storage.stores.store_options import StoreOptions, service_of

FOLDER_MARK = ".folder"
"""The object that makes a folder without files one."""
_WRITER = "paimonlabwriter"
"""Attribute of an object: which call made it, so that a lost answer can be found out."""
_MOVED = "paimonlabmoved"
"""Attribute of an object that a process is moving away."""
_MOVING_SECONDS = 600
"""A process that has not moved it away after so long is dead."""
_DELETED_AT_ONCE = 1000
_MOST_CLAIMS = 100
_LOOK_THEN_PUT = threading.Lock()
"""Threads of one writer must not come between each other's look and put."""


class _Remembered:
    """What one process knows of its own writes; a copy begins anew."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        """Of files that were written and not yet checked, by path."""
        self.broken: dict[str, str] = {}
        """By bucket which condition it does not keep; empty: it keeps them."""
        self.refuses: dict[str, bool] = {}
        """By bucket whether it does not replace versions that are there."""

    def __reduce__(self) -> tuple[type[_Remembered], tuple[()]]:
        return _Remembered, ()


@dataclass(frozen=True, slots=True)
class ObjectFileIO:
    """Objects below one folder of a bucket, or of other buckets reached the same way."""

    root: str
    """Of the warehouse; whether the store keeps conditions is tried out in it."""
    options: StoreOptions = field(default_factory=S3Options, repr=False)
    guard: Guard = Guard.CONDITIONS
    """What is relied on if the store does not keep conditions."""
    _remembered: _Remembered = field(
        default_factory=_Remembered, init=False, compare=False, repr=False
    )

    def within(self, *roots: str) -> Self:
        """Return this store: there are no links that lead out of a folder."""
        for root in roots:
            place_of(root)
        return self

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        place, bucket = self._at(path)
        answer = self._asked(path, "reading", lambda: obstore.get(bucket.patient, place.key))
        size_bytes = int(answer.meta["size"])
        if size_bytes > limit_bytes:
            problem = f"it has {size_bytes:,} bytes, more than the {limit_bytes:,} allowed"
            raise CorruptMetadataError(path, f"{problem} for a file of its kind")
        data = self._asked(path, "reading", lambda: bytes(answer.bytes()))
        if len(data) != size_bytes:
            problem = f"{len(data):,} of its {size_bytes:,} bytes came"
            raise StorageError(errno.ECONNABORTED, problem, path)
        return data

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads; where its size is known nothing is asked for yet."""
        place, bucket = self._at(path)
        opened = ObjectInput(bucket.patient, place.key, path, self.options.secrets, size_bytes)
        return RandomFile(opened, "r")

    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing, which is there when it is closed.

        Raises
        ------
        UnsupportedError
            If the store does not keep conditions, here and in all methods that create files.
        """
        self._require_conditions(path)
        place, bucket = self._at(path)
        output = ObjectOutput(
            bucket.patient,
            place.key,
            path,
            create=lambda data: self._create_new(path, data),
            note_size=lambda size: self._remembered.sizes.__setitem__(path, size),
            find_full=lambda: self._found_full(path),
            secrets=self.options.secrets,
        )
        return pa.PythonFile(output, mode="w")

    def create(self, path: str, data: Buffer) -> None:
        """Create a new file."""
        self.write(path, bytes(data))
        self._remembered.sizes[path] = len(data)

    def write(self, path: str, data: bytes) -> None:
        """Create a new file."""
        self._require_conditions(path)
        self._create_new(path, data)

    def begin_sync(self, output: pa.NativeFile) -> None:
        """Do nothing: a file is durable once it is there."""

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Check the sizes of written files; those that are there are durable."""
        for path, size_bytes in sizes.items():
            found = self._remembered.sizes.pop(path, None)
            found = self.size_bytes(path) if found is None else found
            if found != size_bytes:
                problem = f"{size_bytes:,} bytes were written and {found:,} are there"
                raise StorageError(errno.ECONNABORTED, problem, path)

    def publish(self, path: str, data: bytes) -> bool:
        """Create ``path`` with ``data`` if nothing exists there."""
        self._require_conditions(path, others_may_take_it=True)
        return self._create(path, data)

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write ``path``, whether or not it exists."""
        del durable
        place, bucket = self._at(path)
        self._asked(
            path,
            "writing",
            lambda: obstore.put(bucket.patient, place.key, data, use_multipart=False),
        )

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        place, bucket = self._at(path)
        if place.key and self.has_file(path):
            return True
        return any(True for _ in self._below(place, bucket))

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists."""
        try:
            self.size_bytes(path)
        except FileNotFoundError:
            return False
        return True

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        place, bucket = self._at(path)
        return int(
            self._asked(path, "asking", lambda: obstore.head(bucket.patient, place.key))["size"]
        )

    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Do nothing: an object is nothing but its bytes."""

    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder; [] when the folder does not exist."""
        place, bucket = self._at(path)
        found = self._asked(
            path,
            "listing",
            lambda: whole_answer(
                lambda: obstore.list_with_delimiter(bucket.patient, place.key or None)
            ),
        )
        folders = [
            FileStatus(place.of(key), size_bytes=0, is_directory=True, modified_millis=0)
            for key in found["common_prefixes"]
        ]
        files = [
            FileStatus(
                place.of(status["path"]),
                size_bytes=int(status["size"]),
                is_directory=False,
                modified_millis=int(status["last_modified"].timestamp() * 1000),
            )
            for status in found["objects"]
            if not _is_mark(status["path"], place.key)
        ]
        return folders + files

    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder; [] when it does not exist."""
        return [status.path.rpartition("/")[2] for status in self.list(path)]

    def make_directory(self, path: str) -> None:
        """Leave a mark in a folder, so that it exists; fine when it does."""
        if not self.exists(path):
            self._require_conditions(path)
            self.replace(f"{path}/{FOLDER_MARK}", b"")

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        """Move a file: of several who move it one succeeds.

        Raises
        ------
        UnsupportedError
            If it is a folder: its objects would move one by one.
        """
        del durable
        place, bucket = self._at(source)
        try:
            found = self._asked(source, "reading", lambda: obstore.get(bucket.patient, place.key))
        except FileNotFoundError:
            if any(True for _ in self._below(place, bucket)):
                raise UnsupportedError(
                    f"moving the folder {source} on an object store",
                    "its objects would be copied one by one, and others see it half-way",
                ) from None
            raise
        if found.attributes.get(_MOVED) and _age_seconds(found.meta) < _MOVING_SECONDS:
            raise FileNotFoundError(errno.ENOENT, "others are moving it", source)
        self._require_conditions(source, others_may_take_it=True)
        if self._remembered.broken[place.bucket] or self._refuses_versions(source):
            self._move_claimed(source, target)
            return
        data = self._asked(source, "reading", lambda: bytes(found.bytes()))
        self._create_new(target, data)
        try:
            has_it = self._claim(source, found.meta, data)
        except FileNotFoundError:
            has_it = False
        if not has_it:
            self.delete(target)
            raise FileNotFoundError(errno.ENOENT, "others moved it", source)
        self.delete(source)

    def delete(self, path: str) -> None:
        """Delete a file; fine when it does not exist."""
        place, bucket = self._at(path)
        try:
            self._asked(path, "deleting", lambda: obstore.delete(bucket.patient, place.key))
        except FileNotFoundError:
            return

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Delete files, a thousand with each request; return what could not be, and why."""
        left: dict[str, OSError | CorruptMetadataError] = {}
        for name, together in itertools.groupby(paths, key=lambda path: place_of(path).bucket):
            group = list(together)
            bucket = bucket_of(name, self.options)
            for first in range(0, len(group), _DELETED_AT_ONCE):
                some = group[first : first + _DELETED_AT_ONCE]
                try:
                    obstore.delete(bucket.patient, [place_of(path).key for path in some])
                except Exception as error:
                    if not is_answer_of_store(error):
                        raise
                    left |= delete_each(self.delete, some)  # each says why
        return left

    def delete_directory(self, path: str) -> None:
        """Delete all objects below a folder; fine when there are none."""
        place, bucket = self._at(path)
        keys = [key for key in self._below(place, bucket) if key != place.key]
        for error in self.delete_files([place.of(key) for key in keys]).values():
            raise error
        if any(True for _ in self._below(place, bucket)):
            raise StorageError(
                errno.ENOTEMPTY,
                f"all files in it were deleted; what is left is new, or the object {place.key}/ "
                "that Hadoop keeps for a folder: delete that one with a tool of the store",
                path,
            )

    def delete_empty_directory(self, path: str) -> bool:
        """Delete the mark of a folder if nothing else is in it."""
        place, bucket = self._at(path)
        keys = list(itertools.islice(self._below(place, bucket), 2))
        if keys != [f"{place.key}/{FOLDER_MARK}"]:
            return False
        self.delete(f"{path}/{FOLDER_MARK}")
        return True

    def _at(self, path: str) -> tuple[Place, Bucket]:
        place = place_of(path)
        kind = store_kind(path)
        if kind is None or kind.name != service_of(self.options):
            raise UnsupportedError(
                f"the path '{path}'", f"this store reaches {service_of(self.options)} alone"
            )
        return place, bucket_of(place.bucket, self.options)

    def _asked(self, path: str, did: str, request: Callable[[], Any]) -> Any:
        """Send a request; name what goes wrong."""
        try:
            return request()
        except Exception as error:
            if is_answer_of_store(error):
                raise failure(error, path, did, self.options.secrets) from None
            raise

    def _below(self, place: Place, bucket: Bucket) -> Iterator[str]:
        """Yield the keys below a folder, and its own if Hadoop made an object of it."""
        last: str | None = None

        def following() -> Any:
            return obstore.list(
                bucket.patient, place.key or None, offset=last, chunk_size=_DELETED_AT_ONCE
            )

        pages = following()

        def asked() -> Any:
            nonlocal pages
            try:
                return next(pages, None)
            except Exception:
                pages = following()  # one that failed has ended
                raise

        while True:
            page = self._asked(place.uri, "listing", lambda: whole_answer(asked))
            if page is None:
                return
            for status in page:
                last = str(status["path"])
                yield last

    def _create_new(self, path: str, data: bytes) -> None:
        if not self._create(path, data):
            raise FileExistsError(errno.EEXIST, "the object exists", path)

    def _create(self, path: str, data: bytes) -> bool:
        return self._settled(path, data, "create")

    def _move_claimed(self, source: str, target: str) -> None:
        """Move a file where only creating has a condition: whoever creates a claim may move it."""
        folder, _, name = source.rpartition("/")
        claims: list[str] = []
        for number in range(_MOST_CLAIMS):
            claims.append(f"{folder}/.{name}.moving-{number}")
            if self._create(claims[-1], b""):
                break
            if not self._is_dead(claims[-1]):
                raise FileNotFoundError(errno.ENOENT, "others are moving it", source)
        try:
            self._create_new(target, self.read(source))
            self.delete(source)
        finally:
            for claim in reversed(claims):
                with contextlib.suppress(OSError):
                    self.delete(claim)

    def _is_dead(self, claim: str) -> bool:
        place, bucket = self._at(claim)
        try:
            status = self._asked(claim, "asking", lambda: obstore.head(bucket.patient, place.key))
        except FileNotFoundError:
            return False  # they are done
        return _age_seconds(status) > _MOVING_SECONDS

    def _settled(
        self, path: str, data: bytes, mode: Any, marks: Mapping[str, str] | None = None
    ) -> bool:
        """Put an object on a condition, and find out whether that was done."""
        place, bucket = self._at(path)
        writer = str(uuid.uuid4())
        attributes: Any = {_WRITER: writer, **(marks or {})}

        is_new = mode == "create"
        store = bucket.creating if is_new else bucket.single
        is_looked_for = bool(self._remembered.broken.get(place.bucket))

        def put() -> Put:
            with _LOOK_THEN_PUT if is_looked_for else contextlib.nullcontext():
                try:
                    if is_looked_for and _is_there(bucket, place.key):
                        return Put(Answer.TAKEN, FileExistsError(place.key))
                    obstore.put(
                        store,
                        place.key,
                        data,
                        attributes=attributes,
                        mode=(
                            ("overwrite" if is_looked_for else bucket.create_mode)
                            if is_new
                            else mode
                        ),
                        use_multipart=False,
                    )
                except Exception as error:
                    if is_answer_of_store(error):
                        return Put(answer_of(error), error)
                    raise
                return Put(Answer.DONE)

        def look() -> Found:
            try:
                found = obstore.get(bucket.patient, place.key)
                there: Mapping[str, Any] = found.meta
                if not is_new and all(there.get(key) == mode[key] for key in mode):
                    return Found.UNCHANGED
                if bytes(found.bytes()) != data:
                    return Found.OTHERS
            except FileNotFoundError:
                return Found.NOTHING
            made_by = found.attributes.get(_WRITER)
            return Found.OURS if made_by in (None, writer) else Found.OTHERS

        try:
            return create(put, look, now=time.monotonic, pause=time.sleep, chance=random.random)
        except UnsettledError as unsettled:
            raise self._named(unsettled, path) from None

    def _claim(self, path: str, version: Mapping[str, Any], data: bytes) -> bool:
        """Replace the version of a file that was read; of several who try it one succeeds.

        It gets a blank at its end, which changes no document, so that it is another version.
        """
        mode = {key: version[key] for key in ("e_tag", "version") if version.get(key)}
        return self._settled(path, data + b" ", mode, {_MOVED: "1"})

    def _found_full(self, path: str) -> OSError | None:
        """Ask by a small object beside a file, whose parts take long, whether there is room.

        Returns
        -------
        OSError or None
            What the file fails with if the store says that it is full; None: it does not say so.
        """
        place, bucket = self._at(path)
        folder, slash, name = place.key.rpartition("/")
        key = f"{folder}{slash}.{name}.{uuid.uuid4()}.tmp"
        try:
            obstore.put(bucket.single, key, b"1", use_multipart=False)
        except Exception as error:
            if not is_answer_of_store(error):
                raise
            if answer_of(error) is Answer.FULL:
                return failure(error, path, "writing", self.options.secrets)
            return None
        with contextlib.suppress(Exception):
            obstore.delete(bucket.patient, key)
        return None

    def _named(self, unsettled: UnsettledError, path: str) -> OSError:
        error = unsettled.__cause__
        assert isinstance(error, Exception), "what is unsettled has a cause"
        if not is_answer_of_store(error):
            raise error
        if not unsettled.is_in_doubt:
            attempts = unsettled.attempts
            return failure(error, path, "creating", self.options.secrets, attempts=attempts)
        told = failure(error, path, "creating", self.options.secrets)
        problem = f"{told.strerror}; it may be there or not ({unsettled.attempts} attempts)"
        return StorageError(errno.ECONNABORTED, problem, path)

    def _refuses_versions(self, path: str) -> bool:
        """Whether of several who replace a version none may succeed; asked once."""
        place, bucket = self._at(path)
        if not bucket.replaces_versions:
            return True
        if place.bucket not in self._remembered.refuses:
            folder = place.key.rpartition("/")[0]
            self._remembered.refuses[place.bucket] = refuses_versions(bucket, folder, path)
        return self._remembered.refuses[place.bucket]

    def _require_conditions(self, path: str, *, others_may_take_it: bool = False) -> None:
        """Refuse a store on which two could create the same snapshot."""
        place, bucket = self._at(path)
        why = self._remembered.broken.get(place.bucket)
        if why is None:
            root = place_of(self.root)
            folder = root.key if root.bucket == place.bucket else place.key.rpartition("/")[0]
            why = broken_condition(bucket, folder, path)
            if why and self.guard is Guard.SINGLE_WRITER:
                warnings.warn(
                    f"{self.root}: {why}. It is written as if no other process did: where one "
                    "does, commits are lost",
                    UserWarning,
                    stacklevel=2,
                )
            self._remembered.broken[place.bucket] = why
        if not why or self.guard is Guard.SINGLE_WRITER:
            return
        if self.guard is Guard.CONDITIONS:
            raise no_conditions(self.root, why)
        if others_may_take_it and not is_lock_held():
            raise no_conditions(path, f"{why}, and this is not written under the catalog's lock")


def _is_there(bucket: Bucket, key: str) -> bool:
    try:
        obstore.head(bucket.patient, key)
    except FileNotFoundError:
        return False
    return True


def _is_mark(key: str, folder: str) -> bool:
    """Whether an object stands for its folder: our mark, or one of Hadoop's."""
    return key == folder or key.rpartition("/")[2] == FOLDER_MARK


def _age_seconds(status: Mapping[str, Any]) -> float:
    return time.time() - float(status["last_modified"].timestamp())
