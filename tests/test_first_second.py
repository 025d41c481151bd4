"""What the first verbs of a process load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl

VERB = """
import os, sys, traceback

class Loud:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars"):
            traceback.print_stack()
            sys.stderr.flush()
            os._exit(3)

sys.meta_path.insert(0, Loud())
import paimonlab
catalog = paimonlab.connect(sys.argv[1])
table = catalog.table("db.t")
{}
"""
"""pyarrow would swallow an error: here an import ends the process."""


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
def test_the_first_verb_loads_neither_pandas_nor_polars(verb: str, warehouse: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", VERB.format(verb), warehouse],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


VIEWS = (
    *("timeline()", "log()", "lsm()", "files()", "manifests()", "schemas()", "heatmap()"),
    *("health()", "compaction()", "travel()", "diff(1, 2)", "fsck()", "simulator()"),
    "changes(1, 2)",
)


def test_views_load_neither_pandas_nor_polars(warehouse: str) -> None:
    draw = "import paimonlab.notebook\n" + "".join(
        f"table.show.{view}._repr_mimebundle_()\n" for view in VIEWS
    )
    done = subprocess.run(
        [sys.executable, "-c", VERB.format(draw), warehouse],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


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
def test_the_first_write_loads_neither_pandas_nor_polars(name: str, warehouse: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", VERB.format(WRITE), warehouse, name, repr(DEFINITIONS[name])],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


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
    layers = ("paimonlab.read.", "paimonlab.compact.", "paimonlab.write.key_places.")
    assert "paimonlab.write.writer" in loaded
    assert [name for name in loaded if name.startswith(layers)] == []
    assert catalog.table("db.t").scan().count() == 2
