"""What tasks of statements import on executors, in a process of their own without Spark."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

TASKS = """
import pickle, sys
import pyarrow as pa
import paimonlab
from paimonlab.arrow_values import arrow_array
from paimonlab.spark.reading.executor_places import FILE_COLUMN, POSITION_COLUMN
from paimonlab.spark.rows.executor_changes import ChangeTask
from paimonlab.spark.rows.executor_conditions import FileChangeTask, KeyedChangeTask, RowChange
from paimonlab.spark.rows.executor_merges import ClauseTrees, FileMergeTask, RowMerge
from paimonlab.spark.rows.expression_trees import Columns, Tree
from paimonlab.spark.writing.executor_write import KIND_COLUMN, WriteTask
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.write.merge_clauses import Action, Clause, ClauseKind

catalog = paimonlab.connect(sys.argv[1])
catalog.create_database("db")
for keys in ([], ["id"]):
    name = f"db.t{len(keys)}"
    options = {"bucket": "1"} if keys else {}
    made = catalog.create_table(name, {"id": "INT"}, primary_keys=keys, options=options)
    store = store_of(made)
    write = WriteTask(write_plan(definition_of(made), store.layout), store.file_io, None)
    columns = {"id": ([1, 2], pa.int32()), KIND_COLUMN: ([0, 0], pa.int8())}
    if not keys:
        columns |= {FILE_COLUMN: (["f", None], pa.string()), POSITION_COLUMN: ([3, 0], pa.int64())}
    arrays = {key: arrow_array(*given) for key, given in columns.items()}
    rows = pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))
    (answer,) = ChangeTask(write, is_keyed=bool(keys))(iter([rows]))
    outcome = pickle.loads(answer.column(0)[0].as_py())
    assert outcome.written.messages, pickle.loads(outcome.written.error)
    (answer,) = write(iter([rows.select(["id"])]))
    made.write(rows.select(["id"]))
    scan = made.scan()
    column, ten = Tree("AttributeReference", "int", "7"), Tree("Literal", "int", "10")
    product = Tree("Multiply", "int", "ANSI", (column, ten))
    condition = Tree("LessThan", "boolean", None, (product, Tree("Literal", "int", "15")))
    columns = Columns({"7": "id"}, made.schema.arrow_schema, name)
    change = RowChange(condition, None if keys else {"id": product}, columns)
    splits = [pickle.dumps(scan.plan().splits)]
    if keys:
        task = KeyedChangeTask(splits, scan.read_plan(), change, write)
    else:
        task = FileChangeTask(splits, scan.read_plan(), change, write, False)
    outcome = pickle.loads(*task([0]))
    assert sum(outcome.counts) == 1 and outcome.written.messages, outcome
    if keys:
        continue
    source = pa.RecordBatch.from_arrays([arrow_array([2, 5], pa.int32())], ["key"])
    schema = pa.schema([*scan.schema.arrow_schema, *source.schema])
    both = Columns({"7": "id", "8": "key"}, schema, name)
    clauses = [
        ClauseTrees(Clause(ClauseKind.MATCHED, Action.UPDATE), condition, {"id": product}),
        ClauseTrees(Clause(ClauseKind.MATCHED, Action.DELETE), None, {}),
        ClauseTrees(Clause(ClauseKind.NOT_MATCHED, Action.INSERT), None, {"id": "key"}),
    ]
    merge = RowMerge({"key": column}, None, clauses, both, frozenset(["id"]))
    task = FileMergeTask(splits, scan.read_plan(), merge, source, write, False, True)
    change = pickle.loads(*task([0])).change
    assert change.counts == (1, 0, 0, 1) and change.written.messages, change
print(*sorted({"pandas", "polars", "duckdb", "IPython"} & set(sys.modules)))
"""


def test_tasks_load_no_pandas(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TASKS), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == ""
