"""Paimon's actions for changes of other systems, in their own words.

What ``flink run paimon-flink-action.jar mysql_sync_table --warehouse …`` is told becomes a source
and a job here. What is not implemented is refused by name, never passed over.

Source: apache/paimon@1.3.1 ``SyncTableActionFactoryBase``, ``SyncDatabaseActionFactoryBase``,
``CdcActionCommonUtils``, ``MySqlActionUtils``, ``KafkaActionUtils``, ``MongoDBActionUtils``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from paimonlab.catalog import Catalog, connect
from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.ingest.action_conf import Conf, resolved
from paimonlab.ingest.action_mongodb import MONGODB, mongodb_words
from paimonlab.ingest.action_names import ACTIONS, OTHERS
from paimonlab.ingest.described_sources import Place, described_source
from paimonlab.ingest.job import ingest
from paimonlab.ingest.sources.mysql.columns import MAPPINGS
from paimonlab.ingest.sources.postgresql.types import TYPE_MAPPINGS
from paimonlab.ingest.statements import SaidJob
from paimonlab.ingest.type_words import OF_ACTIONS, OF_TABLES
from paimonlab.secrets import hides_secrets, is_secret

_COMMON = (
    *("warehouse", "catalog_conf", "database", "table_conf", "primary_keys", "partition_keys"),
    *("type_mapping", "computed_column", "metadata_column"),
    "sync_primary_keys_from_source_schema",
)
_OF_TABLE = ("table",)
_OF_DATABASE = (
    *("table_mapping", "table_prefix", "table_suffix", "including_tables", "excluding_tables"),
    *("including_dbs", "excluding_dbs", "multiple_table_partition_keys", "mode", "merge_shards"),
    *("ignore_incompatible", "eager_init", "table_prefix_db", "table_suffix_db"),
)
_MANY = (
    *("catalog_conf", "table_conf", "computed_column", "table_mapping"),
    *("multiple_table_partition_keys", "mysql_conf", "postgres_conf", "kafka_conf"),
    "mongodb_conf",
    *("table_prefix_db", "table_suffix_db"),
)
"""May be given several times."""
_OURS = ("name", "until", "engine")
"""What the actions do not have: the name of the job, when it ends, and what runs it."""
REFUSED = {
    "force_start_flink_job": "there is no Flink here",
}
"""Arguments that actions have and jobs here do not, and what to do."""
_Asked: TypeAlias = tuple[Place, dict[str, Any], dict[str, Any]]
"""Where a source is, what is read of it, and what a job is told beside."""


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class ActionJob:
    """What an action asks for."""

    warehouse: str | None
    """None: it was not given."""
    catalog_options: dict[str, str]
    place: Place
    reading: dict[str, Any]
    """As `paimonlab.ingest.described_sources.READING` takes it."""
    words: dict[str, Any] = field(default_factory=dict)
    """Of the job, as `Catalog.ingest` takes them."""
    until: str | None = None
    """None: until it is stopped, as actions run."""

    def job(self, catalog: Catalog | None = None) -> SaidJob:
        """Make the job; nothing is read before it runs.

        Parameters
        ----------
        catalog
            Where its tables will be; None: as the action says.
        """
        if catalog is None:
            if self.warehouse is None and not self.catalog_options:
                raise ValueError("give --warehouse")
            options = dict(self.catalog_options)
            if self.warehouse is not None:
                options["warehouse"] = self.warehouse
            catalog = connect(options)
        source = described_source(self.place, self.reading, catalog)
        return SaidJob(ingest(catalog, source, **self.words), self.until)


def arguments_of(action: str) -> tuple[str, ...]:
    """Return the arguments of an action, without ``--``."""
    own = _OF_DATABASE if action.endswith("_database") else _OF_TABLE
    return (*_COMMON, *own, f"{action.partition('_')[0]}_conf", *_OURS)


def is_repeated(argument: str) -> bool:
    """Tell whether an argument may be given several times."""
    return argument in _MANY


def action_job(action: str, given: Mapping[str, Sequence[str]]) -> ActionJob:
    r"""Say what an action asks for.

    Parameters
    ----------
    action
        One of `ACTIONS`.
    given
        Values by argument, without ``--``, with ``_`` or ``-``.

    Raises
    ------
    UnsupportedError
        If an argument or a value is not implemented; names it.
    ValueError
        If an argument is missing, unknown, or has no such value; names it.

    Examples
    --------
    >>> made = action_job(
    ...     "mysql_sync_table",
    ...     {
    ...         "warehouse": ["./w"],
    ...         "database": ["ods"],
    ...         "table": ["orders"],
    ...         "mysql_conf": ["hostname=h", "username=u", "database-name=shop", "table-name=o.*"],
    ...     },
    ... )
    >>> made.place.title, made.reading["tables"], made.words["name"]
    ('mysql h:3306', ['(?:shop)\\.(?:o.*)'], 'ods_orders')
    """
    if action in OTHERS:
        raise UnsupportedError(action, f"there are {', '.join(ACTIONS)}")
    if action not in ACTIONS:
        raise ValueError(f"{action!r} is no action: {', '.join(ACTIONS)}")
    told = _told(action, given)
    database = _needed(told, "database")
    is_database = action.endswith("_database")
    words: dict[str, Any] = {"into": database}
    if is_database:
        words |= _names(told)
    else:
        words["table_names"] = _needed(told, "table")
    default = database if is_database else f"{database}_{words['table_names']}"
    words["name"] = told.get("name", [default])[0]
    words |= _columns(told, words)
    if "table_conf" in told:
        words["options"] = _pairs("table_conf", told["table_conf"])
    if "engine" in told:
        words["engine"] = told["engine"][0]
    kind = action.partition("_")[0]
    conf = _pairs(f"{kind}_conf", told.get(f"{kind}_conf", ()))
    reads = {"mysql": _mysql, "postgres": _postgres, "kafka": _kafka, "mongodb": _mongodb}[kind]
    place, reading, rules = reads(Conf(kind, conf), told, is_database=is_database)
    words |= rules
    if "type_mapping" in told:
        if kind == "mongodb":
            raise UnsupportedError("--type_mapping of MongoDB", "all its columns are STRING")
        reading["type_mapping"] = _words_for(kind, _list(told["type_mapping"][0]))
    until = told.get("until", [None])[0]
    return ActionJob(
        warehouse=told.get("warehouse", [None])[0],
        catalog_options={
            key: resolved(f"catalog_conf {key}", value)
            for key, value in _pairs("catalog_conf", told.get("catalog_conf", ())).items()
        },
        place=place,
        reading=reading,
        words=words,
        until=None if until in (None, "stopped") else until,
    )


def _words_for(kind: str, given: Sequence[str]) -> list[str]:
    """Return the words of ``--type_mapping`` that mean something to a source.

    Actions take all of them of each source. Those that are no words of theirs stay, to be refused.
    """
    words = [word.strip().lower() for word in given]
    idle = {*OF_ACTIONS}.difference((*_MAPPINGS[kind], *OF_TABLES))
    return [word for word in words if word not in idle]


def _told(action: str, given: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    known = arguments_of(action)
    found = {}
    for argument, values in given.items():
        name = argument.replace("-", "_")
        if name in REFUSED:
            raise UnsupportedError(f"--{name}", REFUSED[name])
        if name not in known:
            close = close_matches(name, known)
            raise ValueError(f"--{name} is not an argument of {action}.{close}")
        if len(values) > 1 and name not in _MANY:
            raise ValueError(f"--{name} is given twice")
        if values:
            found[name] = values
    return found


def _needed(told: Mapping[str, Sequence[str]], name: str) -> str:
    if name not in told:
        raise ValueError(f"--{name} is missing")
    return told[name][0]


def _list(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _pairs(argument: str, values: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in values:
        key, equals, rest = value.partition("=")
        if not equals or not key.strip():
            shown = key if is_secret(key) else value
            raise ValueError(f"--{argument} {shown}: write key=value")
        if key.strip() in found:
            raise ValueError(f"--{argument} {key.strip()} is given twice")
        found[key.strip()] = rest.strip()
    return found


def _flag(told: Mapping[str, Sequence[str]], name: str, *, default: bool) -> bool:
    if name not in told:
        return default
    value = told[name][0].lower()
    if value not in ("true", "false"):
        raise ValueError(f"--{name} {value}: it is true or false")
    return value == "true"


def _names(told: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    words: dict[str, Any] = {}
    if "table_mapping" in told:
        words["table_names"] = _pairs("table_mapping", told["table_mapping"])
    for argument in ("prefix", "suffix"):
        if f"table_{argument}" in told:
            words[argument] = told[f"table_{argument}"][0]
        by_database = f"table_{argument}_db"
        if by_database in told:
            others = {"": words[argument]} if argument in words else {}
            words[argument] = others | _pairs(by_database, told[by_database])
    words["merge_shards"] = _flag(told, "merge_shards", default=True)
    for argument, advice in (
        ("ignore_incompatible", "tables that cannot be read are refused: --excluding_tables"),
        ("eager_init", "committers are made when they are needed"),
    ):
        if _flag(told, argument, default=False):
            raise UnsupportedError(f"--{argument} true", advice)
    mode = told.get("mode", ["combined"])[0]
    if mode != "combined":
        raise UnsupportedError(
            f"--mode {mode}", "it is as with combined: tables that are created later are read, too"
        )
    return words


def _columns(told: Mapping[str, Sequence[str]], words: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "primary_keys" in told:
        found["primary_keys"] = _list(told["primary_keys"][0])
    elif not _flag(told, "sync_primary_keys_from_source_schema", default=True):
        found["primary_keys"] = []
    if "partition_keys" in told:
        found["partition_keys"] = _list(told["partition_keys"][0])
    if "multiple_table_partition_keys" in told:
        if "partition_keys" in found:
            raise UnsupportedError(
                "--multiple_table_partition_keys with --partition_keys", "name each table"
            )
        pairs = _pairs("multiple_table_partition_keys", told["multiple_table_partition_keys"])
        found["partition_keys"] = {
            _named_here(table, words): _list(value) for table, value in pairs.items()
        }
    if "computed_column" in told:
        found["computed"] = _pairs("computed_column", told["computed_column"])
    if "metadata_column" in told:
        found["metadata"] = _list(told["metadata_column"][0])
    return found


def _named_here(table: str, words: Mapping[str, Any]) -> str:
    names = words.get("table_names") or {}
    if isinstance(names, Mapping):
        for name, target in names.items():
            if name.lower() == table.lower():
                return str(target)
    beside = words.get("prefix", ""), words.get("suffix", "")
    if not all(isinstance(one, str) for one in beside):
        raise UnsupportedError(
            "--multiple_table_partition_keys with --table_prefix_db or --table_suffix_db",
            "name the tables with --table_mapping",
        )
    return f"{beside[0]}{table}{beside[1]}"


def _port(conf: Conf, words: dict[str, Any]) -> None:
    port = conf.take("port")
    if port is not None:
        if not port.isdecimal():
            raise ValueError(f"port={port}: it is a number")
        words["port"] = int(port)


_MAPPINGS: Mapping[str, Sequence[str]] = {
    "mysql": MAPPINGS,
    "postgres": TYPE_MAPPINGS,
    "kafka": OF_ACTIONS,
}
"""Words of ``--type_mapping`` that mean something, by source."""
_MYSQL = (
    *("hostname", "port", "username", "password_env", "password_file", "database-name"),
    *("table-name", "server-time-zone", "scan.startup.mode"),
    *("scan.startup.specific-offset.file", "scan.startup.specific-offset.pos"),
)


def _mysql(conf: Conf, told: Mapping[str, Sequence[str]], *, is_database: bool) -> _Asked:
    words: dict[str, Any] = {"host": conf.need("hostname")}
    _port(conf, words)
    words["user"] = conf.need("username")
    conf.login(words)
    zone = conf.take("server-time-zone")
    if zone is not None:
        words["time_zone"] = zone
    database = conf.need("database-name")
    reading: dict[str, Any] = {"start": _mysql_start(conf)}
    if is_database:
        if conf.take("table-name") is not None:
            raise ValueError("--mysql_conf table-name is for tables: use --including_tables")
        reading |= _patterns(database, told)
    else:
        reading["tables"] = [rf"(?:{database})\.(?:{conf.need('table-name')})"]
    conf.end(_MYSQL)
    return Place(kind="mysql", words=words), reading, {}


def _patterns(database: str, told: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the tables of databases: names match as a whole, and what is excluded wins."""
    tables = told.get("including_tables", [".*"])[0]
    databases = told.get("including_dbs", [database])[0]
    if "including_dbs" in told and databases != database:
        databases = rf"(?={database}\.)(?:{databases})"
    found: dict[str, Any] = {"tables": [rf"(?:{databases})\.(?:{tables})"]}
    left = _left_out(told)
    if left is not None:
        found["excluding"] = left
    return found


def _left_out(told: Mapping[str, Sequence[str]]) -> str | None:
    left = []
    if "excluding_tables" in told:
        left.append(rf"[^.]*\.(?:{told['excluding_tables'][0]})")
    if "excluding_dbs" in told:
        left.append(rf"(?:{told['excluding_dbs'][0]})\..*")
    return "|".join(left) or None


def _mysql_start(conf: Conf) -> str | dict[str, Any]:
    mode = conf.take("scan.startup.mode") or "initial"
    file = conf.take("scan.startup.specific-offset.file")
    at = conf.take("scan.startup.specific-offset.pos")
    if mode == "specific-offset":
        if file is None or at is None or not at.isdecimal():
            raise ValueError(
                "scan.startup.mode=specific-offset needs scan.startup.specific-offset.file and .pos"
            )
        return {"file": file, "pos": int(at)}
    starts = {"initial": "initial", "latest-offset": "latest", "snapshot": "snapshot"}
    if mode not in starts:
        raise UnsupportedError(
            f"scan.startup.mode={mode} of MySQL", f"use {', '.join(starts)} or specific-offset"
        )
    return starts[mode]


_POSTGRES = (
    *("hostname", "port", "username", "password_env", "password_file", "database-name"),
    *("schema-name", "table-name", "slot.name", "decoding.plugin.name", "scan.startup.mode"),
)


def _postgres(
    conf: Conf,
    _told: Mapping[str, Sequence[str]],
    *,
    is_database: bool,  # noqa: ARG001
) -> _Asked:
    words: dict[str, Any] = {"host": conf.need("hostname")}
    _port(conf, words)
    words["dbname"] = conf.need("database-name")
    words["user"] = conf.need("username")
    words["slot"] = conf.need("slot.name")
    conf.login(words)
    plugin = conf.take("decoding.plugin.name") or "pgoutput"
    if plugin != "pgoutput":
        raise UnsupportedError(f"decoding.plugin.name={plugin}", "use pgoutput")
    mode = conf.take("scan.startup.mode") or "initial"
    starts = {"initial": "initial", "latest-offset": "latest"}
    if mode not in starts:
        raise UnsupportedError(
            f"scan.startup.mode={mode} of PostgreSQL", f"use {' or '.join(starts)}"
        )
    tables = [rf"(?:{conf.need('schema-name')})\.(?:{conf.need('table-name')})"]
    conf.end(_POSTGRES)
    return Place(kind="postgres", words=words), {"tables": tables, "start": starts[mode]}, {}


def _mongodb(conf: Conf, told: Mapping[str, Sequence[str]], *, is_database: bool) -> _Asked:
    words, reading, database = mongodb_words(conf)
    collection = conf.take("collection")
    if not is_database:
        if not collection:
            raise ValueError("--mongodb_conf collection is missing")
        reading["tables"] = [rf"(?:{database})\.(?:{collection})"]
    elif collection is not None:
        raise ValueError("--mongodb_conf collection is for tables: use --including_tables")
    else:
        reading |= _patterns(database, told)
    conf.end(MONGODB)
    return Place(kind="mongodb", words=words), reading, {}


_KAFKA = (
    *("properties.bootstrap.servers", "topic", "topic-pattern", "value.format"),
    *("properties.group.id", "scan.startup.mode", "scan.startup.timestamp-millis"),
    *("scan.startup.specific-offsets", "schema.registry.url", "properties.security.protocol"),
    *("properties.sasl.mechanism", "properties.ssl.ca.location", "properties.sasl.username"),
    "password_env",
)
_OF_LIBRDKAFKA = ("security.protocol", "sasl.mechanism", "ssl.ca.location", "sasl.username")


def _kafka(conf: Conf, told: Mapping[str, Sequence[str]], *, is_database: bool) -> _Asked:
    words: dict[str, Any] = {"bootstrap": conf.need("properties.bootstrap.servers")}
    for key, word in (
        ("properties.group.id", "group"),
        ("schema.registry.url", "registry"),
        ("password_env", "password_env"),
    ):
        if (value := conf.take(key)) is not None:
            words[word] = value
    options = {key: conf.take(f"properties.{key}") for key in _OF_LIBRDKAFKA}
    if given := {key: value for key, value in options.items() if value is not None}:
        words["options"] = given
    topic, pattern = conf.take("topic"), conf.take("topic-pattern")
    if (topic is None) == (pattern is None):
        raise ValueError("--kafka_conf: give topic or topic-pattern, one of them")
    reading: dict[str, Any] = {
        "format": conf.need("value.format"),
        "start": _kafka_start(conf, words.get("group")),
    }
    if topic is not None:
        reading["topic"] = [name.strip() for name in topic.split(";") if name.strip()]
    else:
        reading["topics"] = pattern
    conf.end(_KAFKA)
    return Place(kind="kafka", words=words), reading, _rules(told) if is_database else {}


def _rules(told: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Say which ``database.table`` of messages are read."""
    rules = {}
    tables, databases = told.get("including_tables"), told.get("including_dbs")
    if tables or databases:
        database = databases[0] if databases else "[^.]*"
        rules["including"] = rf"(?:{database})\.(?:{tables[0] if tables else '.*'})"
    left = _left_out(told)
    if left is not None:
        rules["excluding"] = left
    return rules


def _kafka_start(conf: Conf, group: str | None) -> Any:
    mode = conf.take("scan.startup.mode") or "group-offsets"
    millis = conf.take("scan.startup.timestamp-millis")
    offsets = conf.take("scan.startup.specific-offsets")
    if mode == "timestamp":
        if millis is None or not millis.isdecimal():
            raise ValueError("scan.startup.mode=timestamp needs scan.startup.timestamp-millis")
        return datetime.fromtimestamp(int(millis) / 1000, UTC)
    if mode == "specific-offsets":
        if offsets is None:
            raise ValueError(
                "scan.startup.mode=specific-offsets needs scan.startup.specific-offsets"
            )
        return offsets
    if mode == "group-offsets" and group is None:
        raise ValueError(
            "scan.startup.mode is group-offsets unless it is given, which needs "
            "properties.group.id: give that, or scan.startup.mode=earliest-offset"
        )
    if mode not in ("group-offsets", "earliest-offset", "latest-offset"):
        raise UnsupportedError(
            f"scan.startup.mode={mode} of Kafka",
            "use group-offsets, earliest-offset, latest-offset, timestamp or specific-offsets",
        )
    return mode
