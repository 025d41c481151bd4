"""Jobs that are written in a YAML file: checked as a whole, with the line of what is wrong.

Every key must be known, and values have the types that `paimonlab.ingest` takes. Secrets are not
written there: ``${NAME}`` in a value is the environment variable ``NAME``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from paimonlab.catalog import Catalog, connect
from paimonlab.errors import PaimonError, UnsupportedError, close_matches
from paimonlab.ingest.described_sources import (
    READING,
    SERVERS,
    Place,
    WordError,
    described_source,
)
from paimonlab.ingest.job import ingest
from paimonlab.ingest.statements import SaidJob
from paimonlab.secrets import is_secret

_REFERENCE = re.compile(r"\$\{(\w+)\}")
_DEEPEST = 20


class JobFileError(PaimonError, ValueError):
    """A file that does not describe a job.

    Parameters
    ----------
    file
        Its path.
    line
        Of what is wrong, from 1.
    key
        Which key, with those around it: ``source.user``; empty: the file as a whole.
    problem
        What is wrong, and what to do.
    """

    def __init__(self, file: str, line: int, key: str, problem: str) -> None:
        self.file = file
        self.line = line
        self.key = key
        self.problem = problem
        super().__init__(file, line, key, problem)

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        return f"{self.file}, line {self.line}: {key}{self.problem}"


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of the file, and where it is."""

    line: int
    key: str
    value: Any
    """A text, number, truth value or None; a list of `_Value`; or a dict of them."""

    def plain(self) -> Any:
        """Return it without places."""
        if isinstance(self.value, dict):
            return {key: one.plain() for key, one in self.value.items()}
        if isinstance(self.value, list):
            return [one.plain() for one in self.value]
        return self.value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("a text is wanted")


def _span(value: Any) -> str | float:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    raise ValueError("a time is wanted: seconds, or '10 s'")


def _size(value: Any) -> str | int:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return value
    raise ValueError("a size is wanted: bytes, or '256 mb'")


def _count(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("a whole number is wanted")


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("true or false is wanted")


def _texts(value: Any) -> list[str]:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    raise ValueError("a list of texts is wanted: [a, b]")


def _columns(value: Any) -> list[str] | dict[str, list[str]]:
    if isinstance(value, dict):
        return {name: _texts(one) for name, one in value.items()}
    return _texts(value)


def _by_database(value: Any) -> str | dict[str, str]:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return value
    raise ValueError("a text is wanted, or texts by database of the source")


def _names(value: Any) -> str | dict[str, str]:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return value
    raise ValueError("names by name are wanted, or the one table that all become")


def _computed(value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and all(
        isinstance(one, str)
        or (isinstance(one, dict) and all(isinstance(text, str) for text in one.values()))
        for one in value.values()
    ):
        return value
    raise ValueError("functions by column are wanted, or those by table")


def _options(value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and all(
        isinstance(one, str | int | float | bool) for one in value.values()
    ):
        return value
    raise ValueError("values by option are wanted")


def _options_of_tables(value: Any) -> dict[str, dict[str, Any]]:
    if isinstance(value, dict):
        return {pattern: _options(one) for pattern, one in value.items()}
    raise ValueError("options by a pattern of names are wanted")


def _until(value: Any) -> str | float:
    return value if value in ("caught-up", "stopped") else _span(value)


_Taken: TypeAlias = Mapping[str, Callable[[Any], Any]]

_JOB: _Taken = {
    "name": _text,
    "into": _text,
    "until": _until,
    "interval": _span,
    "max_bytes": _size,
    "max_rows": _count,
    "max_dead": _count,
    "max_stall": _span,
    "tags": _count,
    "evolve": _text,
    "on_truncate": _text,
    "on_delete": _text,
    "on_error": _text,
    "state": _text,
    "engine": _text,
}
_TABLES: _Taken = {
    "names": _names,
    "prefix": _by_database,
    "suffix": _by_database,
    "including": _text,
    "excluding": _text,
    "merge_shards": _flag,
    "shard_columns": _texts,
    "primary_keys": _columns,
    "partition_keys": _columns,
    "computed": _computed,
    "metadata": _columns,
    "options": _options_of_tables,
}
_CATALOG: _Taken = {"warehouse": _text, "options": _options}
_SECTIONS = ("catalog", "job", "source", "tables", "options")
_OF_FLINK = {
    "sink": "use catalog: with warehouse:, and job: with into:",
    "route": "use tables: with names:, prefix: and suffix:",
    "transform": "use tables: with computed:, primary_keys: and partition_keys:",
    "pipeline": "use job:, with name: and interval:",
}
"""Sections of Flink CDC's files."""


def job_from_file(path: str | os.PathLike[str], catalog: Catalog | None = None) -> SaidJob:
    """Make the job that a YAML file describes; nothing is read of its source before it runs.

    Parameters
    ----------
    path
        Of the file. Paths in it are from where the process is.
    catalog
        Where its tables will be; None: as ``catalog`` in the file says.

    Raises
    ------
    JobFileError
        If the file cannot be read, or something in it is wrong; names the line and the key.
    UnsupportedError
        If something is not implemented.
    """
    file = os.fspath(path)
    sections = _sections(file)
    found = catalog if catalog is not None else _catalog(file, sections)
    job = _checked(file, "job", sections.get("job"), _JOB, needed=("name", "into"))
    tables = _checked(file, "tables", sections.get("tables"), _TABLES)
    words = {**job, **tables}
    until = words.pop("until", None)
    if "options" in words:
        words["table_options"] = words.pop("options")
    if "names" in words:
        words["table_names"] = words.pop("names")
    options = sections.get("options")
    if options is not None:
        words["options"] = _taken(file, options, _options)
    source = _source(file, sections, found)
    try:
        made = ingest(found, source, **words)
    except (PaimonError, ValueError, TypeError) as error:
        raise _placed(file, error, sections) from error
    return SaidJob(made, None if until in (None, "stopped") else until)


def warehouse_in(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file says where the warehouse is."""
    return "catalog" in _sections(os.fspath(path))


def _sections(file: str) -> dict[str, _Value]:
    root = _read(file)
    if not isinstance(root.value, dict):
        raise JobFileError(file, root.line, "", f"sections are wanted: {', '.join(_SECTIONS)}")
    for name, one in root.value.items():
        if name in _OF_FLINK:
            raise UnsupportedError(f"{file}, line {one.line}: {name} of Flink CDC", _OF_FLINK[name])
        if name not in _SECTIONS:
            close = close_matches(name, _SECTIONS)
            raise JobFileError(file, one.line, name, f"sections are {', '.join(_SECTIONS)}.{close}")
    for name in ("job", "source"):
        if name not in root.value:
            raise JobFileError(file, root.line, name, "it is missing")
    return root.value


def _catalog(file: str, sections: Mapping[str, _Value]) -> Catalog:
    section = sections.get("catalog")
    if section is None:
        raise JobFileError(file, 1, "catalog", "it is missing: say where the warehouse is")
    given = _checked(file, "catalog", section, _CATALOG)
    options = {name: _as_option(one) for name, one in given.get("options", {}).items()}
    if "warehouse" in given:
        options["warehouse"] = given["warehouse"]
    try:
        return connect(options)
    except (PaimonError, ValueError) as error:
        raise _placed(file, error, {"catalog": section}) from error


def _as_option(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _source(file: str, sections: Mapping[str, _Value], catalog: Catalog) -> Any:
    section = sections["source"]
    values = _mapping(file, section)
    kind = values.get("type")
    kinds = [*SERVERS]
    if kind is None or kind.value not in SERVERS:
        line = section.line if kind is None else kind.line
        given = "" if kind is None else f", not {kind.value!r}"
        close = "" if kind is None else close_matches(str(kind.value), kinds)
        raise JobFileError(
            file, line, "source.type", f"it is one of {', '.join(kinds)}{given}.{close}"
        )
    chosen = str(kind.value)
    of_server, of_reading = SERVERS[chosen], READING[chosen]
    known = {**of_server, **of_reading}
    taken = {}
    for name, one in values.items():
        if name == "type":
            continue
        if name not in known:
            raise _unknown(file, one, chosen, known)
        taken[name] = _taken(file, one, known[name])
    place = Place(kind=chosen, words={name: taken.pop(name) for name in of_server if name in taken})
    try:
        return described_source(place, taken, catalog)
    except WordError as error:
        at = values.get(error.word, section)
        raise JobFileError(file, at.line, f"source.{error.word}", error.problem) from None
    except (PaimonError, ValueError, TypeError) as error:
        raise _placed(file, error, values) from error


def _unknown(file: str, one: _Value, kind: str, known: Mapping[str, object]) -> JobFileError:
    name = one.key.rpartition(".")[2]
    if is_secret(name):
        problem = "a secret is not written here: password_env names an environment variable"
    else:
        problem = f"{kind} takes {', '.join(known)}.{close_matches(name, known)}"
    return JobFileError(file, one.line, one.key, problem)


def _placed(file: str, error: Exception, values: Mapping[str, _Value]) -> PaimonError:
    """Say where in the file the cause of an error is."""
    at = _blamed(str(error), values)
    if isinstance(error, UnsupportedError):
        return UnsupportedError(f"{file}, line {at.line}: {at.key}: {error.feature}", error.reason)
    return JobFileError(file, at.line, at.key, str(error))


def _blamed(problem: str, values: Mapping[str, _Value]) -> _Value:
    """Return the value that an error is most likely about: the last one that it names."""
    found = None
    for one in _all(values):
        name = one.key.rpartition(".")[2]
        if re.search(rf"\b{re.escape(name)}\b", problem) or (
            isinstance(one.value, str) and one.value and repr(one.value) in problem
        ):
            found = one
    return found or next(iter(values.values()))


def _all(values: Mapping[str, _Value]) -> Iterator[_Value]:
    for one in values.values():
        yield one
        if isinstance(one.value, dict):
            yield from _all(one.value)
        if isinstance(one.value, list):
            yield from one.value


def _mapping(file: str, section: _Value) -> dict[str, _Value]:
    if not isinstance(section.value, dict):
        raise JobFileError(file, section.line, section.key, "keys with values are wanted")
    return section.value


def _checked(
    file: str, name: str, section: _Value | None, taken: _Taken, needed: tuple[str, ...] = ()
) -> dict[str, Any]:
    values = {} if section is None else _mapping(file, section)
    line = 1 if section is None else section.line
    for key, one in values.items():
        if key not in taken:
            close = close_matches(key, taken)
            raise JobFileError(file, one.line, one.key, f"{name} takes {', '.join(taken)}.{close}")
    for key in needed:
        if key not in values:
            raise JobFileError(file, line, f"{name}.{key}", "it is missing")
    return {key: _taken(file, one, taken[key]) for key, one in values.items()}


def _taken(file: str, one: _Value, taken: Callable[[Any], Any]) -> Any:
    try:
        return taken(one.plain())
    except ValueError as error:
        raise JobFileError(file, one.line, one.key, str(error)) from None


def _read(file: str) -> _Value:
    import yaml  # noqa: PLC0415 - few programs read such a file

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise JobFileError(file, 1, "", f"it cannot be read: {error}") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise JobFileError(
            file, 1 if mark is None else mark.line + 1, "", f"it is not YAML: {problem}"
        ) from error
    if root is None:
        raise JobFileError(file, 1, "", f"it is empty: sections are {', '.join(_SECTIONS)}")
    return _value(file, root, "", 0)


def _value(file: str, node: Any, key: str, depth: int) -> _Value:
    """Turn a node of YAML into a value that knows its line."""
    import yaml  # noqa: PLC0415

    line = node.start_mark.line + 1
    if depth > _DEEPEST:
        raise JobFileError(file, line, key, "it is nested too deeply")
    if isinstance(node, yaml.MappingNode):
        found: dict[str, _Value] = {}
        for name_node, value_node in node.value:
            name = str(name_node.value)
            at = name_node.start_mark.line + 1
            inner = f"{key}.{name}" if key else name
            if not isinstance(name_node, yaml.ScalarNode):
                raise JobFileError(file, at, key, "a key is a text")
            if name in found:
                raise JobFileError(file, at, inner, "it is given twice")
            made = _value(file, value_node, inner, depth + 1)
            found[name] = _Value(at, inner, made.value)
        return _Value(line, key, found)
    if isinstance(node, yaml.SequenceNode):
        return _Value(line, key, [_value(file, one, key, depth + 1) for one in node.value])
    return _Value(line, key, _scalar(file, line, key, node))


def _scalar(file: str, line: int, key: str, node: Any) -> Any:
    """Return a text, number or truth value; what YAML takes for times stays text."""
    kind = node.tag.rpartition(":")[2]
    text = str(node.value)
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if kind in ("int", "float") and ":" not in text:
        try:
            return int(text) if kind == "int" else float(text)
        except ValueError:
            return text
    if (
        is_secret(key.rpartition(".")[2])
        and not key.endswith(("_env", "_file"))
        and not _REFERENCE.fullmatch(text)
    ):
        advice = "write ${NAME}, and set the environment variable NAME"
        if key.startswith("source."):
            advice = "password_env names an environment variable"
        raise JobFileError(file, line, key, f"a secret is not written here: {advice}")

    def variable(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise JobFileError(file, line, key, f"{match[0]} is not in the environment")
        return os.environ[match[1]]

    return _REFERENCE.sub(variable, text)
