"""``paimonlab ingest``: files that arrive, tables and databases into tables of a warehouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab import ingest as ingestion
from paimonlab.cli.arguments import Pairs, column_list, in_warehouse, json_flag
from paimonlab.cli.ingest_files import IngestCommand, run_job
from paimonlab.cli.refusing import refused
from paimonlab.errors import close_matches
from paimonlab.spec.options.grammar import parse_duration_millis

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.ingest import changes, event_log, job

_KINDS = ("files", "table", "mysql", "postgres", "kafka", "mongodb", "status")
_STEERED = ("pause", "resume", "stop", "replay", "resnapshot", "add")
_WITH_WHAT = ("resnapshot", "add")
_FOR_FILES = ("pattern", "file_format", "delimiter", "columns", "after", "primary_key")
_FOR_TABLE = ("source_warehouse", "consumer")
_FOR_DATABASE = (
    *("tables", "excluding", "user", "password_env", "password_file", "slot", "publication"),
    "type_mapping",
)
_FOR_MYSQL = (
    *("tables", "excluding", "user", "password_env", "password_file", "time_zone"),
    "type_mapping",
)
_FOR_KAFKA = ("topic", "topics", "message_format", "columns", "password_env", "type_mapping")
_FOR_MONGODB = ("tables", "excluding", "user", "password_env", "password_file")
_ONLY_FOR = {
    "files": (*_FOR_FILES, "source_table"),
    "table": (*_FOR_TABLE, "start"),
    "mysql": (*_FOR_MYSQL, "start"),
    "postgres": (*_FOR_DATABASE, "start"),
    "kafka": (*_FOR_KAFKA, "start"),
    "mongodb": (*_FOR_MONGODB, "start"),
}


@click.command(cls=IngestCommand)
@in_warehouse
@click.argument(
    "kind",
    metavar="files|table|mysql|postgres|kafka|mongodb|status|pause|resume|stop|replay|resnapshot|"
    "add|drop|run|ACTION",
)
@click.argument("place", metavar="[FOLDER|DB.TABLE|HOST:PORT|HOST:PORT/DB|NAME]", required=False)
@click.argument("what", metavar="[TABLE|PATTERN]", required=False)
@click.option("--into", metavar="DB", help="The database here.")
@click.option("--name", metavar="NAME", help="Of the job: it goes on where this name ended.")
@click.option(
    "--until",
    metavar="END",
    default="caught-up",
    show_default=True,
    help="'caught-up', a time as '10 min', or 'stopped': until Ctrl-C.",
)
@click.option("--dry-run", is_flag=True, help="Say what tables there would be; change nothing.")
@click.option("--source-table", metavar="DB.TABLE", help="What files are called: database, table.")
@click.option("--pattern", metavar="GLOB", help="Files that are read: '*.csv'.")
@click.option(
    "--file-format",
    type=click.Choice(["csv", "json", "parquet"]),
    help="Of the files; else their names tell.",
)
@click.option("--delimiter", metavar="CHAR", help="Between the values of CSV.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="'NAME TYPE'",
    help="Declare columns of files or Kafka.",
)
@click.option(
    "--after",
    metavar="WHAT",
    help="Of files that are committed: keep, delete, or a folder to move them to.",
)
@click.option("--source-warehouse", metavar="PATH", help="Where the source table is, if elsewhere.")
@click.option("--consumer", metavar="NAME", help="Keep what is unread of the source table.")
@click.option(
    "--start", metavar="WHERE", help="latest-full, initial: all rows first; latest: changes only."
)
@click.option("--tables", multiple=True, metavar="PATTERN", help="Of a server: 'public.orders'.")
@click.option("--excluding", metavar="PATTERN", help="Tables of a server that are left out.")
@click.option("--topic", multiple=True, metavar="NAME", help="Topics of Kafka.")
@click.option("--topics", metavar="PATTERN", help="All topics of Kafka that match.")
@click.option("--message-format", metavar="NAME", help="Of messages of Kafka: debezium-json.")
@click.option("--user", metavar="NAME", help="Who reads a server.")
@click.option("--password-env", metavar="NAME", help="Environment variable with the password.")
@click.option("--password-file", metavar="FILE", help="A file with the password.")
@click.option("--time-zone", metavar="ZONE", help="In which MySQL's TIMESTAMP is stored.")
@click.option("--slot", metavar="NAME", help="Replication slot of PostgreSQL; it is created.")
@click.option("--publication", metavar="NAME", help="Publication; else named as the slot.")
@click.option("--type-mapping", metavar="A,B,…", callback=column_list, help="See the docs.")
@click.option("--primary-key", metavar="A,B,…", callback=column_list, help="Rows are found by it.")
@click.option("--partition-by", metavar="A,B,…", callback=column_list, help="Of new tables.")
@click.option("-o", "--option", "options", multiple=True, type=Pairs(), help="Of the tables.")
@click.option(
    "--table-option",
    "table_options",
    nargs=2,
    multiple=True,
    type=(str, Pairs()),
    metavar="PATTERN KEY=VALUE",
    help="Of tables whose name here matches: 'log_.*' bucket=-1.",
)
@click.option(
    "--computed-column",
    "computed",
    multiple=True,
    type=Pairs(),
    metavar="'NAME=FUNCTION(…)'",
    help="Compute a column: 'dt=date_format(created, yyyy-MM-dd)'.",
)
@click.option(
    "--metadata-column",
    "metadata",
    metavar="A,B,…",
    callback=column_list,
    help="Store what the source knows of rows: table_name, file.",
)
@click.option("--table-name", metavar="TABLE", help="The name here; else that of the source.")
@click.option("--evolve", type=click.Choice(["lenient", "exact", "strict"]), help="See the docs.")
@click.option("--interval", metavar="TIME", help="How long rows wait for a commit: '10 s'.")
@click.option("--max-bytes", metavar="SIZE", help="How much waits in memory: '256 mb'.")
@click.option("--max-dead", type=click.IntRange(0), help="Rows that may be set aside; else 0.")
@json_flag
def ingest(
    catalog: Catalog,
    *,
    kind: str,
    place: str | None,
    what: str | None,
    dry_run: bool,
    as_json: bool,
    **told: Any,
) -> None:
    """Read files as they arrive, a table or a database exactly once; or say how jobs are.

    The job goes on where a job of this name ended. Ctrl-C ends it; nothing is lost.

    'pause NAME', 'resume NAME' and 'stop NAME' steer a job that another process runs. 'resnapshot
    NAME TABLE' reads the rows of a table anew, 'add NAME PATTERN' more tables of the source,
    'replay NAME' puts rows in that were set aside and can be stored now; if no process runs the
    job, its next run does it.

    'drop NAME' deletes what a job has that is not wanted any more; its tables stay.

    'run JOB.YAML' runs what a file describes; mysql_sync_table, mysql_sync_database,
    postgres_sync_table, kafka_sync_table, kafka_sync_database, mongodb_sync_table and
    mongodb_sync_database take the arguments of Paimon's actions. Each has a --help of its own.
    """
    if kind in _STEERED:
        _steer(catalog, kind, place, what)
        return
    if what is not None:
        raise click.UsageError(f"Got unexpected extra argument ({what})")
    if kind == "status":
        _status(catalog, place, as_json=as_json)
        return
    with refused():
        _check_kind(kind)
        given = {name: value for name, value in told.items() if value not in (None, ())}
        _check_told(kind, place, given)
        until = _until(told["until"])
        source = _source(catalog, kind, str(place), given)
        made = catalog.ingest(source, **_job_words(given))
    run_job(made, until, dry_run=dry_run, as_json=as_json)


def _check_kind(kind: str) -> None:
    if kind not in _KINDS:
        close = close_matches(kind, (*_KINDS, *_STEERED))
        raise ValueError(f"{kind!r} is no source: {', '.join(_KINDS)}.{close}")


def _steer(catalog: Catalog, verb: Any, name: str | None, what: str | None) -> None:
    with refused():
        if name is None:
            raise ValueError(f"give the name of the job: {verb} NAME")
        if (what is not None) != (verb in _WITH_WHAT):
            wanted = f"{verb} NAME {'TABLE' if verb == 'resnapshot' else 'PATTERN'}"
            raise ValueError(f"give {wanted if verb in _WITH_WHAT else f'{verb} NAME'}")
        process = ingestion.job.ask_job(catalog, name, verb, what or "")
    if process is None:
        click.echo(f"{name} does not run: its next run does it")
    else:
        click.echo(f"asked {process}, which runs {name}; it looks every five seconds")


def _check_told(kind: str, place: str | None, given: Mapping[str, Any]) -> None:
    if place is None:
        raise ValueError(_PLACES[kind])
    for name in ("into", "name"):
        if name not in given:
            raise ValueError(f"give --{name}")
    for name in sorted({*given}):
        kinds = [one for one, names in _ONLY_FOR.items() if name in names]
        if kinds and kind not in kinds:
            raise ValueError(f"--{name.replace('_', '-')} is not for {kind}")


_PLACES = {
    "files": "give the folder of the files",
    "table": "give DB.TABLE",
    "mysql": "give HOST:PORT",
    "postgres": "give HOST:PORT/DB",
    "kafka": "give HOST:PORT",
    "mongodb": "give HOST:PORT or HOST:PORT/?replicaSet=NAME",
}


def _source(catalog: Catalog, kind: str, place: str, given: Mapping[str, Any]) -> changes.Source:
    match kind:
        case "files":
            return _files(place, given)
        case "table":
            return _table(catalog, place, given)
        case "mysql":
            return _mysql(place, given)
        case "postgres":
            return _postgres(place, given)
        case _:
            return _described(catalog, kind, place, given)


def _files(folder: str, given: Mapping[str, Any]) -> changes.Source:
    after = given.get("after", "keep")
    declared = dict(map(_column, given.get("columns", ()))) or None
    return ingestion.files(
        folder,
        table=given.get("source_table"),
        pattern=given.get("pattern", "*"),
        format=given.get("file_format"),
        delimiter=given.get("delimiter"),
        columns=declared,
        primary_keys=given.get("primary_key", ()),
        after=after if after in ("keep", "delete") else Path(after),
    )


def _table(catalog: Catalog, name: str, given: Mapping[str, Any]) -> changes.Source:
    place = given.get("source_warehouse")
    table = cli.opening.open_table(
        catalog if place is None else cli.opening.open_catalog(place, {}), name, {}
    )
    return ingestion.table_changes(
        table, consumer=given.get("consumer"), start=given.get("start", "latest-full")
    )


def _mysql(place: str, given: Mapping[str, Any]) -> changes.Source:
    from paimonlab.ingest.sources.mysql.source import mysql  # noqa: PLC0415 - an extra

    for name in ("user", "tables"):
        if name not in given:
            raise ValueError(f"give --{name}")
    host, _, port = place.partition(":")
    if not (host and (port.isdigit() or not port)):
        raise ValueError(f"{place!r} is no server: {_PLACES['mysql']}")
    told = {name: given[name] for name in _FOR_MYSQL[2:-1] if name in given}
    more = {name: given[name] for name in ("excluding", "start", "type_mapping") if name in given}
    return mysql(host, port=int(port or 3306), **told).tables(*given["tables"], **more)


def _postgres(place: str, given: Mapping[str, Any]) -> changes.Source:
    from paimonlab.ingest.sources.postgresql.source import postgres  # noqa: PLC0415 - an extra

    for name in ("user", "slot", "tables"):
        if name not in given:
            raise ValueError(f"give --{name}")
    address, slash, dbname = place.rpartition("/")
    host, _, port = address.partition(":")
    if not (slash and dbname and (port.isdigit() or not port)):
        raise ValueError(f"{place!r} is no database: {_PLACES['postgres']}")
    told = {name: given[name] for name in _FOR_DATABASE[2:-1] if name in given}
    made = postgres(host=host, port=int(port or 5432), dbname=dbname, **told)
    more = {name: given[name] for name in ("excluding", "start", "type_mapping") if name in given}
    return made.tables(*given["tables"], **more)


def _described(
    catalog: Catalog, kind: str, address: str, given: Mapping[str, Any]
) -> changes.Source:
    """Make a source of Kafka or MongoDB, whose address may have more words, after ``?``."""
    from paimonlab.ingest import described_sources  # noqa: PLC0415 - loads what reads addresses

    place = described_sources.place_of(f"{kind}://{address}")
    words = {_WORDS.get(name, name): given[name] for name in _ONLY_FOR[kind] if name in given}
    if "columns" in words:
        words["columns"] = dict(map(_column, words["columns"]))
    server = {name: words.pop(name) for name in described_sources.SERVERS[kind] if name in words}
    told = described_sources.Place(kind=kind, words={**place.words, **server})
    return described_sources.described_source(told, words, catalog)


_WORDS = {"message_format": "format"}
"""Options that sources call otherwise."""


def _job_words(given: Mapping[str, Any]) -> dict[str, Any]:
    words = {
        name: given[name]
        for name in ("into", "name", "evolve", "interval", "max_bytes")
        if name in given
    }
    if "max_dead" in given:
        words["max_dead"] = given["max_dead"]
    if "partition_by" in given:
        words["partition_keys"] = given["partition_by"]
    if "metadata" in given:
        words["metadata"] = given["metadata"]
    for pairs in ("options", "computed"):
        if pairs in given:
            words[pairs] = {name.strip(): value for name, value in given[pairs]}
    for pattern, (key, value) in given.get("table_options", ()):
        words.setdefault("table_options", {}).setdefault(pattern, {})[key.strip()] = value
    if "table_name" in given:
        words["table_names"] = given["table_name"]
    return words


def _column(text: str) -> tuple[str, str]:
    name, blank, kind = text.strip().partition(" ")
    if not blank:
        raise ValueError(f"{text!r} is not a column: give name and type, 'id BIGINT NOT NULL'")
    return name.strip("`"), kind.strip()


def _until(text: str) -> str | None:
    if text == "stopped":
        return None
    if text == "caught-up":
        return text
    try:
        parse_duration_millis(text)
    except ValueError as error:
        raise ValueError(f"--until {text}: {error}, 'caught-up' or 'stopped'") from None
    return text


def _status(catalog: Catalog, name: str | None, *, as_json: bool) -> None:
    jobs = ingestion.noted_jobs(catalog)
    if name is None:
        _print_jobs(jobs, as_json=as_json)
        return
    with refused():
        if name not in [one.name for one in jobs]:
            close = close_matches(name, [one.name for one in jobs])
            raise ValueError(f"there is no job {name!r}.{close}")
        log = ingestion.job.files_of(catalog, name).events()
    if as_json:
        click.echo(cli.output.json_text([_event(one) for one in log]))
        return
    _print_jobs([one for one in jobs if one.name == name], as_json=False)
    for one in log:
        click.echo(f"  {_time(one.at_millis)}  {one.kind}  {one.table or ''}  {one.text}")


def _print_jobs(jobs: Sequence[job.NotedJob], *, as_json: bool) -> None:
    if as_json:
        click.echo(cli.output.json_text([_noted(one) for one in jobs]))
        return
    for one in jobs:
        at = "" if one.committed_millis is None else f", last {_time(one.committed_millis)}"
        dead = f", {one.dead:,} set aside" if one.dead else ""
        click.echo(f"{one.name}: epoch {one.epoch}, {one.rows:,} rows{dead}{at}")
    if not jobs:
        click.echo("no jobs")


def _noted(one: job.NotedJob) -> dict[str, Any]:
    return {
        "name": one.name,
        "epoch": one.epoch,
        "rows": one.rows,
        "dead": one.dead,
        "committed_millis": one.committed_millis,
    }


def _event(one: event_log.JobEvent) -> dict[str, Any]:
    return {
        "at_millis": one.at_millis,
        "kind": one.kind,
        "table": one.table,
        "text": one.text,
        "position": one.position,
        "before": one.before,
        "after": one.after,
    }


def _time(millis: int) -> str:
    return f"{datetime.fromtimestamp(millis / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
