"""The first line of ``%%paimon`` and the line of ``%paimon``: options first, then SQL as it is."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from typing import get_args

from paimonlab.errors import close_matches
from paimonlab.notebook.cell.plan_modes import Explained
from paimonlab.notebook.cell.statements import QUERY_WORDS
from paimonlab.notebook.cell.stream_statement import OutputMode
from paimonlab.notebook.cell.wrong_use import wrong_use

_TARGET = re.compile(r"\s*([^\W\d]\w*)\s*(=?)\s*<<(?=\s|$)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(|b|kb|mb|gb)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3}
_WORD = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[^\s"'])+)""")
MOST_PLOT_COLUMNS = 2
OPTIONS = {
    "-o": "name",
    "--engine": "name",
    "--limit": "rows",
    "--max-bytes": "bytes",
    "--as-of": "snapshot",
    "--view": "name",
    "--to": "file",
    "--params": "list",
    "--all": "",
    "--lazy": "",
    "--yes": "",
    "--explain": "",
    "--explain-params": "",
    "--dry-run": "",
    "-j": "",
    "--jinja": "",
    "--show-sql": "",
    "--profile": "",
    "--plot": "kind x y",
    "--by": "column",
    "--show-code": "",
    "--stream": "",
    "--checkpoint": "folder",
    "--once": "",
    "--no-progress": "",
    "--help": "",
}
"""Each option and what its value is; empty if it takes none."""


@dataclass(frozen=True, slots=True)
class SqlLine:
    """What the options of a line say."""

    target: str | None = None
    """Variable that gets the result."""
    is_silent: bool = False
    """Nothing is shown."""
    limit: int | None = None
    """Rows fetched of a query; 0: all; None: not given."""
    max_bytes: int | None = None
    """Rows are kept while they take no more than this; None: no limit."""
    engine: str | None = None
    """``spark``, ``native`` or ``auto``; None: as the connection says."""
    as_of: int | str | None = None
    """Snapshot, tag or moment at which tables are read; None: now."""
    view: str | None = None
    """Temporary view that gets the query of the last statement."""
    to: str | None = None
    """File that gets all rows of the last statement."""
    plot: tuple[str, ...] | None = None
    """Kind of a plot of the last query, x, and y if there is one."""
    by: str | None = None
    """Column whose values are series of the plot."""
    params: str | None = None
    """Name of the list whose values take the place of each ``?``, or the list itself."""
    explained: Explained = "formatted"
    """How ``--explain`` writes Spark's plan."""
    output_mode: OutputMode | None = None
    """How ``--stream`` writes rows; None: as the statement says."""
    checkpoint: str | None = None
    """Folder in which a stream remembers what was read."""
    flags: frozenset[str] = frozenset()
    """Options without a value that were given, as ``--lazy``."""
    given: frozenset[str] = field(default=frozenset(), compare=False)
    """All options that were given."""
    sql: str = ""
    """What follows the options, untouched."""


def parse(line: str) -> SqlLine:
    """Read options until the first word that is not one; ``--`` ends them.

    Raises
    ------
    UsageError
        If an option is unknown, lacks its value or has a wrong one.

    Examples
    --------
    >>> parse("--limit 5 SELECT -1 --limit 3").sql
    'SELECT -1 --limit 3'
    """
    parsed = SqlLine()
    while True:
        if match := _TARGET.match(line):
            parsed = replace(parsed, target=match[1], is_silent=not match[2])
            line = line[match.end() :]
            continue
        match = _WORD.match(line)
        word = match[1] if match else ""
        if match is None or not word.startswith("-"):
            return _checked(replace(parsed, sql=line.lstrip()))
        line = line[match.end() :]
        if word == "--":
            return _checked(replace(parsed, sql=line.lstrip()))
        parsed, line = _option(parsed, word, line)


def parse_first(line: str) -> SqlLine:
    """Read the first line of a cell, which contains options only.

    Raises
    ------
    UsageError
        If it contains anything else.
    """
    parsed = parse(line)
    if parsed.sql:
        word, *others = parsed.sql.split()
        named = f" `{word} <<` keeps the result." if word.isidentifier() and not others else ""
        raise wrong_use(
            f"{word!r} is not an option of %%paimon; SQL begins on the second line.{named}"
            f"{close_matches(word, OPTIONS)}",
            "sql",
        )
    return parsed


_OF_RUNS = ("--limit", "--max-bytes", "--yes", "--to", "--all", "--lazy", "--view")
_EXCLUDE = {
    "--lazy": ("--to", "--all", "--engine"),
    "--all": ("--to", "--profile", "--plot"),
    "--explain-params": (
        *_OF_RUNS,
        "--engine",
        "--as-of",
        "--dry-run",
        "--explain",
        "--no-progress",
    ),
    "--dry-run": _OF_RUNS,
    "--explain": _OF_RUNS,
    "--stream": (
        *("--max-bytes", "--yes", "--to", "--all", "--lazy", "--view", "--as-of", "--plot"),
        "--engine",
        *("--profile", "--dry-run", "--explain", "--explain-params"),
    ),
}
"""Options that cannot be combined with another one."""


def _checked(parsed: SqlLine) -> SqlLine:
    for option, others in _EXCLUDE.items():
        for other in others:
            if option in parsed.given and other in parsed.given:
                raise wrong_use(f"{other} cannot be combined with {option}", "sql")
    return parsed


def _option(parsed: SqlLine, word: str, line: str) -> tuple[SqlLine, str]:
    name, has_value, value = word.partition("=")
    if name not in OPTIONS:
        raise wrong_use(
            f"unknown option {name}.{close_matches(name, OPTIONS)} "
            f"%paimon has {', '.join(OPTIONS)}; -- ends the options.",
            "sql",
        )
    if name == "--explain":
        return _explained(parsed, value, line)
    if name == "--stream":
        return _streamed(parsed, value, line)
    if not OPTIONS[name]:
        if has_value:
            raise wrong_use(f"{name} takes no value", "sql")
        parsed = replace(parsed, given=parsed.given | {name})
        return _with_flag(parsed, name), line
    if not has_value:
        match = _WORD.match(line)
        if match is None and line.strip():
            raise wrong_use(f"the quote is never closed: {name} {line.strip()}", "sql")
        if match is None:
            raise wrong_use(f"{name} needs a value: {name} {OPTIONS[name].upper()}", "sql")
        value, line = match[1], line[match.end() :]
    parsed = replace(parsed, given=parsed.given | {name})
    if name == "--plot":
        columns, line = _columns(line)
        return replace(parsed, plot=(_bare(name, value), *columns)), line
    return _with_value(parsed, name, _bare(name, value)), line


def _bare(name: str, word: str) -> str:
    """Remove quotes from the value of an option."""
    try:
        return "".join(shlex.split(word))
    except ValueError as error:
        raise wrong_use(f"the value of {name} cannot be read, {error}: {word}", "sql") from error


def _explained(parsed: SqlLine, value: str, line: str) -> tuple[SqlLine, str]:
    """Read how a plan is wanted; no SQL begins with one of these words."""
    parsed = _with_flag(replace(parsed, given=parsed.given | {"--explain"}), "--explain")
    match = _WORD.match(line)
    for mode in get_args(Explained):
        if value == mode:
            return replace(parsed, explained=mode), line
        if not value and match and match[1] == mode:
            return replace(parsed, explained=mode), line[match.end() :]
    if value:
        modes = ", ".join(get_args(Explained))
        raise wrong_use(f"--explain takes {modes} or nothing, got {value!r}", "sql")
    return parsed, line


def _streamed(parsed: SqlLine, value: str, line: str) -> tuple[SqlLine, str]:
    """Read how a stream writes; no SQL begins with one of these words."""
    parsed = _with_flag(replace(parsed, given=parsed.given | {"--stream"}), "--stream")
    match = _WORD.match(line)
    for mode in get_args(OutputMode):
        if value == mode:
            return replace(parsed, output_mode=mode), line
        if not value and match and match[1] == mode:
            return replace(parsed, output_mode=mode), line[match.end() :]
    if value:
        modes = ", ".join(get_args(OutputMode))
        raise wrong_use(f"--stream takes {modes} or nothing, got {value!r}", "streams")
    return parsed, line


def _columns(line: str) -> tuple[list[str], str]:
    """Read the columns of a plot: up to two words before another option, a target or SQL.

    Where there are none the result says which.
    """
    columns: list[str] = []
    while len(columns) < MOST_PLOT_COLUMNS and not _TARGET.match(line):
        match = _WORD.match(line)
        word = match[1] if match else ""
        is_sql = word.upper() in QUERY_WORDS or word.startswith("(")
        if match is None or word.startswith("-") or is_sql:
            break
        columns.append(_bare("--plot", word))
        line = line[match.end() :]
    return columns, line


def _with_flag(parsed: SqlLine, name: str) -> SqlLine:
    return replace(parsed, flags=parsed.flags | {name})


def _with_value(  # noqa: PLR0911 - one return an option
    parsed: SqlLine, name: str, value: str
) -> SqlLine:
    match name:
        case "-o":
            return replace(parsed, target=_identifier(name, value, "variable"))
        case "--view":
            return replace(parsed, view=_identifier(name, value, "view"))
        case "--to" | "--by" | "--params" | "--checkpoint":
            return _with_text(parsed, name, value)
        case "--as-of":
            return replace(parsed, as_of=int(value) if value.isdecimal() else value)
        case "--engine":
            return replace(parsed, engine=value)
        case "--max-bytes":
            return replace(parsed, max_bytes=_bytes(value))
    if not value.isdecimal():
        raise wrong_use(f"--limit needs a number of rows, 0 for all, got {value!r}", "limits")
    return replace(parsed, limit=int(value))


def _with_text(parsed: SqlLine, name: str, value: str) -> SqlLine:
    if name == "--to":
        return replace(parsed, to=value)
    if name == "--checkpoint":
        return replace(parsed, checkpoint=value)
    return replace(parsed, by=value) if name == "--by" else replace(parsed, params=value)


def _identifier(option: str, value: str, what: str) -> str:
    if not value.isidentifier():
        raise wrong_use(f"{option} needs the name of a {what}, got {value!r}", "sql")
    return value


def _bytes(value: str) -> int:
    """Read a size: a number, or one with kB, MB or GB, powers of 1,000."""
    match = _SIZE.fullmatch(value)
    if match is None:
        raise wrong_use(f"--max-bytes needs a size such as 500kB or 20MB, got {value!r}", "limits")
    return int(float(match[1]) * _UNITS[match[2].lower()])
