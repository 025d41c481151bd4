"""What an ORC writer leaves when it is not finished."""

from __future__ import annotations

import gc
from pathlib import Path

import pyarrow as pa
import pytest

from paimonlab.formats.orc.options import OrcOptions
from paimonlab.formats.orc.writer import OrcWriter
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.fault_io import Fault, FaultFileIO
from tests.small_tables import UNSYNCED


@pytest.mark.parametrize("is_aborted", [False, True])
@pytest.mark.parametrize("at", [2, 3, 4])
def test_a_writer_that_is_lost_writes_no_more(tmp_path: Path, at: int, *, is_aborted: bool) -> None:
    store = FaultFileIO(UNSYNCED, Fault("error", at, times=100))
    fields = [DataField(0, "k", parse_type("INT"))]
    writer = OrcWriter(store, str(tmp_path / "f.orc"), fields, OrcOptions())
    rows = pa.table({"k": pa.array(range(10), pa.int32())})
    with pytest.raises(OSError, match="injected"):  # noqa: PT012 - one of them fails
        writer.write(rows)
        writer.close()
    calls = len(store.calls)
    if is_aborted:
        with pytest.raises(OSError, match="injected"):
            writer.abort()

    del writer
    gc.collect()

    assert store.calls[calls:] == [("output.close", str(tmp_path / "f.orc"))] * is_aborted
