"""Files of ``bucket-postpone``: their rows get a bucket when they are compacted.

They hold rows as they came, neither sorted nor merged, without sequence numbers. The names of
the files say who wrote them: a compaction takes the files of one writer in their order.

Source: apache/paimon@1.3.1 ``org.apache.paimon.postpone.PostponeBucketFileStoreWrite``.
"""

from __future__ import annotations

import dataclasses
import random
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.writer import FileNames, FileTarget
from paimonlab.errors import UnsupportedError
from paimonlab.formats.data_output import DataFormat
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.statistics.mode import StatsMode
from paimonlab.write.file_targets import data_target
from paimonlab.write.gathering import taken
from paimonlab.write.runs import physical
from paimonlab.write.write_plan import WritePlan

_NO_NUMBER = -1
_MOST_WRITERS = 2**31 - 1
_NUMBERED = re.compile(r"(.*)-(\d+)\.[^-]*")


def postponed_target(plan: WritePlan, folder: str, user: str) -> FileTarget:
    """Return how files of postponed rows are written: Avro without statistics.

    Parameters
    ----------
    plan
        How to write to the table.
    folder
        ``bucket-postpone`` of the partition, below the folder of the table.
    user
        Who commits.
    """
    target = data_target(plan, folder)
    writer = random.randrange(_MOST_WRITERS)  # noqa: S311 - a name, not a secret
    none = StatsMode.parse("none")
    return replace(
        target,
        format=_avro_if_possible(plan, target.format),
        stats=dataclasses.replace(target.stats, modes=(none,) * len(target.stats.modes)),
        names=FileNames(f"{plan.options.file_prefix}-u-{user}-s-{writer}-w-"),
    )


def _avro_if_possible(plan: WritePlan, otherwise: DataFormat) -> DataFormat:
    choice = replace(plan.formats.choice, name="avro", name_by_level={})
    avro = dataclasses.replace(plan.formats, choice=choice).at_level(0)
    try:
        avro.check(plan.schema.fields)
    except UnsupportedError:
        return otherwise
    return avro


def waiting_rows(
    rows: pa.Table, positions: npt.NDArray[np.int64] | None, plan: WritePlan
) -> pa.Table:
    """Make the physical rows of a file of postponed rows.

    Parameters
    ----------
    rows
        n rows: the table's columns and ``_VALUE_KIND``, in order of arrival.
    positions
        (m,) ascending: the rows of the partition; None: all of them.
    plan
        How to write to the table.
    """
    chosen = rows if positions is None else taken(rows, positions)
    numbers = arrow_array(np.full(chosen.num_rows, _NO_NUMBER, np.int64))
    schema = plan.schema
    return physical(chosen, numbers, schema.trimmed_primary_keys, schema.field_names)


def order_of_writing(file: DataFileMeta) -> tuple[int, str, int]:
    """Return what postponed files are ordered by: when they were written.

    Those of one writer and millisecond are ordered by the numbers in their names.
    """
    match = _NUMBERED.fullmatch(file.file_name)
    name, number = (match[1], int(match[2])) if match else (file.file_name, 0)
    return file.creation_time_millis or 0, name, number
