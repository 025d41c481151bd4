"""Rows that the indexes of a data file rule out, before the file is opened."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paimonlab.datafile.evolution import Evolution
from paimonlab.errors import CorruptDataError
from paimonlab.formats.file_index import container
from paimonlab.formats.file_index.selection import mask_of, matching_rows
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO

_SUFFIX = ".index"


def indexed_rows(
    split: DataSplit, file: DataFileMeta, plan: ReadPlan, file_io: FileIO
) -> npt.NDArray[np.bool_] | None:
    """Find the rows of a file that may match a plan's predicate.

    Returns
    -------
    (row_count,) bool or None
        None: the indexes rule out no row.

    Raises
    ------
    CorruptDataError
        If an index is missing or damaged.
    """
    if plan.predicate is None or not plan.options.file_index:
        return None
    names = [name for name in file.extra_files if name.endswith(_SUFFIX)]
    data = file.embedded_file_index
    if data is None and not names:
        return None
    fields = plan.schema_of(file).fields
    evolution = Evolution.between(fields, plan.fields_to_read, table=plan.table_name)
    predicate = evolution.in_file(plan.predicate)
    path = "the manifest entry of " + file.file_name if data is not None else names[0]
    try:
        if data is None:
            path = _path(split, file, names[0], plan)
            data = file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES)
        types = {field.name: field.type for field in fields}
        rows = matching_rows(predicate, container.decode(data), types, file.row_count)
        return None if rows is None else mask_of(rows, file.row_count)
    except FileNotFoundError as error:
        problem = "the file index is missing; 'file-index.read.enabled' = 'false' reads without it"
        raise CorruptDataError(path, problem, plan.table_name) from error
    except container.DamagedIndexError as error:
        raise CorruptDataError(path, str(error), plan.table_name) from error


def _path(split: DataSplit, file: DataFileMeta, name: str, plan: ReadPlan) -> str:
    external = file.external_path
    if external is not None:
        external = f"{external.rpartition('/')[0]}/{name}"
    return plan.layout.data_file(split.bucket_path, name, external)
