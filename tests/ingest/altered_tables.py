"""Tables of a server that are altered in each way while jobs of each mode follow them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import paimonlab as pm
from paimonlab.ingest.job import Job
from paimonlab.spec.types.text import format_type
from tests.repetitions import times
from tests.waiting import until

_TEXT = (Path(__file__).parents[1] / "cases" / "ingest_altered_tables.txt").read_text("utf-8")
_CASES = re.findall(
    r"(?ms)^(\S[^\n]*)\n(.*?)^----\n(.*?)(?=^\S|\Z)", re.sub(r"\A(#.*\n|\s*\n)*", "", _TEXT)
)
assert len(_CASES) > 10
Mode: TypeAlias = Literal["lenient", "exact", "strict"]
MODES: tuple[Mode, ...] = "lenient", "exact", "strict"


def moments(*, first: bool) -> list[bool]:
    """Return whether jobs run while tables are altered; both ways if tests are to draw more."""
    return [first, not first][: times(1)]


def check(
    catalog: pm.Catalog,
    job: Callable[[Mode], Job],
    run: Callable[[list[str]], object],
    retype: str,
    *,
    while_running: bool,
    tells: str = "",
) -> None:
    """Alter tables, and compare what jobs make of them with what is expected.

    Parameters
    ----------
    job
        Makes the job that reads tables ``k…`` in a mode, into a database of its name.
    run
        Runs statements on the server.
    retype
        How the server gives ``{column}`` the type ``{type}``.
    while_running
        Whether jobs run meanwhile; else all comes at once when they run again.
    tells
        ``told``: the log of the server tells which columns were renamed and dropped;
        ``numbered``: columns have numbers.
    """
    run([text for number in range(len(_CASES)) for text in _begin(number)])
    jobs = {mode: job(mode) for mode in MODES}
    for one in jobs.values():
        one.run()
    later = [text for number in range(len(_CASES)) for text in _alter(number, retype)]
    last = len(_CASES)
    later += [f"INSERT INTO k VALUES ({last})"]
    if while_running:
        for one in jobs.values():
            one.start()
        run(later)
        for mode, one in jobs.items():
            until(lambda mode=mode: catalog.table(f"{mode}.k").scan().to_arrow().num_rows)  # type: ignore[misc]
            one.stop()
    else:
        run(later)
        for one in jobs.values():
            one.run()
    compare(catalog, jobs, range(len(_CASES)), tells=tells)


def compare(
    catalog: pm.Catalog, jobs: Mapping[Mode, Job], numbers: Iterable[int], *, tells: str = ""
) -> None:
    """Compare tables of some cases with what is expected of them."""
    for number in numbers:
        title, _, expected = _CASES[number]
        wanted = dict(re.findall(r"(?m)^  (\w+(?: told| numbered)?) (.*?) *$", expected))
        for mode, one in jobs.items():
            said = wanted.get(f"{mode} {tells}") or wanted[mode]
            assert _drawn(catalog, one, f"{mode}.k{number}") == said, (mode, title)


def without_lengths() -> list[int]:
    """Return the cases whose types need none, as of formats that have none."""
    return [number for number, (*_, expected) in enumerate(_CASES) if "(" not in expected]


def steps_of(number: int) -> list[tuple[str, str]]:
    """Return what the case says is done: verbs and the rest."""
    lines = [line.strip() for line in _CASES[number][1].strip().splitlines()]
    return [(verb, rest) for verb, _, rest in (line.partition(" ") for line in lines)]


def _begin(number: int) -> Iterator[str]:
    (_, rest), *_ = steps_of(number)
    kind, _, value = rest.partition(" = ")
    if number == 0:
        yield "CREATE TABLE k (id int PRIMARY KEY)"
    yield f"CREATE TABLE k{number} (id int PRIMARY KEY, a {kind})"
    yield f"INSERT INTO k{number} VALUES (1, {value})"


def _alter(number: int, retype: str) -> Iterator[str]:
    key = 1
    for verb, rest in steps_of(number)[1:]:
        if verb == "row":
            key += 1
            yield f"INSERT INTO k{number} VALUES ({', '.join(filter(None, (str(key), rest)))})"
        elif rest.startswith("retype"):
            _, column, kind = rest.split(" ", 2)
            yield f"ALTER TABLE k{number} {retype.format(column=column, type=kind)}"
        else:
            yield f"ALTER TABLE k{number} {rest}"


def _drawn(catalog: pm.Catalog, job: Job, name: str) -> str:
    table = catalog.table(name)
    columns = [f"{one.name} {format_type(one.type)}" for one in table.schema.fields[1:]]
    rows = sorted(table.scan().to_arrow().to_pylist(), key=lambda row: int(row["id"]))
    values = [
        " ".join("-" if value is None else str(value) for value in list(row.values())[1:])
        for row in rows
    ]
    (status,) = (one for one in job.status.tables if one.name == name)
    stops = "stops " if status.stopped is not None else ""
    if stops or columns != ["a INT"]:
        told = [event.kind for event in job.events if event.table == name]
        assert {"altered", "stopped", "note"} & {*told}, told
    return f"{stops}{', '.join(columns)}: {', '.join(values)}".strip()
