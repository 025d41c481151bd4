"""``paimonlab ingest run job.yaml``, and the words of Paimon's actions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab import ingest as ingestion
from paimonlab.cli.arguments import in_warehouse, json_flag
from paimonlab.cli.commands import CONFIGURED, Command, is_place
from paimonlab.cli.planned import Consent, asks_first
from paimonlab.cli.progress import Bar
from paimonlab.cli.refusing import refused
from paimonlab.errors import UnsupportedError
from paimonlab.ingest.action_names import ACTIONS, OTHERS

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.ingest.job import Job
    from paimonlab.ingest.plan import IngestPlan
    from paimonlab.ingest.status import JobStatus

RUN, DROP = "run", "drop"
_LOOK_SECONDS = 0.5
_WORDS = {name.replace("_", "-"): name for name in (*ACTIONS, *OTHERS)}


class IngestCommand(Command):
    """A command that gives files and actions, which have arguments of their own, to others."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Look at the first word."""
        given = list(args)
        place: list[str] = []
        if len(given) > 1 and is_place(given[0]):
            place, given = ["--warehouse", given[0]], given[1:]
        word = given[0].replace("_", "-") if given else ""
        if word == RUN:
            rest = [*place, *given[1:]]
            return run_file.make_context(f"{info_name} {RUN}", rest, parent, **extra)
        if word == DROP:
            rest = [*place[1:], *given[1:]]
            return drop_job.make_context(f"{info_name} {DROP}", rest, parent, **extra)
        if word in _WORDS:
            made = _action(_WORDS[word])
            rest = [*place, *given[1:]]
            return made.make_context(f"{info_name} {given[0]}", rest, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(RUN, cls=Command)
@click.argument("file", metavar="JOB.YAML", type=click.Path(dir_okay=False))
@click.option("--warehouse", "place", metavar="PATH", help="Else as the file says.")
@click.option("--until", metavar="END", help="Else as the file says: 'caught-up', '10 min'.")
@click.option("--dry-run", is_flag=True, help="Say what tables there would be; change nothing.")
@json_flag
def run_file(
    *, file: str, place: str | None, until: str | None, dry_run: bool, as_json: bool
) -> None:
    """Run the ingest job that a YAML file describes; it goes on where it ended."""
    from paimonlab.ingest import job_files  # noqa: PLC0415 - only this command needs it

    with refused():
        catalog = None
        if place is not None or not job_files.warehouse_in(file):
            catalog = cli.opening.open_catalog(CONFIGURED if place is None else place, {})
        said = job_files.job_from_file(file, catalog)
    chosen = said.until if until is None else None if until == "stopped" else until
    run_job(said.job, chosen, dry_run=dry_run, as_json=as_json)


@click.command(DROP, cls=Command)
@in_warehouse
@click.argument("name", metavar="NAME")
@click.option("--dead-letters", is_flag=True, help="Also the table of rows that were set aside.")
@asks_first
def drop_job(catalog: Catalog, *, name: str, dead_letters: bool, consent: Consent) -> None:
    """Delete what an ingest job has here and at its source; its tables stay.

    Its notes, its consumers and tags of tables go, and PostgreSQL's replication slot and
    publication. If the source cannot be reached, the rest goes, and what is still there is said:
    then the exit code is 1.
    """
    left = False

    def verb(*, dry_run: bool) -> object:
        nonlocal left
        found = ingestion.drop_noted(catalog, name, dry_run=dry_run, dead_letters=dead_letters)
        left = bool(found.left) and not dry_run
        return found

    consent.run(verb)
    if left:
        raise SystemExit(1)


def _action(name: str) -> click.Command:
    """Make the command of an action: arguments as Paimon has them, with ``_`` or ``-``."""
    from paimonlab.ingest import actions  # noqa: PLC0415 - only these commands need it

    if name in OTHERS:
        with refused():
            raise UnsupportedError(name, f"there are {', '.join(ACTIONS)}")
    options = [
        click.Option(
            [f"--{argument}", *_other(argument), argument],
            multiple=True,
            metavar="KEY=VALUE" if actions.is_repeated(argument) else "VALUE",
        )
        for argument in (*actions.arguments_of(name), *actions.REFUSED)
    ]
    options += [
        click.Option(["--dry-run", "--dry_run"], is_flag=True, help="Change nothing."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
    ]
    help = f"Run Paimon's action {name} here, without Flink, with the same arguments."
    return click.Command(name, params=[*options], callback=_callback(name), help=help)


def _other(argument: str) -> list[str]:
    return [f"--{argument.replace('_', '-')}"] if "_" in argument else []


def _callback(name: str) -> Callable[..., None]:
    def run(*, dry_run: bool, as_json: bool, **told: Sequence[str]) -> None:
        from paimonlab.ingest import actions  # noqa: PLC0415 - only these commands need it

        given = {argument: values for argument, values in told.items() if values}
        with refused():
            asked = actions.action_job(name, given)
            has_place = asked.warehouse is not None or bool(asked.catalog_options)
            said = asked.job(None if has_place else cli.opening.open_catalog(CONFIGURED, {}))
        run_job(said.job, said.until, dry_run=dry_run, as_json=as_json)

    return run


def run_job(job: Job, until: Any, *, dry_run: bool, as_json: bool) -> None:
    """Run a job until its end, or say what it would do.

    Parameters
    ----------
    job
        What is run.
    until
        As `Job.run` takes it.
    dry_run
        Whether only its plan is printed.
    as_json
        Whether JSON is printed.
    """
    with refused():
        plan = job.plan()
    if dry_run:
        click.echo(cli.output.json_text(plan_values(plan)) if as_json else str(plan))
        return
    with job:
        try:
            with _shown(job):
                job.run(until)
        except KeyboardInterrupt:
            click.echo("interrupted: the next run goes on after the last commit", err=True)
    tell(job.status, as_json=as_json)


@contextmanager
def _shown(job: Job) -> Iterator[None]:
    """Show how far a job is that reads the rows that tables have, in a terminal."""
    ended = threading.Event()

    def look(bar: Bar) -> None:
        while not ended.wait(_LOOK_SECONDS):
            status = job.status
            total = status.snapshot_total
            if status.snapshot_rows is not None and total:
                bar.progress(min(status.snapshot_rows, total), total, "rows of the snapshot")

    with Bar(job.name) as bar:
        thread = threading.Thread(target=look, args=(bar,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def plan_values(plan: IngestPlan) -> dict[str, Any]:
    """Return a plan as JSON says it."""
    return {
        "tables": [
            {
                "table": table.name,
                "action": table.action,
                "sources": list(table.sources),
                "columns": {column.name: column.type for column in table.columns},
                "primary_keys": list(table.primary_keys),
                "partition_keys": list(table.partition_keys),
                "notes": list(table.notes),
            }
            for table in plan.tables
        ],
        "refused": [{"table": one.target, "reason": one.reason} for one in plan.refused],
        "left_out": [{"source": one.source, "reason": one.reason} for one in plan.left_out],
    }


def tell(found: JobStatus, *, as_json: bool) -> None:
    """Print how a job is; a table that stopped makes the exit code 1."""
    click.echo(cli.output.json_text(found.to_dict()) if as_json else str(found))
    if any(table.stopped for table in found.tables):
        raise SystemExit(1)
