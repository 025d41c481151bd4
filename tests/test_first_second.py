"""What the first verbs of a process load."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl

OPENED = """
import json, os, sys, traceback

class Loud:
    names = {"pandas", "polars", "numpy.ma"}

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            sys.stderr.write(f"{name} is loaded\\n")
            traceback.print_stack()
            sys.stderr.flush()
            os._exit(3)

sys.meta_path.insert(0, Loud())
import paimonlab
catalog = paimonlab.connect(sys.argv[1])
table = catalog.table("db.t")
for line in sys.stdin:
    verb, sys.argv[2:] = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(2, 1)
        exec(verb)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Opens a table, and is forked for each verb. pyarrow would swallow an error: here an import ends
the process."""
Run = Callable[..., None]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a primary-key table in which keys have to be merged."""
    folder = str(tmp_path_factory.mktemp("warehouse"))
    catalog = pl.connect(folder)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    for _ in range(2):
        table.write(pa.table({"id": range(9), "v": [str(number) for number in range(9)]}))
    return folder


@pytest.fixture(scope="module")
def run(warehouse: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Return what runs a verb in a process that has done nothing but open the table."""
    log = tmp_path_factory.mktemp("opened") / "log"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-c", OPENED, warehouse],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        asks, answers = process.stdin, process.stdout

        def run(verb: str, *arguments: str) -> None:
            before = log.stat().st_size
            asks.write(json.dumps([verb, arguments]) + "\n")
            asks.flush()
            code = answers.readline().strip()
            assert code == "0", log.read_text()[before:]

        yield run
        asks.close()


@pytest.mark.parametrize(
    "verb",
    [
        "table.scan().to_arrow()",
        "table.scan(['v'], 'id > 3 AND v IS NOT NULL', limit=2).to_arrow()",
        "table.scan(where=\"v IN ('1', '2')\").to_arrow()",
        "table.scan(snapshot=1).to_arrow()",
        "table.scan().count()",
        "catalog.system_table('db.t$files').scan().to_arrow()",
        "catalog.system_table('db.t$snapshots').scan().to_arrow()",
        "catalog.system_table('db.t$manifests').scan().to_arrow()",
        "catalog.system_table('db.t$partitions').scan().to_arrow()",
        "catalog.system_table('db.t$buckets').scan().to_arrow()",
        "catalog.system_table('db.t$options').scan().to_arrow()",
        "catalog.system_table('db.t$schemas').scan().to_arrow()",
        "catalog.system_table('db.t$tags').scan().to_arrow()",
        "catalog.system_table('db.t$audit_log').scan().to_arrow()",
        "catalog.system_table('db.t$ro').scan().to_arrow()",
        "catalog.system_table('sys.partitions').scan().to_arrow()",
        "table.changes(1, 2).to_arrow()",
        "table.lookup({'id': [3, 4]})",
        "table.lookup({'id': range(80)})",
        "table.fsck()",
        "table.compact(full=True, dry_run=True)",
        "table.maintenance.remove_orphan_files(dry_run=True)",
        "table.maintenance.expire_snapshots(retain_max=1, retain_min=1, dry_run=True)",
    ],
)
def test_the_first_verb_loads_neither_pandas_nor_polars(verb: str, run: Run) -> None:
    run(verb)


@pytest.mark.parametrize("module", ["pandas", "polars", "numpy.ma"])
def test_what_loads_one_of_them_is_found_out(module: str, run: Run) -> None:
    with pytest.raises(AssertionError, match=f"{module} is loaded"):
        run(f"import {module}")


VIEWS = (
    *("timeline()", "log()", "lsm()", "files()", "manifests()", "schemas()", "heatmap()"),
    *("health()", "compaction()", "travel()", "diff(1, 2)", "fsck()", "simulator()"),
    "changes(1, 2)",
)


def test_views_load_neither_pandas_nor_polars(run: Run) -> None:
    run(
        "Loud.names.remove('numpy.ma')\n"  # numpy.median needs it
        "assert 'show' in dir(table) and 'paimonlab.notebook' not in sys.modules\n"
        + "".join(f"table.show.{view}._repr_mimebundle_()\n" for view in VIEWS)
    )


QUERIES = (
    "SELECT count(*) FROM db.t",
    "SELECT * FROM db.t WHERE id = 5",
    "SELECT v, count(*), sum(id) FROM db.t WHERE v > '1' GROUP BY v ORDER BY v",
    "UPDATE db.t SET v = 'x' WHERE id = -1",
    "SHOW TABLES IN db",
)


def test_cells_without_spark_load_neither_pandas_nor_polars(warehouse: str, run: Run) -> None:
    run(
        f"from paimonlab.notebook import connect, sql\nconnect({warehouse!r}, engine='native')\n"
        + "".join(f"sql({query!r})._repr_mimebundle_()\n" for query in QUERIES)
    )


def test_a_query_without_spark_loads_nothing_that_writes(warehouse: str, run: Run) -> None:
    query = "SELECT v, count(*) FROM db.t WHERE id > 3 GROUP BY v"
    run(
        f"from paimonlab.notebook import connect, sql\nconnect({warehouse!r}, engine='native')\n"
        f"assert sql({query!r}).to_arrow().num_rows == 5\n"
        "writing = ('sql_engine.changes', 'table.changing.statement', 'commit.committer', "
        "'maintenance.orphans', 'table.format_tables.format_table', 'table.system.audit_log')\n"
        "found = [name for name in writing if f'paimonlab.{name}' in sys.modules]\n"
        "assert not found, found"
    )


def test_a_profile_loads_polars_but_not_pandas(warehouse: str) -> None:
    code = (
        "import sys, paimonlab, paimonlab.notebook\n"
        f"table = paimonlab.connect({warehouse!r}).table('db.t')\n"
        "table.show.profile()._repr_mimebundle_()\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "False"


WRITE = """
import numpy as np
import pyarrow as pa
from paimonlab.arrow_values import arrow_array

columns = {"id": "BIGINT NOT NULL", "part": "INT NOT NULL", "s": "STRING NOT NULL", "v": "DOUBLE"}
table = catalog.create_table("db." + sys.argv[2], columns, **eval(sys.argv[3]))
ids = np.arange(3000) % 2999
texts = arrow_array([str(number) for number in ids.tolist()], pa.string())
arrays = [arrow_array(ids), arrow_array((ids % 3).astype("int32")), texts, arrow_array(ids * 1.5)]
for _ in range(2):
    table.write(pa.Table.from_arrays(arrays, names=list(columns)))
table.write([{"id": 1, "part": 2, "s": "x", "v": 1.5}, {"id": 2, "part": 1, "s": "y"}])
"""
_SUM = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
_LOOKUP = {"changelog-producer": "lookup"}
DEFINITIONS: dict[str, dict[str, object]] = {
    "append": {},
    "partitions": {"partition_keys": ["part"]},
    "append_buckets": {"options": {"bucket": "2", "bucket-key": "s"}},
    "one_bucket": {"primary_keys": ["id"], "options": {"bucket": "1"}},
    "buckets_by_text": {"primary_keys": ["id", "s"], "options": {"bucket": "4"}},
    "dynamic": {"primary_keys": ["id"]},
    "across_partitions": {"primary_keys": ["id"], "partition_keys": ["part"]},
    "postponed": {"primary_keys": ["id"], "options": {"bucket": "-2"}},
    "sums": {"primary_keys": ["id"], "options": {"bucket": "1", **_SUM}},
    "lookups": {"primary_keys": ["id"], "options": {"bucket": "1", **_LOOKUP}},
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_first_write_loads_neither_pandas_nor_polars(name: str, run: Run) -> None:
    run(WRITE, name, repr(DEFINITIONS[name]))


@pytest.mark.parametrize(
    "module", ["pyarrow.orc", "fastavro.repository.base", "importlib.resources"]
)
def test_opening_a_catalog_does_not_load(module: str) -> None:
    code = "import sys, paimonlab; paimonlab.connect('no/such/folder'); "
    done = subprocess.run(
        [sys.executable, "-c", f"{code}print({module!r} in sys.modules)"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "False"


SCAN = """
import sys, paimonlab
paimonlab.connect(sys.argv[1]).table("db.t").scan().to_arrow()
"""


def test_the_first_scan_loads_nothing_that_it_does_not_take(warehouse: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{SCAN}print(*sys.modules)", warehouse],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(done.stdout.split())
    assert "paimonlab.merge.pieces" in loaded
    assert loaded & NOT_FOR_SCANS == set()


NOT_FOR_SCANS = {
    *("calendar", "html", "importlib.metadata", "locale", "pyroaring"),
    *("paimonlab.datafile.casts", "paimonlab.formats.deletion_vectors"),
    *("paimonlab.formats.file_index.selection", "paimonlab.maintenance.auto_tags"),
    *("paimonlab.read.changed_rows", "paimonlab.read.difference", "paimonlab.read.file_indexes"),
    *("paimonlab.scan.differences", "paimonlab.spec.schema.schema_changes"),
    *("paimonlab.spec.variant.shredded", "paimonlab.table.reading.changes"),
    *("paimonlab.table.reading.explain", "paimonlab.table.reading.incremental"),
}


def test_few_classes_of_the_first_scan_are_dataclasses(warehouse: str) -> None:
    """Each takes half a millisecond to be made, a struct of msgspec next to nothing."""
    count = """
from dataclasses import is_dataclass
for name, module in list(sys.modules.items()):
    for found in vars(module).values() if name.startswith("paimonlab.") else ():
        if isinstance(found, type) and is_dataclass(found) and found.__module__ == name:
            print(name, found.__name__, sep=":")
"""
    done = subprocess.run(
        [sys.executable, "-c", SCAN + count, warehouse],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    found = done.stdout.split()
    assert "paimonlab.table.reading.scan:Scan" in found
    assert len(found) <= 10, f"make structs of those that are not public: {found}"


def test_help_of_the_command_line_loads_nothing_that_opens_or_prints() -> None:
    code = "import sys; from paimonlab.cli.main import main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    layers = (
        *("paimonlab.analysis.health.", "paimonlab.maintenance.fsck.", "paimonlab.read."),
        *("paimonlab.spark.sessions.", "paimonlab.table.following.", "importlib.metadata"),
        *("paimonlab.catalog.loading", "paimonlab.table.system.system_table"),
    )
    loaded = done.stdout.split()
    assert "paimonlab.cli.health" in loaded
    assert [name for name in loaded if name.startswith(layers)] == []
    assert {"pyarrow", "numpy", "msgspec", "duckdb"} & {*loaded} == set()


@pytest.mark.parametrize(
    ("keys", "options"),
    [([], {}), (["id"], {"bucket": "2", "write-only": "true"})],
    ids=["append", "write-only"],
)
def test_the_first_write_loads_nothing_that_reads_rows_or_compacts(
    keys: list[str], options: dict[str, str], tmp_path: Path
) -> None:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "BIGINT NOT NULL"}, primary_keys=keys, options=options)
    code = (
        "import sys, pyarrow, paimonlab\n"
        f"table = paimonlab.connect({str(tmp_path)!r}).table('db.t')\n"
        "table.write(pyarrow.table({'id': [1, 2]}))\n"
        "print(*(name for name in sys.modules if name.startswith('paimonlab.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = done.stdout.split()
    layers = (
        *("paimonlab.read.", "paimonlab.compact.", "paimonlab.write.key_places."),
        *("paimonlab.formats.orc.writer", "paimonlab.formats.avro.writer", "pyarrow.orc"),
    )
    assert "paimonlab.write.writer" in loaded
    assert [name for name in loaded if name.startswith(layers)] == []
    assert catalog.table("db.t").scan().count() == 2


EXTENSION = """
import sys
from paimonlab.notebook.kernel import loading_ahead
loading_ahead.load_for_cells = lambda: None
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "paimonlab")
loaded = set(sys.modules)
print([name for name in sys.argv[1:] if name in loaded])
shell.run_line_magic("paimon_help", "")._repr_mimebundle_()
ours = {name for name in set(sys.modules) - loaded if name.startswith("paimonlab.")}
print(sorted({".".join(name.split(".")[1:3]) for name in ours}))
"""


def test_the_extension_and_its_help_load_little() -> None:
    unwanted = [
        *("pandas", "polars", "duckdb", "sqlglot", "pyspark", "ipywidgets", "matplotlib"),
        *("paimonlab.sql_engine.engine", "paimonlab.notebook.running.execution"),
        *("paimonlab.notebook.results.result", "paimonlab.notebook.connections.demo_tables"),
        *("paimonlab.scan.entries", "paimonlab.write.writer", "paimonlab.notebook.display.html"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", EXTENSION, *unwanted],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    loaded, for_help = done.stdout.splitlines()
    assert loaded == "[]"
    assert (
        for_help == "['notebook.display', 'notebook.kernel', 'notebook.views', 'spec.byte_counts']"
    )


def test_what_cells_of_all_engines_take_is_loaded_behind_the_extension() -> None:
    code = """
import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_line_magic("load_ext", "paimonlab")
from paimonlab.notebook.kernel.loading_ahead import wait
wait()
print([name for name in sys.argv[1:] if name in sys.modules])
"""
    taken = ["paimonlab.notebook.running.execution", "paimonlab.notebook.magics.cell_running"]
    unwanted = ["pandas", "polars", "duckdb", "sqlglot", "pyspark", "ipywidgets", "matplotlib"]
    done = subprocess.run(
        [sys.executable, "-c", code, *taken, *unwanted],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == str(taken)


AHEAD = """
import gc, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "paimonlab")
full = []
gc.collect()
gc.callbacks.append(lambda phase, info: info["generation"] == 2 and full.append(phase))
from paimonlab.notebook.kernel import loading_ahead
loading_ahead._READY_SECONDS = 60
shell.run_line_magic("paimon_connect", f"{sys.argv[1]} --engine native")
ready = {"duckdb", "sqlglot", "paimonlab.notebook.running.native_sql"}
assert ready <= set(sys.modules), "connected, but not ready"
loading_ahead.wait()
assert gc.isenabled() and gc.get_freeze_count() == 0
loaded = set(sys.modules)
assert "paimonlab.sql_engine.changes" not in loaded
query = "SELECT v, count(*) FROM db.t WHERE id > 3 GROUP BY v"
shell.display_formatter.format(shell.run_cell_magic("paimon", "", query))
print(len(full))
from dataclasses import is_dataclass
print(*(
    f"{name}:{found.__name__}"
    for name, module in list(sys.modules.items()) if name.startswith("paimonlab.")
    for found in vars(module).values()
    if isinstance(found, type) and is_dataclass(found) and found.__module__ == name
))
print(sorted({name.partition(".")[0] for name in set(sys.modules) - loaded}))
"""


def test_the_first_query_of_a_notebook_imports_nothing_itself(warehouse: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AHEAD, warehouse],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    full, dataclasses, imported = done.stdout.splitlines()[-3:]
    assert (full, imported) == ("0", "[]"), "looks through all objects, imports"
    assert len(dataclasses.split()) <= 24, f"make structs of those not public: {dataclasses}"


FORKED = """
import os, signal, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(history_length=0)
shell.run_line_magic("load_ext", "paimonlab")
child = os.fork()
if child == 0:
    signal.alarm(60)
    shell.run_line_magic("paimon_connect", f"{sys.argv[1]} --engine native")
    query = "SELECT v, count(*) FROM db.t WHERE id > 3 GROUP BY v"
    os._exit(0 if shell.run_cell_magic("paimon", "", query).to_arrow().num_columns == 2 else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_that_is_forked_while_modules_are_loaded_answers(warehouse: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, warehouse],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "0", done.stderr
