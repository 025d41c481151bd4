"""Everything that shows names, values or errors, each fed with any text.

A renderer is a function from a text to what is shown of it, by kind of output. `NOT_HERE` says of
all others why they need none; `test_hostile.py` finds what is missing in both.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

import paimonlab
from paimonlab.errors import IngestInterrupted
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.display import html, page, plain
from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.grid import Column, Grid
from paimonlab.notebook.kernel.interruptible import Cancelled
from paimonlab.notebook.results.plotting import bar_picture
from paimonlab.notebook.results.plotting.bar_chart import bar_chart
from paimonlab.notebook.results.plotting.plot import plot_of
from paimonlab.notebook.results.row_files import export
from paimonlab.notebook.views import (
    ConnectionEntry,
    ConnectionList,
    HelpEntry,
    HelpPage,
    ParameterEntry,
    Parameters,
    PlannedCall,
    PlannedChange,
    PlannedQuery,
    PlannedRead,
)
from paimonlab.notebook.views.connections.drawing import draw_connections
from paimonlab.notebook.views.help.drawing import draw_help
from paimonlab.notebook.views.planned import plan_tree
from paimonlab.notebook.views.planned.call_drawing import draw_planned_call
from paimonlab.notebook.views.planned.drawing import draw_planned
from paimonlab.notebook.views.problem.drawing import draw as draw_problem
from paimonlab.notebook.views.statements.drawing import draw_parameters
from paimonlab.table.reading.explain import Explain
from tests.notebook.results.test_result import make

Shown = Mapping[str, str]
"""What is shown, by ``html``, ``svg``, ``markdown``, ``text`` or ``plotly``."""
METHODS = (
    *("_repr_html_", "_repr_markdown_", "_repr_mimebundle_", "_repr_svg_", "_repr_pretty_"),
    *("_repr_latex_", "_repr_json_", "_ipython_display_", "_render_traceback_"),
    *("to_html", "to_markdown", "to_text", "save"),
)
"""By which a front end or a user asks an object to show itself."""


def _drawn(make_view: Callable[[str], Any]) -> Callable[[str], Shown]:
    def shown(text: str) -> Shown:
        view = make_view(text)
        return {
            "html": view.to_html(),
            "text": view.to_text() + repr(view),
            "markdown": view.to_markdown(),
        }

    return shown


def _read(text: str) -> PlannedRead:
    return PlannedRead(
        table=text,
        snapshot_id=1,
        file_count=1,
        all_file_count=1,
        size_bytes=1,
        all_size_bytes=1,
        split_count=1,
        merged_split_count=0,
        level_0_count=0,
        filters=text,
    )


def _planned(text: str) -> Any:
    plan = f"== Physical Plan ==\nProject [{text}]\n+- Scan {text}\n"
    return draw_planned(
        PlannedQuery(sql=text, reads=(_read(text),), plan=plan), is_repeatable=False
    )


def _planned_call(text: str) -> Any:
    change = PlannedChange(action="delete", what=text, name=text, reason=text)
    call = PlannedCall(
        sql=text,
        procedure="compact",
        changes=(change,),
        change_count=1,
        file_count=1,
        size_bytes=1,
        has_unknown_sizes=False,
    )
    return draw_planned_call(call, is_repeatable=False)


def _failed(text: str) -> QueryError:
    cell = f"SELECT `{text}` FROM t"
    statement = split(cell)[0]
    error = QueryError(text, topic="sql", statement=statement, hint=text, condition=text)
    error.__cause__ = ValueError(text)
    return error


def _parameters(text: str) -> Any:
    entry = ParameterEntry(name=text, value=text, type=text, source=text, uses=text)
    return draw_parameters(Parameters(entries=(entry,)))


def _connections(text: str) -> Any:
    entry = ConnectionEntry(
        alias=text, engine=text, catalog=text, warehouse=text, state=text, line=text
    )
    return draw_connections(ConnectionList(connections=(entry,)))


def _help(text: str) -> Any:
    entry = HelpEntry(syntax=text, meaning=text)
    return draw_help(HelpPage(topic=text, entries=(entry,), other_topics=(text,)))


def _result(text: str) -> Any:
    values = {"n": [1], f"x{text}": [text], "list": [[text]], "struct": [{f"f{text}": text}]}
    return make(pa.table(values))


def _rows(text: str) -> pa.Table:
    return pa.table(
        {f"x{text}": [f"a{text}", f"b{text}"], "y": [1.0, 2.0], f"by{text}": [text, "z"]}
    )


def _plot(text: str) -> Shown:
    plot = plot_of(_rows(text), "bar", f"x{text}", "y", by=f"by{text}", notes=[text])
    compile(plot.code, "code of a plot", "exec")  # names stay texts of the Python
    bundle = plot._repr_mimebundle_()
    (figure,) = [value for kind, value in bundle.items() if "plotly" in kind]
    return {
        "html": plot.to_html(),
        "text": plot.to_text(),
        "markdown": plot.to_markdown(),
        "plotly": _labels(figure),
    }


def _chart(text: str) -> Shown:
    chart = bar_chart(
        make(_rows(text)), label=f"x{text}", values={"y": f"series {text}"}, title=f"title {text}"
    )
    bundle = chart._repr_mimebundle_()
    (figure,) = [value for kind, value in bundle.items() if "plotly" in kind]
    return {
        "html": chart.to_html(),
        "text": repr(chart),
        "markdown": chart.to_markdown(),
        "plotly": _labels(figure),
    }


def _labels(figure: dict[str, Any]) -> str:
    """Return every text of a figure that plotly reads markup in; its template has none."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for name, one in value.items():
                if name not in {"template", "bdata"}:
                    walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, str):
            found.append(value)

    walk(figure)
    return "\n".join(found)


def _bars(text: str) -> Shown:
    return {"html": bar_picture.bar_picture(text, [text, "b"], {text: [1.0, 2.0]})}


def _grid(text: str) -> Grid:
    cell = Cell(text)
    other = Cell(text, is_value=False)
    return Grid((Column(text, text), Column("b")), [(cell, other)], caption=text, footer=text)


def _problem(text: str) -> Shown:
    error = _failed(text)
    drawn = draw_problem(error.problem(has_trace=True))
    lines = [*error._render_traceback_(), *error.shown()._render_traceback_(), str(error)]
    told = "".join(drawn.to_text()) + "\n".join(lines)
    return {"html": drawn.to_html(), "text": told, "markdown": drawn.to_markdown()}


def _explain(text: str) -> Shown:
    explained = Explain((("table", text), (text, "1")))
    return {"html": explained._repr_html_(), "text": str(explained) + repr(explained)}


def _exported(text: str) -> Shown:
    """Write rows into a file for other programs."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "rows.md"
        export(pa.table({f"x{text}": [text]}), target)
        return {"markdown": target.read_text(encoding="utf-8")}


def _page(text: str) -> Shown:
    return {"page": page.page(text, html.table(_grid(text)), None)}


RENDERERS: dict[str, Callable[[str], Shown]] = {
    "result": _drawn(_result),
    "planned": _drawn(_planned),
    "planned_call": _drawn(_planned_call),
    "parameters": _drawn(_parameters),
    "connections": _drawn(_connections),
    "help": _drawn(_help),
    "problem": _problem,
    "plan_tree": lambda text: {"html": plan_tree.plan_html(f"== {text} ==\n{text}\n+- {text}\n")},
    "plot": _plot,
    "chart": _chart,
    "bar_picture": _bars,
    "grid": lambda text: {
        "html": html.table(_grid(text)),
        "markdown": plain.markdown(_grid(text)),
        "text": plain.text(_grid(text)),
    },
    "lines": lambda text: {"html": html.lines([text, text])},
    "page": _page,
    "explain": _explain,
    "cancelled": lambda text: {"text": "\n".join(Cancelled(text)._render_traceback_())},
    "interrupted": lambda text: {
        "text": "\n".join(IngestInterrupted(text, 7)._render_traceback_())
    },
    "rows as .md": _exported,
}
"""Everything static, beside the interactive views of `hostile_views.VIEWS`."""

DRAWING = {
    **dict.fromkeys(("problem.draw",), "problem"),
    "connections.draw_connections": "connections",
    "planned.draw_planned": "planned",
    "planned.draw_planned_call": "planned_call",
    "statements.draw_parameters": "parameters",
    "help.draw_help": "help",
}
"""Functions that draw what has no interactive form, by the renderer that calls them."""
CLASSES = {
    "paimonlab.notebook.results.plotting.bar_chart.Chart": "chart",
    "paimonlab.notebook.results.plotting.bar_chart.Rows": "a protocol",
    "paimonlab.notebook.kernel.interruptible.Cancelled": "cancelled",
    "paimonlab.errors.IngestInterrupted": "interrupted",
    "paimonlab.notebook.results.plotting.plot.Plot": "plot",
    "paimonlab.notebook.cell.query_error.QueryError": "problem",
    "paimonlab.notebook.results.result.Result": "result",
    "paimonlab.table.reading.explain.Explain": "explain",
    "paimonlab.notebook.display.drawn.Drawn": "planned",
    "paimonlab.notebook.results.cell_results.Results": "result",
    "paimonlab.notebook.kernel.widget.ViewWidget": "the views",
    "paimonlab.notebook.views.ingest.command.Following": "the views",
    "paimonlab.notebook.views.watch.command.Watching": "the views",
    "paimonlab.notebook.display.view.View": "a protocol",
    "paimonlab.notebook.kernel.widget.Shown": "a protocol",
    "paimonlab.write.key_places.kept.KeptPlaces": "data",
}
"""Classes that show themselves, by the renderer that does it; `Results` shows each `Result`."""


def classes_that_show_themselves() -> Iterator[str]:
    """Find all of the package that a front end or a user can ask to show themselves."""
    for found in pkgutil.walk_packages(paimonlab.__path__, "paimonlab."):
        if "labextension" in found.name or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, one in inspect.getmembers(module, inspect.isclass):
            if one.__module__ == found.name and set(METHODS) & set(vars(one)):
                yield f"{found.name}.{name}"


def drawing_functions() -> Iterator[str]:
    """Find every function of the notebook that draws a value, each by the kind of its view."""
    package = importlib.import_module("paimonlab.notebook")
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        folder = found.name.split(".")[-2]
        kind = "result" if folder == "table" else folder
        for name, one in inspect.getmembers(module, inspect.isfunction):
            is_own = one.__module__ == module.__name__
            if is_own and (name == "draw" or name.startswith("draw_")):
                yield f"{kind}.{name}"
