"""A process that may open only so many files, one more each time until an operation gets through.

The limit is that of the kernel (EMFILE), so that it holds for libraries, too.
"""

from __future__ import annotations

import itertools
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paimonlab.errors import PaimonError
from paimonlab.storage.local import LocalFileIO
from tests.crash.harness import (
    Prepared,
    catalog,
    check_done_again,
    check_old_or_new,
    check_told,
    copied,
)
from tests.outside.conftest import BY_NAME, EACH_KIND_OF_FILE, Prepare

_MOST = 64


@contextmanager
def _open_files(count: int) -> Iterator[None]:
    """Allow so many files besides those that are open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = (number for number in range(soft) if not _is_open(number))
    limit = next(itertools.islice(free, count, None))
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("name", EACH_KIND_OF_FILE)
def test_operation_without_files_to_open_is_old_or_new(
    name: str, prepare: Prepare, tmp_path: Path
) -> None:
    whole = prepare(BY_NAME[name])

    failures = 0
    for count in range(_MOST):
        if _gets_through(whole, tmp_path / str(count), count):
            break
        failures += 1

    assert 0 < failures < _MOST - 1


@pytest.mark.parametrize("count", [0, 1])
def test_files_written_before_the_limit_can_be_deleted(count: int, tmp_path: Path) -> None:
    store = LocalFileIO().within(str(tmp_path))
    paths = [f"{tmp_path}/a/b/{name}" for name in "xyz"]
    for path in paths:
        store.write(path, b"1")

    with _open_files(count):
        store.delete(paths[0])
        assert store.delete_files(paths[1:2]) == {}

    assert [Path(path).exists() for path in paths] == [False, False, True]


def _gets_through(whole: Prepared, warehouse: Path, count: int) -> bool:
    copied(whole.made, warehouse)
    error: PaimonError | None = None
    with _open_files(count):
        try:
            whole.operation.act(catalog(warehouse))
        except PaimonError as raised:
            error = raised
    where = f"{whole.operation.name} with {count} files to open: {error!r}"
    found = check_old_or_new(whole, warehouse, where)
    check_told(whole, warehouse, found, error, where)
    check_done_again(whole, warehouse, where)
    shutil.rmtree(warehouse)
    return error is None
