"""Keys of ``--mongodb_conf``: which cluster, and what becomes of documents.

Source: apache/paimon@1.3.1 ``MongoDBActionUtils``, ``MongoVersionStrategy``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.action_conf import Conf

MONGODB = (
    *("hosts", "scheme", "username", "password_env", "password_file", "database", "collection"),
    *("connection.options", "scan.startup.mode", "scan.startup.timestamp-millis"),
    *("schema.start.mode", "field.name", "parser.path", "default.id.generation"),
)
_PLAIN = re.compile(r"[\w-]+")
_STARTS = {"initial": "initial", "latest-offset": "latest", "snapshot": "snapshot"}


def mongodb_words(conf: Conf) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return what says where the cluster is, what is read of it, and the database, a regex."""
    words: dict[str, Any] = {"hosts": conf.need("hosts")}
    scheme = conf.take("scheme") or "mongodb"
    if scheme not in ("mongodb", "mongodb+srv"):
        raise UnsupportedError(f"scheme={scheme} of MongoDB", "use mongodb or mongodb+srv")
    if scheme == "mongodb+srv":
        words["srv"] = True
    if (user := conf.take("username")) is not None:
        words["user"] = user
    conf.login(words)
    if (options := conf.take("connection.options")) is not None:
        words["options"] = dict(parse_qsl(options))
    database = conf.need("database")
    if _PLAIN.fullmatch(database):
        words["database"] = database
    reading: dict[str, Any] = {"start": _start(conf)}
    if (fields := _fields(conf)) is not None:
        reading["fields"] = fields
    ids = conf.take("default.id.generation") or "true"
    if ids not in ("true", "false"):
        raise ValueError(f"default.id.generation={ids}: it is true or false")
    if ids == "false":
        reading["ids"] = "extended"
    return words, reading, database


def _start(conf: Conf) -> str | datetime:
    mode = conf.take("scan.startup.mode") or "initial"
    millis = conf.take("scan.startup.timestamp-millis")
    if mode == "timestamp":
        if millis is None or not millis.isdecimal():
            raise ValueError("scan.startup.mode=timestamp needs scan.startup.timestamp-millis")
        return datetime.fromtimestamp(int(millis) / 1000, UTC)
    if mode not in _STARTS:
        raise UnsupportedError(
            f"scan.startup.mode={mode} of MongoDB", f"use {', '.join(_STARTS)} or timestamp"
        )
    return _STARTS[mode]


def _fields(conf: Conf) -> dict[str, str] | None:
    """Return the path of each column; None: each member is one."""
    mode = (conf.take("schema.start.mode") or "dynamic").lower()
    names, paths = conf.take("field.name"), conf.take("parser.path")
    if mode == "dynamic":
        return None  # Paimon does not look at the names then
    if mode != "specified":
        raise UnsupportedError(f"schema.start.mode={mode}", "use dynamic or specified")
    if names is None or paths is None:
        raise ValueError("schema.start.mode=specified needs field.name and parser.path")
    told = [[one.strip() for one in text.split(",")] for text in (names, paths)]
    if len(told[0]) != len(told[1]) or len({*told[0]}) != len(told[0]):
        raise ValueError("field.name and parser.path: give one path for each name")
    return dict(zip(*told, strict=True))
