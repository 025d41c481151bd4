"""What is measured agrees with the system tables; what is drawn says it."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab import notebook
from paimonlab.analysis.health import health_summary
from paimonlab.analysis.health.measures import Thresholds
from paimonlab.analysis.health.report import HealthFinding, TableHealth
from paimonlab.cli.main import main
from paimonlab.notebook.kernel import determinism
from paimonlab.notebook.views.health.drawing import draw
from tests.analysis.health.test_table_health import opened
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> paimonlab.Catalog:
    return notebook.demo(tmp_path_factory.mktemp("demo")).catalog


def test_the_demonstration_waits_for_a_compaction(demo: paimonlab.Catalog) -> None:
    drawn = opened(demo, "demo.orders").show.health()

    assert [one.code for one in drawn.value.tables[0].findings] == ["level-0-backlog"]
    assert drawn.to_arrow()["where"].to_pylist()[0].startswith("dt=2026-01-0")
    assert "CALL sys.compact(table => 'demo.orders'" in repr(drawn)


def test_orphans_are_looked_for_only_if_asked(demo: paimonlab.Catalog) -> None:
    table = opened(demo, "demo.events")
    stray = Path(table.path, "bucket-0", "data-stray-0.parquet")
    stray.write_bytes(b"12345")
    os.utime(stray, (time.time() - 3 * 86_400,) * 2)

    without, with_ = table.show.health(), table.show.health(orphans=True)
    stray.unlink()

    assert "not looked for" in repr(without)
    assert [one.code for one in with_.value.tables[0].findings] == ["orphan-files"]
    assert with_.value.tables[0].findings[0].measured == 5


def test_a_broken_table_does_not_hide_the_others(demo: paimonlab.Catalog, tmp_path: Path) -> None:
    shutil.copytree(demo.path, tmp_path / "w")
    for manifest in (tmp_path / "w/demo.db/events/manifest").glob("manifest-list*"):
        manifest.write_bytes(b"no avro")

    drawn = notebook.health(paimonlab.connect(tmp_path / "w"))

    first, second = drawn.value.tables
    assert (first.table, first.worst) == ("demo.events", "error")
    assert first.problem
    assert second.file_count > 0


def test_thresholds_are_keywords(demo: paimonlab.Catalog) -> None:
    drawn = notebook.health(demo, snapshots=10, level_0_ratio=9.0)

    assert {one.code for table in drawn.value.tables for one in table.findings} >= {
        "many-snapshots"
    }
    with pytest.raises(ValueError, match="no threshold 'snapshotz'"):
        notebook.health(demo, snapshotz=10)


def test_html_keeps_to_what_sanitisers_leave_and_escapes_names() -> None:
    finding = HealthFinding(
        code="small-files",
        severity="warning",
        message=EVIL,
        measured=1.5,
        threshold=1.0,
        unit="files",
        where=EVIL,
        sql=EVIL,
    )
    health = TableHealth(
        table=EVIL * 100,
        snapshot_id=1,
        file_count=1,
        total_bytes=1,
        record_count=1,
        snapshot_count=1,
        manifest_count=1,
        level_0_files=0,
        findings=(finding,),
    )

    drawn = draw(health_summary.health(EVIL, [health], orphans=False))

    page = Page(drawn.to_html())
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "1.5 files" in drawn.to_html()
    assert "1.5 files" in repr(drawn)


def test_sizes_and_ages_are_hidden_where_outputs_are_compared(
    demo: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    drawn = notebook.health(demo, skew_bytes=1, skew_ratio=0.5)

    assert {table.total_bytes for table in drawn.value.tables} == {None}
    skewed = [
        one for table in drawn.value.tables for one in table.findings if one.code == "bucket-skew"
    ]
    assert {one.measured for one in skewed} == {None}
    assert "bytes" not in drawn.others[0].columns[-1].name


def test_the_magic_takes_a_table_a_database_or_nothing(
    shell: InteractiveShell, demo: paimonlab.Catalog
) -> None:
    notebook.demo(demo.path)

    for line, count in (("demo.orders", 1), ("demo", 2), ("", 2)):
        assert len(shell.run_line_magic("paimon_health", line).value.tables) == count


def test_the_command_line_fails_when_something_is_found(demo: paimonlab.Catalog) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["health", demo.path, *arguments])
        return done.exit_code, done.stdout

    code, text = run("demo.orders")
    assert code == 1
    assert "warning level-0-backlog" in text
    assert run("demo.orders", "--fail-on", "error")[0] == 0
    assert run("demo.events")[0] == 0
    code, text = run("--json", "-t", "level_0_ratio=3")
    assert code == 0
    assert [one["table"] for one in json.loads(text)] == ["demo.events", "demo.orders"]
    assert run("demo.nothing")[0] == 2
    assert run("-t", "snapshotz=1")[0] == 2


def test_every_threshold_is_named_in_the_documentation() -> None:
    text = (Path(__file__).parents[3] / "docs" / "views.md").read_text()
    for one in dataclasses.fields(Thresholds):
        assert f"`{one.name}`" in text
