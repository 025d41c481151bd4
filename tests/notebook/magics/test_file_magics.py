"""The magics that show files: what they read from their line, and their help."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from paimonlab.notebook import views
from tests.analysis.buckets.test_heatmap import answers, golden_table
from tests.notebook.completion.test_completion import offered
from tests.notebook.magics.test_magics import refusal, run


@pytest.fixture
def golden_shell(shell: InteractiveShell) -> InteractiveShell:
    """Return a shell that is connected to the golden tables, without Spark."""
    run(shell, f"%paimon_connect {Path(answers('lsm').warehouse)} --engine native")
    return shell


def test_manifests_of_a_snapshot(golden_shell: InteractiveShell) -> None:
    tree = run(golden_shell, "%paimon_manifests db.lsm --snapshot 3").value

    assert isinstance(tree, views.ManifestTree)
    assert (tree.table, tree.snapshot_id) == ("db.lsm", 3)


def test_heatmap_by_a_measure(golden_shell: InteractiveShell) -> None:
    value = run(golden_shell, "%paimon_heatmap db.dyn_part --by files --top 1").value

    assert isinstance(value, views.Heatmap)
    assert (value.measure, len(value.rows)) == ("files", 1)


def test_files_and_one_file(golden_shell: InteractiveShell) -> None:
    table = golden_table("lsm")
    name = table.scan().plan().splits[0].files[0].file_name

    assert isinstance(run(golden_shell, "%paimon_files db.lsm").value, views.FileMap)
    assert run(golden_shell, f"%paimon_file db.lsm {name}").value.file == name


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("%paimon_heatmap db.lsm --top 0", "--top must be at least 1, got 0"),
        ("%paimon_heatmap db.lsm --by size", "invalid choice: 'size'"),
        ("%paimon_heatmap db.lsm --tpo 3", "Did you mean '--top'?"),
        ("%paimon_manifests db.lsm --snapshot 99", "no snapshot 99"),
        ("%paimon_file db.lsm nosuch", "db.lsm has no live data file 'nosuch'"),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    golden_shell: InteractiveShell, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    lines = refusal(golden_shell, capsys, line)

    assert says in lines[-1]
    assert lines[-1].startswith("UsageError: ")


@pytest.mark.parametrize("magic", ["manifests", "heatmap", "files", "file"])
def test_tables_are_completed(magic: str) -> None:
    word, found = offered(f"%paimon_{magic} air.f")

    assert word == "air.f"
    assert set(found) == {"air.flights"}
