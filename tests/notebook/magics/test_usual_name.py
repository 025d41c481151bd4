"""``%%sql`` is ``%%paimon`` where no other extension has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class

from paimonlab import notebook
from paimonlab.notebook.completion.completion import offered_at


@magics_class
class Theirs(Magics):
    @line_cell_magic
    def sql(self, _line: str, _cell: str | None = None) -> str:
        """Answer as another extension."""
        return "theirs"


def completions(shell: InteractiveShell) -> Mapping[str, Any]:
    cell = "%%sql\nSELECT * FROM demo.or"
    return offered_at(shell, cell, len(cell))


def test_sql_is_run_under_its_usual_name(shell: InteractiveShell, tmp_path: Path) -> None:
    notebook.demo(tmp_path)
    notebook.connect(tmp_path, engine="native", catalog="shop")
    shell.user_ns["dt"] = "{dt}"  # kept as it is: SQL may have braces

    shell.run_cell("%%sql x <<\nSELECT count(*) AS n, '{dt}' AS t FROM demo.orders").raise_error()
    shell.run_cell("y = %sql SELECT 1 AS a").raise_error()

    (row,) = shell.user_ns["x"].to_arrow().to_pylist()
    assert row["n"] > 0
    assert row["t"] == "{dt}"
    assert shell.user_ns["y"].to_arrow().to_pydict() == {"a": [1]}
    assert [item["text"] for item in completions(shell)["items"]] == ["demo.orders"]


def test_the_magic_of_another_extension_stays(shell: InteractiveShell, tmp_path: Path) -> None:
    notebook.demo(tmp_path)
    shell.register_magics(Theirs)  # as %load_ext does

    notebook.load_ipython_extension(shell)  # as %reload_ext paimonlab does

    assert shell.run_cell_magic("sql", "", "SELECT 1") == "theirs"
    assert completions(shell)["items"] == []
