"""Connections that are configured: in files and in the environment.

Later places override earlier ones, option by option::

    ~/.config/paimonlab/config.toml     [default]  and  [NAME]
    pyproject.toml, here or above       [tool.paimonlab.default]  and  [tool.paimonlab.NAME]
    environment, for `default`          PAIMONLAB_WAREHOUSE, _ENGINE, _CATALOG, _REMOTE

A table has ``warehouse``, and may have ``engine``, ``catalog`` and Paimon's catalog options; or
``remote``, the address of a Spark Connect server, and with it any of the others.
``${NAME}`` in a value is the environment variable ``NAME``; the only way to give a secret.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from paimonlab.errors import PaimonError, close_matches
from paimonlab.secrets import hides_secrets, is_secret, without_credentials

DEFAULT = "default"
"""The connection that a statement makes if there is none."""
Engine = Literal["spark", "native", "auto"]
ENGINES: tuple[Engine, ...] = ("spark", "native", "auto")
VARIABLES = {
    "PAIMONLAB_WAREHOUSE": "warehouse",
    "PAIMONLAB_ENGINE": "engine",
    "PAIMONLAB_CATALOG": "catalog",
    "PAIMONLAB_REMOTE": "remote",
}
_PLACES = ("PAIMONLAB_WAREHOUSE", "PAIMONLAB_REMOTE")
"""Those whose values are kept as references: nothing that lists settings shows them."""

_REFERENCE = re.compile(r"\$\{(\w+)\}")


class SettingsError(PaimonError):
    """A configured connection cannot be read; names the file and what is wrong in it."""


@hides_secrets
@dataclass(frozen=True, slots=True)
class Setting:
    """A connection that is configured."""

    options: Mapping[str, str]
    """Paimon's catalog options, ``warehouse`` among them, as they are written."""
    engine: Engine = "spark"
    catalog: str | None = None
    remote: str | None = None
    """Address of a Spark Connect server, as it is written; None: Spark runs here."""

    @property
    def is_from_environment(self) -> bool:
        """Whether a variable of `VARIABLES` says where it is."""
        places = {f"${{{name}}}" for name in _PLACES}
        return self.remote in places or self.options.get("warehouse") in places

    @property
    def place(self) -> str:
        """Where it is, as it may be shown."""
        if "warehouse" in self.options:
            return without_credentials(self.options["warehouse"])
        return without_credentials((self.remote or "").partition(";")[0])

    def resolved(self) -> dict[str, str]:
        """Return the options with environment variables in place of references.

        Raises
        ------
        SettingsError
            If a variable is not set.
        """
        return {key: _resolved(key, value) for key, value in self.options.items()}

    def resolved_remote(self) -> str | None:
        """Return the address of the server, likewise; None if there is none.

        Raises
        ------
        SettingsError
            If a variable is not set.
        """
        return None if self.remote is None else _resolved("remote", self.remote)


def engine_at_hand() -> Engine:
    """Return the engine where none was asked for: Spark, unless PySpark is not installed."""
    return "native" if find_spec("pyspark") is None else "spark"


def engine_of(text: str) -> Engine:
    """Check the name of an engine.

    Raises
    ------
    ValueError
        If there is no such engine.
    """
    for engine in ENGINES:
        if text == engine:
            return engine
    raise ValueError(f"engine must be {', '.join(ENGINES[:-1])} or {ENGINES[-1]}, got {text!r}")


def read() -> dict[str, Setting]:
    """Read all configured connections.

    Raises
    ------
    SettingsError
        If a file cannot be read, a value is not text, or a secret is in plain text.
    """
    by_name: dict[str, dict[str, str]] = {}
    for source, tables in _documents():
        for name, table in tables.items():
            by_name.setdefault(name, {}).update(_texts(source, name, table))
    from_environment = {
        key: f"${{{name}}}" if name in _PLACES else os.environ[name]
        for name, key in VARIABLES.items()
        if os.environ.get(name)
    }
    if from_environment:
        by_name.setdefault(DEFAULT, {}).update(from_environment)
    return {name: _setting(name, values) for name, values in by_name.items()}


def _documents() -> Iterator[tuple[Path, Mapping[str, Any]]]:
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    own = home / "paimonlab" / "config.toml"
    if own.is_file():
        yield own, _toml(own)
    current = Path.cwd()
    for folder in (current, *current.parents):
        project = folder / "pyproject.toml"
        if project.is_file():
            yield project, _toml(project).get("tool", {}).get("paimonlab", {})
            return


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def _texts(source: Path, name: str, table: Any) -> dict[str, str]:
    where = f"[{name}] of {source}"
    if not isinstance(table, dict):
        raise SettingsError(f"{source}: {name} must be in a table such as [{DEFAULT}]")
    texts = {}
    for key, value in _flat(table):
        if not isinstance(value, str | int | bool):
            raise SettingsError(f"{where}: {key} must be text")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        for part, written in [(key, text), *_parameters(key, text)]:
            if is_secret(part) and not _REFERENCE.fullmatch(written):
                raise SettingsError(
                    f"{where}: {part} is a secret in plain text; write ${{NAME}} there "
                    "and set the environment variable NAME"
                )
        texts[key] = text
    return texts


def _parameters(key: str, text: str) -> list[tuple[str, str]]:
    """Return what an address carries: each parameter may be a secret, and who connects has one.

    Addresses are ``sc://host/;token=…`` and ``jdbc:mysql://user:password@host/d?password=…``.
    """
    if key == "remote":
        pairs = (part.partition("=") for part in text.split(";")[1:])
        return [(f"{key};{name.strip()}", value.strip()) for name, _, value in pairs]
    if key != "uri":
        return []
    place, _, query = text.partition("?")
    user, at, _ = place.partition("//")[2].rpartition("@")
    password = user.partition(":")[2] if at else ""
    found = [(f"{key} password", password)] if password else []
    given = (part.partition("=") for part in query.split("&"))
    return [*found, *((f"{key}?{name}", value) for name, _, value in given if value)]


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys: in TOML ``fs.s3a.endpoint = …`` is a table in a table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _resolved(key: str, value: str) -> str:
    def variable(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise SettingsError(f"{key} is {match[0]}, but the environment variable is not set")
        return os.environ[match[1]]

    return _REFERENCE.sub(variable, value)


def _setting(name: str, values: dict[str, str]) -> Setting:
    options = dict(values)
    remote = options.pop("remote", None)
    engine = options.pop("engine", "spark" if remote is not None else engine_at_hand())
    catalog = options.pop("catalog", None)
    if "warehouse" not in options and (options or remote is None):
        close = close_matches("warehouse", options)
        raise SettingsError(f"the connection {name} has no warehouse.{close}")
    try:
        return Setting(options, engine_of(engine), catalog, remote)
    except ValueError as error:
        raise SettingsError(f"the connection {name}: {error}") from error
