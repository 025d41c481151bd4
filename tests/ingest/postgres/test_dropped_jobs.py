"""Jobs over a real server that are dropped: it keeps no log for them any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import paimonlab as pm
from paimonlab.cli.main import main
from paimonlab.errors import SourceError
from paimonlab.ingest import drop_noted
from paimonlab.ingest.job import Job
from tests.ingest.postgres.reading import Reader
from tests.ingest.postgres.server import PASSWORD_ENV, Database


def _job(folder: Path, database: Database, **server: str) -> Job:
    source = database.source(**server).tables("t")
    job: Job = pm.connect(folder).ingest(source, into="ods", name="job", interval=0.2)
    return job


@pytest.fixture
def _table(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")


def _there(database: Database) -> tuple[int, int]:
    slots = database.run(f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{database.name}'")
    return len(slots), len(database.run("SELECT 1 FROM pg_publication"))


@pytest.mark.usefixtures("_table")
def test_slot_and_publication_are_dropped_by_what_the_notes_say(
    tmp_path: Path, database: Database
) -> None:
    _job(tmp_path, database).run()
    assert _there(database) == (1, 1)
    shell = CliRunner()

    asked = shell.invoke(main, ["ingest", str(tmp_path), "drop", "job"])
    planned = shell.invoke(main, ["ingest", str(tmp_path), "drop", "job", "--dry-run"])
    assert "nothing was changed: give --yes" in asked.output
    assert f"replication slot {database.name} at postgres 127.0.0.1:" in planned.output
    assert _there(database) == (1, 1)
    done = shell.invoke(main, ["ingest", str(tmp_path), "drop", "job", "--yes"])

    assert done.exit_code == 0, done.output
    assert _there(database) == (0, 0)
    assert pm.connect(tmp_path).table("ods.t").scan().count() == 1
    notes = [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(database.server.folder.name in text for text in notes)


@pytest.mark.usefixtures("_table")
def test_what_stays_is_named_if_the_server_is_gone_or_the_password(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _job(tmp_path, database).run()
    monkeypatch.delenv(PASSWORD_ENV)

    done = CliRunner().invoke(main, ["ingest", str(tmp_path), "drop", "job", "--yes"])

    assert done.exit_code == 1
    assert f"replication slot {database.name} stays at postgres 127.0.0.1" in done.output
    assert f"SELECT pg_drop_replication_slot('{database.name}')" in done.output
    assert f'DROP PUBLICATION "{database.name}"' in done.output
    assert PASSWORD_ENV in done.output
    assert _there(database) == (1, 1)
    database.run(f"SELECT pg_drop_replication_slot('{database.name}')")  # as it says
    database.run(f'DROP PUBLICATION "{database.name}"')
    gone = CliRunner().invoke(main, ["ingest", str(tmp_path), "drop", "job", "--yes"])
    assert "there is no ingest job 'job'" in gone.output


@pytest.mark.usefixtures("_table")
def test_a_publication_of_another_name_stays(tmp_path: Path, database: Database) -> None:
    _job(tmp_path, database, publication="of_all").run()

    drop_noted(pm.connect(tmp_path), "job")

    assert _there(database) == (0, 1)


@pytest.mark.usefixtures("_table")
def test_a_slot_that_somebody_reads_keeps_the_job(tmp_path: Path, database: Database) -> None:
    job = _job(tmp_path, database)
    job.run()
    newest = job.status.position
    with Reader(database.source().tables("t"), newest) as reader:
        reader.caught_up()
        with pytest.raises(SourceError, match="is active for PID"):
            job.drop()
        assert _there(database)[0] == 1
    assert job.drop().left == ()
    assert _there(database) == (0, 0)
