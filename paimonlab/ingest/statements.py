"""Jobs that are said in SQL: ``CREATE TABLE … AS TABLE``, ``CREATE DATABASE … AS DATABASE``.

Sources have names, which statements begin with: ``AS TABLE shop.db.orders``. Names are those of a
process; `name_source` gives them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paimonlab.catalog import Catalog
from paimonlab.errors import (
    AlreadyExistsError,
    NotFoundError,
    UnsupportedError,
    close_matches,
)
from paimonlab.ingest.changes import Source
from paimonlab.ingest.described_sources import (
    READING,
    Place,
    WordError,
    described_source,
    place_of,
    read_of,
    taken_words,
)
from paimonlab.ingest.job import Job, ingest
from paimonlab.ingest.source_names import NAMED
from paimonlab.spec.sql_text.ingest_syntax import (
    CreateDatabaseAs,
    CreateTableAs,
    IngestStatement,
)

_PREFIX = "ingest."
_OF_SOME = "ingest.table-options."
_SERVERS = {"MySql": "mysql", "Postgres": "postgres", "Kafka": "kafka", "MongoDb": "mongodb"}
"""Kinds by the names of classes, whose modules are loaded when they are used."""
_NAME = re.compile(r"[A-Za-z_]\w*")
_PLAIN = re.compile(r"[\w.-]+")

_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source that statements can name."""

    name: str
    title: str
    """What it is, without secrets."""


def name_source(name: str, source: Any) -> NamedSource:
    """Give a source a name for statements of this process; an older one of the name is forgotten.

    Parameters
    ----------
    name
        A word: letters, digits and ``_``.
    source
        An address (``mysql://cdc@127.0.0.1:3306?password_env=CDC_PASSWORD``), what
        `paimonlab.mysql`, `paimonlab.postgres`, `paimonlab.kafka` and `paimonlab.mongodb` return,
        or a source.

    Raises
    ------
    UnsupportedError, ValueError
        If it is no source, or the name no word.

    Examples
    --------
    >>> name_source("arriving", "files:./arriving")
    NamedSource(name='arriving', title='files in ./arriving')
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} cannot name a source: use letters, digits and _")
    made = place_of(source) if isinstance(source, str) else source
    is_one = type(made).__name__ in _SERVERS or hasattr(made, "read")
    if not isinstance(made, Place) and not is_one:
        raise UnsupportedError(
            f"{type(made).__name__} as a source", "give an address, a server, or a source"
        )
    with _lock:
        NAMED[name] = made
    return NamedSource(name, _title(made))


def forget_source(name: str) -> None:
    """Forget the name of a source; jobs that run go on.

    Raises
    ------
    NotFoundError
        If there is no such name.
    """
    _of_name(name)
    with _lock:
        NAMED.pop(name, None)


def named_sources() -> list[NamedSource]:
    """Return the sources that statements of this process can name, sorted by name."""
    return [NamedSource(name, _title(made)) for name, made in sorted(NAMED.items())]


@dataclass(frozen=True, slots=True)
class SaidJob:
    """A job as a statement says it."""

    job: Job
    until: str | None
    """``caught-up``, or how long it runs; None: until it is stopped."""


def said_job(catalog: Catalog, statement: IngestStatement) -> SaidJob:
    """Make the job of a statement; nothing is read before it runs.

    Parameters
    ----------
    catalog
        Where its tables will be.
    statement
        What was said.

    Raises
    ------
    NotFoundError
        If there is no source of that name.
    AlreadyExistsError
        If what it would create exists, and the statement does not say ``IF NOT EXISTS``.
    UnsupportedError, ValueError
        If an option is not one, or has no such value; names it.
    """
    made = _of_name(statement.source[0])
    words, options, until = _divided(statement.options)
    into, table = _target(statement)
    words.setdefault("name", into if table is None else f"{into}_{table}")
    _check_new(catalog, statement, into, table)
    reading = {name.replace("-", "_"): value for name, value in statement.source_options.items()}
    parts = statement.source[1:]
    if isinstance(statement, CreateTableAs):
        source, more = _of_table(made, parts, reading, catalog)
        words |= {"table_names": table, **more}
        if statement.primary_keys:
            words["primary_keys"] = statement.primary_keys
        if statement.partition_keys:
            words["partition_keys"] = statement.partition_keys
        if statement.computed:
            words["computed"] = dict(statement.computed)
    else:
        source, more = _of_database(made, parts, statement, reading, catalog)
        words |= more
    return SaidJob(ingest(catalog, source, into=into, options=options, **words), until)


def _of_name(name: str) -> Any:
    if name not in NAMED:
        known = sorted(NAMED)
        close = close_matches(name, known)
        there = f"are: {', '.join(known)}" if known else "is none"
        raise NotFoundError(
            f"there is no source {name!r}.{close or f' There {there}.'} %paimon_source NAME "
            "ADDRESS names one, or paimonlab.ingest.name_source(…)"
        )
    return NAMED[name]


def _title(made: Any) -> str:
    if isinstance(made, Place):
        return made.title
    name = getattr(made, "name", None)
    if isinstance(name, str):
        return name
    login = getattr(made, "login", None)
    if login is not None:
        place = getattr(login, "place", None) or f"{login.host}:{login.port}"
        return f"{type(made).__name__.lower()} {place}"
    return f"{type(made).__name__.lower()} {getattr(made, 'bootstrap', '')}".strip()


def _target(statement: IngestStatement) -> tuple[str, str | None]:
    parts = statement.target
    wanted = 2 if isinstance(statement, CreateTableAs) else 1
    if len(parts) != wanted:
        what = "database.table" if wanted == 2 else "a database"
        raise ValueError(f"{'.'.join(parts)} is not {what}")
    return parts[0], parts[1] if wanted == 2 else None


def _check_new(catalog: Catalog, statement: IngestStatement, into: str, table: str | None) -> None:
    if statement.if_not_exists:
        return
    is_there = catalog.has_database(into) if table is None else catalog.has_table(f"{into}.{table}")
    if is_there:
        raise (
            AlreadyExistsError("database", into)
            if table is None
            else AlreadyExistsError("table", f"{into}.{table}")
        )


def _flag(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError("true or false is wanted")
    return value.lower() == "true"


def _pairs(key: str, value: str) -> dict[str, str]:
    """Take ``bucket = -1; file.format = avro`` apart: values may have commas."""
    found = {}
    for part in filter(None, map(str.strip, value.split(";"))):
        name, equals, rest = part.partition("=")
        if not (equals and name.strip()):
            raise ValueError(f"{key} = {value!r}: give 'bucket = -1; file.format = avro'")
        found[name.strip()] = rest.strip()
    return found


def _list(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


_JOB_WORDS: Mapping[str, Any] = {
    "name": str,
    "interval": str,
    "max-bytes": str,
    "max-rows": int,
    "max-dead": int,
    "max-stall": str,
    "tags": int,
    "evolve": str,
    "on-truncate": str,
    "on-delete": str,
    "on-error": str,
    "metadata": _list,
    "prefix": str,
    "suffix": str,
    "merge-shards": _flag,
    "shard-columns": _list,
    "state": str,
    "engine": str,
}


def _divided(options: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str], str | None]:
    """Divide options into those of the job, those of its tables, and when it ends."""
    words: dict[str, Any] = {}
    of_tables: dict[str, str] = {}
    until = None
    for key, value in options.items():
        if not key.startswith(_PREFIX):
            of_tables[key] = value
            continue
        if key.startswith(_OF_SOME):
            pattern = key.removeprefix(_OF_SOME)
            words.setdefault("table_options", {})[pattern] = _pairs(key, value)
            continue
        name = key.removeprefix(_PREFIX)
        if name == "until":
            until = value
            continue
        if name not in _JOB_WORDS:
            known = [f"{_PREFIX}{one}" for one in (*_JOB_WORDS, "until")]
            known.append(f"{_OF_SOME}<regular expression>")
            raise UnsupportedError(
                f"option {key!r}", f"there are {', '.join(known)}.{close_matches(key, known)}"
            )
        try:
            words[name.replace("-", "_")] = _JOB_WORDS[name](value)
        except ValueError as error:
            raise ValueError(f"{key} = {value!r}: {error}") from None
    return words, of_tables, until


def _of_table(
    made: Any, parts: tuple[str, ...], reading: Mapping[str, str], catalog: Catalog
) -> tuple[Source, dict[str, Any]]:
    kind = _kind(made)
    named = ".".join(parts)
    match kind:
        case "mysql" | "postgres" | "mongodb":
            _check_parts(kind, parts, 2)
            return _read(made, kind, {**reading, "tables": [r"\.".join(parts)]}, catalog), {}
        case "kafka":
            if not parts:
                raise ValueError("AS TABLE of Kafka names a topic: source.topic")
            word = "topic" if _PLAIN.fullmatch(named) else "topics"
            what = [named] if word == "topic" else named
            return _read(made, kind, {**reading, word: what}, catalog), {}
        case "files":
            _check_parts(kind, parts, 0, 1)
            folder = made.words["folder"]
            words = {"folder": f"{folder.rstrip('/')}/{parts[0]}" if parts else folder}
            return described_source(Place(kind=kind, words=words), reading, catalog), {}
        case "table":
            _check_parts(kind, parts, 2)
            return described_source(made, {**reading, "table": named}, catalog), {}
        case _:
            _refuse_reading(reading)
            return made, {"including": r"\.".join(parts)} if parts else {}


def _of_database(
    made: Any,
    parts: tuple[str, ...],
    statement: CreateDatabaseAs,
    reading: Mapping[str, str],
    catalog: Catalog,
) -> tuple[Source, dict[str, Any]]:
    kind = _kind(made)
    including = statement.including or ".*"
    excluding = statement.excluding
    if kind in ("files", "table"):
        raise UnsupportedError(
            f"CREATE DATABASE … AS DATABASE of {made.title}",
            "use CREATE TABLE … AS TABLE for each table",
        )
    if kind in ("mysql", "postgres", "mongodb"):
        _check_parts(kind, parts, 1)
        words: dict[str, Any] = {**reading, "tables": [rf"{parts[0]}\.(?:{including})"]}
        if excluding is not None:
            words["excluding"] = rf"{parts[0]}\.(?:{excluding})"
        return _read(made, kind, words, catalog), {}
    database = parts[0] if parts else r"[^.]*"
    rules = {"including": rf"{database}\.(?:{including})"}
    if excluding is not None:
        rules["excluding"] = rf"{database}\.(?:{excluding})"
    if kind == "kafka":
        _check_parts(kind, parts, 0, 1)
        given = dict(reading)
        if "topic_pattern" in given:
            given["topics"] = given.pop("topic_pattern")
        return _read(made, kind, given, catalog), rules
    _refuse_reading(reading)
    return made, rules


def _kind(made: Any) -> str:
    """Say how a source is named; empty: it is one already."""
    if isinstance(made, Place):
        return made.kind
    if hasattr(made, "read"):
        return ""
    return _SERVERS[type(made).__name__]


def _read(made: Any, kind: str, words: Mapping[str, Any], catalog: Catalog) -> Source:
    if isinstance(made, Place):
        return described_source(made, words, catalog)
    return read_of(made, taken_words(kind, words, READING[kind]))


def _refuse_reading(reading: Mapping[str, str]) -> None:
    for name in reading:
        raise WordError(name, "give it to the function that makes the source")


def _check_parts(kind: str, parts: tuple[str, ...], *counts: int) -> None:
    if len(parts) not in counts:
        wanted = {
            "mysql": "source.database.table",
            "postgres": "source.schema.table",
            "kafka": "source.topic",
            "mongodb": "source.database.collection",
            "files": "source.folder",
            "table": "source.database.table",
        }[kind]
        if counts == (1,):
            wanted = wanted.rpartition(".")[0]
        raise ValueError(f"of {kind} give {wanted}, not {len(parts)} names after the source")
