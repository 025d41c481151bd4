from __future__ import annotations

import errno
from pathlib import Path

import pytest

from paimonlab.errors import PaimonError, StorageError
from paimonlab.storage import LocalFileIO
from paimonlab.storage.failures import failures_named


def test_what_the_system_refuses_names_the_file_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StorageError) as raised:
        LocalFileIO().read(str(tmp_path / "file" / "below"))

    assert raised.value.errno == errno.ENOTDIR
    assert str(tmp_path / "file") in str(raised.value)


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "make room"), (errno.EMFILE, "ulimit -n"), (errno.EROFS, "mount")],
)
def test_failures_say_what_to_do(number: int, advice: str) -> None:
    with pytest.raises(OSError, match=advice) as raised, failures_named("/w/file"):
        raise OSError(number, "it failed")

    assert isinstance(raised.value, PaimonError)
    assert raised.value.filename == "/w/file"


def test_files_that_are_missing_or_there_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "there").touch()

    with pytest.raises(FileNotFoundError) as missing:
        LocalFileIO().read(str(tmp_path / "missing"))
    with pytest.raises(FileExistsError) as there:
        LocalFileIO().write(str(tmp_path / "there"), b"1")

    assert not isinstance(missing.value, PaimonError)
    assert not isinstance(there.value, PaimonError)
