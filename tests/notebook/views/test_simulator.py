from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

from paimonlab import notebook
from paimonlab.analysis.simulation.histories import Pattern, invented
from paimonlab.analysis.simulation.simulator import GRID
from paimonlab.compact.simulator import SimulatorOptions, replay
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel import determinism
from paimonlab.notebook.kernel.selection import selections
from paimonlab.notebook.views.simulator.drawing import settings
from paimonlab.spec.options.table_options import Options
from paimonlab.table.table import Table
from tests.analysis.levels.test_levels import catalog, golden, system
from tests.analysis.simulation.test_histories import HISTORY
from tests.golden.expected import Case
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


def drawn(table: Table | None = None, **options: Any) -> Drawn[views.Simulator]:
    view = commands.simulate(table, **options)
    assert isinstance(view, Drawn)
    return view


@pytest.mark.parametrize("pattern", ["uniform", "rising", "hot"])
def test_each_setting_is_what_the_replay_says(pattern: Pattern) -> None:
    value = drawn(**HISTORY, pattern=pattern).value

    flushes = invented(**HISTORY, pattern=pattern, every_seconds=60)
    found = list(settings(value))
    assert len(found) == len({chosen for chosen, _ in found}) == 6 * 4 * 2
    for chosen, simulation in found[::5]:
        options = {key: str(one) for key, one in zip(GRID, chosen, strict=True)}
        wanted = replay(flushes, SimulatorOptions.of(Options(options)))
        assert simulation.write_amplification == round(wanted.write_amplification, 3)
        assert simulation.read_amplification == round(wanted.read_amplification, 3)
        assert simulation.space_amplification == round(wanted.space_amplification, 3)
        assert simulation.compaction_count == len(wanted.compactions)
        assert simulation.write_curve[-1] == simulation.write_amplification
        assert simulation.read_curve[-1] == len(wanted.moments[-1].runs)
        assert simulation.space_curve[-1] == simulation.space_amplification


def test_a_greater_trigger_writes_less_and_reads_more() -> None:
    value = drawn(**HISTORY).value

    of_trigger = {chosen[0]: one for chosen, one in settings(value) if chosen[1:] == (200, 1)}
    few, many = of_trigger[2], of_trigger[12]
    assert few.write_amplification > many.write_amplification
    assert few.read_amplification < many.read_amplification


def test_the_history_of_java_is_replayed_flush_by_flush() -> None:
    table = golden(Case("java-1.3.1", "lsm"))
    snapshots = {one.id: one for one in table.snapshots.list()}
    appended = [one for one in snapshots.values() if one.commit_kind.value == "APPEND"]

    value = drawn(table).value

    assert value.flush_count == len(appended) == 8
    assert "the newest 8 of 8 flushes of bucket 0" in value.history
    by_option = {slider.option: slider.values[slider.own] for slider in value.sliders}
    assert by_option["num-sorted-run.compaction-trigger"] == 3
    compacted = [one for one in snapshots.values() if one.commit_kind.value == "COMPACT"]
    # Java compacted at three runs: so does the replay.
    assert value.own.compaction_count == len(compacted)
    assert value.own.most_runs == 3
    runs = len(system(table, "files"))
    assert value.own.read_curve[-1] == runs


def test_keys_that_are_no_numbers_are_ranked(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t", {"k": "STRING NOT NULL"}, primary_keys=["k"], options={"bucket": "1"}
    )
    for keys in (["a", "b"], ["c"], ["a", "z"]):
        table.write(pa.table({"k": keys}))

    value = drawn(table).value

    assert value.flush_count == 3


def test_the_kernel_answers_for_any_options() -> None:
    view = drawn(**HISTORY)
    asked = {"num-sorted-run.compaction-trigger": "7", "num-levels": "4"}

    reply = selections().ask(view.id, {"options": asked})

    flushes = invented(**HISTORY, pattern="uniform", every_seconds=60)
    wanted = replay(flushes, SimulatorOptions.of(Options(asked)))
    assert reply["writeAmplification"] == round(wanted.write_amplification, 3)
    assert reply["compactionCount"] == len(wanted.compactions)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num-sorted-run.compaction-triger": "7"}, "Did you mean"),
        ({"snapshot.time-retained": "1 h"}, "has no influence on picking"),
        ({"num-sorted-run.compaction-trigger": "many"}, "num-sorted-run.compaction-trigger"),
        ({"num-sorted-run.compaction-trigger": "0"}, "at least 1"),
        ({"num-levels": "1"}, "at least 1, num-levels 2"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options: dict[str, str], words: str) -> None:
    view = drawn(**HISTORY)

    with pytest.raises(PaimonError, match=words):
        selections().ask(view.id, {"options": options})


def test_an_append_table_has_no_levels() -> None:
    with pytest.raises(UnsupportedError, match="has no levels"):
        commands.simulate(golden(Case("java-1.3.1", "append_unaware")))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"flushes": 0}, "flushes must be from 1 to 120, got 0"),
        ({"flushes": 121}, "flushes must be from 1 to 120, got 121"),
        ({"rows": 10, "keys": 5}, r"keys must be at least rows \(10\), got 5"),
        ({"pattern": "odd"}, "pattern must be one of uniform, rising, hot, got 'odd'"),
        ({"flush_bytes": 0}, "flush_bytes must be at least 1"),
    ],
)
def test_a_history_that_cannot_be_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        commands.simulate(**arguments)


def test_options_come_on_top_of_those_of_the_table() -> None:
    table = golden(Case("java-1.3.1", "lsm"))

    value = drawn(table, options={"num-sorted-run.compaction-trigger": "7"}).value

    (slider, *_) = value.sliders
    assert slider.values[slider.own] == 7
    assert 7 in slider.values


def test_repeatable_does_not_depend_on_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    value = drawn(golden(Case("java-1.3.1", "lsm"))).value

    assert value.flushed_bytes == 8 * 300 * 100


def test_a_view_is_small_and_what_sanitisers_leave_alone(tmp_path: Path) -> None:
    view = drawn(flushes=120)

    page = Page(view.to_html())
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "write amplification" in view.picture
    assert "own options" in view.to_text()
    assert len(json.dumps(view.data())) < 150_000
    assert view.save(tmp_path / "view.html").read_text().count("</script>") == 2
    assert view.to_arrow().num_rows == 6 * 4 * 2


def test_the_magics_take_a_table_a_bucket_and_a_partition(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    notebook.demo(tmp_path)

    lsm = shell.run_line_magic("paimon_lsm", "demo.orders -b 0 -n 5 --buckets 2")
    compaction = shell.run_line_magic("paimon_compaction", "demo.orders -n 5")
    simulated = shell.run_line_magic("paimon_simulator", "demo.orders -n 9")
    invented_one = shell.run_line_magic("paimon_simulator", "--pattern rising -n 9")

    assert {bucket.bucket for bucket in lsm.value.buckets} == {0}
    assert lsm.value.snapshot_count <= 5
    assert compaction.value.table == simulated.value.table == "demo.orders"
    assert simulated.value.flush_count <= 9
    assert "rising" in invented_one.value.history


def test_what_cannot_be_is_told_on_one_line(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook.demo(tmp_path)
    for line in (
        "%paimon_lsm demo.orders -p oops",
        "%paimon_lsm demo.orders -n 0",
        "%paimon_compaction demo.orders 1",
        "%paimon_compaction demo.orders 999",
        "%paimon_simulator demo.events",
        "%paimon_simulator -n 0",
        "%paimon_simulator demo.orders -p nokey=1",
    ):
        capsys.readouterr()

        shell.run_cell(line)

        told, about = capsys.readouterr().err.strip().splitlines()
        assert told.startswith("UsageError: "), line
        assert about.startswith("help: %paimon_help ")


def test_hostile_partitions_are_text(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t",
        {"p": "STRING NOT NULL", "k": "INT NOT NULL"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1"},
    )
    table.write(pa.table({"p": [EVIL], "k": pa.array([1], pa.int32())}))

    view = drawn(table)

    assert "script" not in Page(view.to_html()).tags
    assert "\u202e" not in view.to_html() + view.to_text()
