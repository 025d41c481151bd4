"""Sources that are said in words: by addresses, options of statements, files and shells.

What has no Python object yet is a kind (``mysql``) and words by name, those of the functions that
make sources. A word that a kind does not take is refused by name, whoever says it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from paimonlab.catalog import Catalog, connect
from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.ingest.changes import Source
from paimonlab.ingest.sources.files import files
from paimonlab.ingest.sources.tables import table_changes
from paimonlab.secrets import hides_secrets, without_credentials

if TYPE_CHECKING:
    from paimonlab.ingest.sources.kafka import Kafka
    from paimonlab.ingest.sources.mongodb.source import MongoDb
    from paimonlab.ingest.sources.mysql.source import MySql
    from paimonlab.ingest.sources.postgresql.source import Postgres

Words: TypeAlias = Mapping[str, Any]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("a text is wanted")


def _number(value: object) -> int:
    try:
        if isinstance(value, int | str) and not isinstance(value, bool):
            return int(value)
    except ValueError:
        pass
    raise ValueError("a whole number is wanted")


def _seconds(value: object) -> float:
    try:
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise ValueError("seconds are wanted")


def _flag(value: object) -> bool:
    if value in (True, False):
        return bool(value)
    found = {"true": True, "false": False}.get(_text(value).lower())
    if found is None:
        raise ValueError("true or false is wanted")
    return found


def _start(value: object) -> str | datetime:
    """Take a word, or a time with its zone."""
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(_text(value))
    except ValueError:
        return _text(value)


def _flag_or_file(value: object) -> bool | str:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(_text(value).lower(), _text(value))


def _texts(value: object) -> list[str]:
    """Take a list, or a text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return list(value)
    raise ValueError("a list of texts is wanted")


def _patterns(value: object) -> list[str]:
    """Take a list, or one regular expression, which may have commas."""
    return [value] if isinstance(value, str) else _texts(value)


def _pairs(value: object) -> dict[str, str]:
    if isinstance(value, str):
        value = _of_json(value)
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value):
        return {name: str(one) for name, one in value.items()}
    raise ValueError("names with texts are wanted")


def _columns(value: object) -> dict[str, str]:
    """Take types by name, or ``id BIGINT, v STRING``."""
    if not isinstance(value, str) or value.lstrip().startswith("{"):
        return _pairs(value)
    found = {}
    for part in re.split(r",(?![^(<]*[)>])", value):
        name, blank, kind = part.strip().partition(" ")
        if not blank:
            raise ValueError(f"{part.strip()!r} is not a column: give name and type")
        found[name.strip("`")] = kind.strip()
    return found


def _place(value: object) -> Any:
    """Take a word, or what JSON writes of a place of a log or of offsets."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _of_json(value)
    if isinstance(value, Mapping):
        return {int(key) if str(key).isdecimal() else key: one for key, one in value.items()}
    return _text(value)


def _of_json(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None


_Taken: TypeAlias = Mapping[str, Callable[[object], Any]]

SERVERS: Mapping[str, _Taken] = {
    "mysql": {
        "host": _text,
        "port": _number,
        "user": _text,
        "password_env": _text,
        "password_file": _text,
        "tls": _flag_or_file,
        "certificate": _text,
        "time_zone": _text,
    },
    "postgres": {
        "host": _text,
        "port": _number,
        "dbname": _text,
        "user": _text,
        "slot": _text,
        "publication": _text,
        "password_env": _text,
        "password_file": _text,
        "options": _pairs,
    },
    "kafka": {
        "bootstrap": _text,
        "group": _text,
        "registry": _text,
        "options": _pairs,
        "password_env": _text,
    },
    "mongodb": {
        "hosts": _text,
        "user": _text,
        "password_env": _text,
        "password_file": _text,
        "database": _text,
        "srv": _flag,
        "options": _pairs,
    },
    "files": {"folder": _text},
    "table": {"warehouse": _text},
}
"""What says where a source of a kind is; words are those of `paimonlab.mysql` and so on."""

READING: Mapping[str, _Taken] = {
    "mysql": {
        "tables": _patterns,
        "excluding": _text,
        "start": _place,
        "type_mapping": _texts,
        "cascades": _text,
    },
    "postgres": {
        "tables": _patterns,
        "excluding": _text,
        "start": _text,
        "type_mapping": _texts,
        "as_text": _texts,
    },
    "kafka": {
        "topic": _texts,
        "topics": _text,
        "format": _text,
        "start": _place,
        "key_format": _text,
        "columns": _columns,
        "type_mapping": _texts,
        "avro_schema": _text,
        "delimiter": _text,
    },
    "mongodb": {
        "tables": _patterns,
        "excluding": _text,
        "start": _start,
        "fields": _pairs,
        "ids": _text,
        "updates": _text,
    },
    "files": {
        "table": _text,
        "pattern": _text,
        "format": _text,
        "delimiter": _text,
        "columns": _columns,
        "row_kinds": _text,
        "settle": _seconds,
        "after": _text,
        "options": _pairs,
    },
    "table": {"table": _text, "consumer": _text, "start": _text},
}
"""What says what is read of it."""

_SCHEMES = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "postgres": "postgres",
    "postgresql": "postgres",
    "kafka": "kafka",
    "mongodb": "mongodb",
    "mongodb+srv": "mongodb",
    "files": "files",
    "paimon": "table",
}
_EXAMPLES = (
    "mysql://USER@HOST:PORT?password_env=NAME",
    "postgres://USER@HOST:PORT/DB?slot=NAME&password_env=NAME",
    "kafka://HOST:PORT",
    "mongodb://USER@HOST:PORT/?replicaSet=NAME&password_env=NAME",
    "files:FOLDER",
    "paimon:WAREHOUSE",
)


class WordError(ValueError):
    """A word about a source that is not one, or has no such value.

    Parameters
    ----------
    word
        Its name.
    problem
        What is wrong.
    """

    def __init__(self, word: str, problem: str) -> None:
        self.word = word
        self.problem = problem
        super().__init__(word, problem)

    def __str__(self) -> str:
        return f"{self.word}: {self.problem}"


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a source is, before it is said what is read of it."""

    kind: str
    words: dict[str, Any] = field(default_factory=dict)
    """As `SERVERS` takes them."""

    @property
    def title(self) -> str:
        """Say what it is, without secrets."""
        words = self.words
        match self.kind:
            case "mysql":
                return f"mysql {words.get('host', '127.0.0.1')}:{words.get('port', 3306)}"
            case "postgres":
                host, port = words.get("host", "127.0.0.1"), words.get("port", 5432)
                return f"postgres {host}:{port}/{words.get('dbname', '')}"
            case "kafka":
                return f"kafka {words.get('bootstrap', '')}"
            case "mongodb":
                return f"mongodb {words.get('hosts', '127.0.0.1:27017')}"
            case "files":
                return f"files in {words.get('folder', '')}"
            case _:
                return f"tables of {without_credentials(words.get('warehouse', ''))}"


def place_of(address: str) -> Place:
    """Read an address.

    Parameters
    ----------
    address
        ``mysql://cdc@127.0.0.1:3306?password_env=CDC_PASSWORD``; also ``postgres:``, ``kafka:``,
        ``mongodb:``, ``files:`` and ``paimon:``. What follows ``?`` are words of the functions that
        make sources.

    Raises
    ------
    UnsupportedError
        If it has a password, or names a kind that there is not.
    ValueError
        If it lacks something.

    Examples
    --------
    >>> place_of("mysql://cdc@h:3307?time_zone=%2B08:00")
    Place(kind='mysql', words={'host': 'h', 'port': 3307, 'user': 'cdc', 'time_zone': '+08:00'})
    >>> place_of("files:./arriving").title
    'files in ./arriving'
    """
    scheme, colon, rest = address.partition(":")
    kind = _SCHEMES.get(scheme.lower())
    if not colon or kind is None:
        raise UnsupportedError(
            f"a source at {without_credentials(address)!r}", f"use {', '.join(_EXAMPLES)}"
        )
    if kind in ("files", "table"):
        folder, _, query = rest.partition("?")
        words: dict[str, Any] = {next(iter(SERVERS[kind])): folder.removeprefix("//")}
        return Place(kind=kind, words=words | _query(kind, query))
    parts = urlsplit(address)
    if parts.password is not None:
        raise UnsupportedError(
            f"a password in the address of {kind}",
            "put it into the environment and name that: ?password_env=NAME",
        )
    if kind == "kafka":
        return Place(kind=kind, words={"bootstrap": parts.netloc, **_query(kind, parts.query)})
    if kind == "mongodb":
        return Place(kind=kind, words=_cluster(parts, is_srv=scheme.lower().endswith("+srv")))
    return Place(kind=kind, words=_server(kind, parts, without_credentials(address)))


def _server(kind: str, parts: SplitResult, shown: str) -> dict[str, Any]:
    words = _query(kind, parts.query)
    try:
        port = parts.port
    except ValueError:
        raise ValueError(f"{shown!r} has no such port") from None
    said = {
        "host": parts.hostname,
        "port": port,
        "user": parts.username and unquote(parts.username),
        "dbname": unquote(parts.path.strip("/")),
    }
    if kind == "mysql" and said.pop("dbname"):
        raise ValueError(f"{shown!r} names a database: statements do, source.database.table")
    words |= {name: value for name, value in said.items() if value}
    return {name: words[name] for name in SERVERS[kind] if name in words}


def _cluster(parts: SplitResult, *, is_srv: bool) -> dict[str, Any]:
    user, at, hosts = parts.netloc.rpartition("@")
    words: dict[str, Any] = {"hosts": hosts}
    if at:
        words["user"] = unquote(user)
    if database := unquote(parts.path.strip("/")):
        words["database"] = database
    return words | ({"srv": True} if is_srv else {}) | _query("mongodb", parts.query)


def _query(kind: str, query: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if "options" in SERVERS[kind] and name not in SERVERS[kind] and "." in name:
            options[name] = value  # of librdkafka: security.protocol
        elif kind == "postgres" and name.startswith("ssl"):
            options[name] = value
        elif kind == "mongodb" and name.replace("-", "_") not in SERVERS[kind]:
            options[name] = value  # of connection strings: replicaSet
        else:
            found[name.replace("-", "_")] = value
    taken = taken_words(kind, found, SERVERS[kind])
    return taken | ({"options": options} if options else {})


def taken_words(kind: str, words: Words, taken: _Taken) -> dict[str, Any]:
    """Check words about a source, and make the values of them that its functions take.

    Raises
    ------
    WordError
        If there is no such word, or it has no such value; names it.
    """
    found = {}
    for name, value in words.items():
        if name not in taken:
            close = close_matches(name, taken)
            raise WordError(name, f"{kind} takes {', '.join(taken)}.{close}")
        try:
            found[name] = taken[name](value)
        except ValueError as error:
            raise WordError(name, str(error)) from None
    return found


def described_source(place: Place, words: Words, catalog: Catalog) -> Source:
    """Make a source of what is said about it.

    Parameters
    ----------
    place
        Where it is.
    words
        What is read of it, as `READING` takes it.
    catalog
        That of the job, for tables of its own warehouse.

    Raises
    ------
    WordError
        If a word is missing, unknown, or has no such value.
    UnsupportedError
        If something is not implemented.
    """
    kind = place.kind
    given = taken_words(kind, words, READING[kind])
    if kind == "files":
        folder = _needed(place.words, "folder")
        after = given.pop("after", "keep")
        return files(folder, after=after if after in ("keep", "delete") else Path(after), **given)
    if kind == "table":
        warehouse = place.words.get("warehouse", "")
        name = _needed(given, "table")
        table = (connect(warehouse) if warehouse else catalog).table(name)
        return table_changes(
            table, **{word: value for word, value in given.items() if word != "table"}
        )
    return read_of(server_of(place), given)


def server_of(place: Place) -> MySql | Postgres | Kafka | MongoDb:
    """Make what stands for a server; nothing is asked of it."""
    words = dict(place.words)
    match place.kind:
        case "mysql":
            from paimonlab.ingest.sources.mysql.source import mysql  # noqa: PLC0415 - an extra

            _needed(words, "user")
            return mysql(words.pop("host", "127.0.0.1"), **words)
        case "postgres":
            from paimonlab.ingest.sources.postgresql.source import (  # noqa: PLC0415 - an extra
                postgres,
            )

            for name in ("dbname", "user", "slot"):
                _needed(words, name)
            return postgres(**words)
        case "mongodb":
            from paimonlab.ingest.sources.mongodb.source import mongodb  # noqa: PLC0415 - an extra

            return mongodb(words.pop("hosts", "127.0.0.1:27017"), **words)
        case _:
            from paimonlab.ingest.sources.kafka import kafka  # noqa: PLC0415 - an extra

            _needed(words, "bootstrap")
            return kafka(words.pop("bootstrap"), **words)


def read_of(server: Any, given: Words) -> Source:
    """Make the source of a server; words are as `READING` gives them."""
    more = dict(given)
    if hasattr(server, "topic"):
        topics, pattern = more.pop("topic", None), more.pop("topics", None)
        _needed(more, "format")
        if (topics is None) == (pattern is None):
            raise WordError("topic", "give topic, or topics, a regular expression")
        if pattern is not None:
            return server.topics(pattern, **more)
        return server.topic(topics, **more)
    patterns: Sequence[str] = _needed(more, "tables")
    more.pop("tables")
    return server.tables(*patterns, **more)


def _needed(words: Words, name: str) -> Any:
    if not words.get(name):
        raise WordError(name, "it is missing")
    return words[name]
