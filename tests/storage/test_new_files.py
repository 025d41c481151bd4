from __future__ import annotations

from pathlib import Path

import pytest

from paimonlab.storage import LocalFileIO
from paimonlab.storage.new_files import create_file
from tests.fault_io import Fault, FaultFileIO


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"of another process")

    with pytest.raises(FileExistsError):
        create_file(LocalFileIO("none"), str(path), b"ours")

    assert path.read_bytes() == b"of another process"


@pytest.mark.parametrize("kind", ["error", "interrupt"])
@pytest.mark.parametrize("after", [False, True])
def test_of_a_file_that_cannot_be_written_nothing_is_left(
    tmp_path: Path, kind: str, after: bool
) -> None:
    fault = Fault(kind, 1, after=after, only="create")  # type: ignore[arg-type]

    with pytest.raises((OSError, KeyboardInterrupt)):
        create_file(FaultFileIO(LocalFileIO("none"), fault), str(tmp_path / "a"), b"ours")

    assert not list(tmp_path.iterdir())
