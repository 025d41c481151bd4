"""Rows that the source deleted and the table keeps with a mark, against a dict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paimonlab as pm
from paimonlab.errors import IngestSchemaError
from tests.ingest.drawing import source
from tests.ingest.scripted import ScriptedSource, rows

KEYED = "id BIGINT NOT NULL, v STRING, w STRING NOT NULL KEY(id)"
Row = tuple[str | None, str, bool]


class Model:
    """Rows of the source, and what the table is to have."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.kept: dict[int, Row] = {}
        self._there: dict[int, tuple[str | None, str]] = {}
        self._rng = rng

    def drawn(self, number: int) -> list[str]:
        """Change a row, and say how the source tells it."""
        rng, key = self._rng, int(self._rng.integers(7))
        old = self._there.pop(key, None)
        new = None if rng.random() < 0.3 else f"v{number}", f"w{number}"
        if old is None:
            self._put(key, new)
            return [f"+I {_told(key, new)}"]
        image = _told(key, old)
        if rng.random() < 0.4:
            self.kept[key] = (*old, True)
            return [f"-D {image if rng.random() < 0.5 else f'{key} - -'}"]
        other = int(rng.integers(7))
        if other == key or other in self._there:
            self._put(key, new)
            return [f"-U {image}", f"+U {_told(key, new)}"]
        self.kept[key] = (*old, True)
        self._put(other, new)
        return [f"-U {image}", f"+U {_told(other, new)}"]

    def _put(self, key: int, new: tuple[str | None, str]) -> None:
        self._there[key] = new
        self.kept[key] = (*new, False)


def _told(key: int, row: tuple[str | None, str]) -> str:
    return f"{key} {row[0] or '-'} {row[1]}"


def _rows(catalog: pm.Catalog) -> list[dict[str, Any]]:
    return catalog.table("ods.t").scan().to_arrow().to_pylist()


def test_deleted_rows_keep_their_values_and_get_a_mark(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    model = Model(rng)
    script: list[Any] = [rows("a.t", KEYED, "-D 99 - -")]  # of a row that nobody saw
    for number in range(60):
        script.append(rows("a.t", KEYED, *model.drawn(number)))
        if rng.random() < 0.3:
            script.append("|")
    script.append("|")
    made = ScriptedSource(script, {"a.t": source(KEYED)})
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        made,
        into="ods",
        name="j",
        options={"bucket": 1},
        on_delete="mark:gone",
        max_rows=6,
        computed={"upper": "upper(w)"},
    )
    job.run()

    found = {row["id"]: (row["v"], row["w"], row["gone"]) for row in _rows(catalog)}
    assert found.pop(99) == (None, "", True)
    assert found == model.kept
    assert all(row["upper"] == row["w"].upper() for row in _rows(catalog) if row["id"] != 99)
    assert job.status.epoch > 5, "rows are looked up in what was committed"


def test_what_cannot_be_marked_is_said(tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)

    def job(name: str, drawn: str, **told: Any) -> Any:
        made = ScriptedSource([rows("a.t", drawn, "+I 1 2"), "|"], {"a.t": source(drawn)})
        return catalog.ingest(made, into=name, name=name, on_delete="mark:n", **told)

    with pytest.raises(IngestSchemaError, match="on_delete = 'mark:n': there is a column"):
        job("a", "id BIGINT NOT NULL, n INT KEY(id)").run()
    sums = job("b", "id BIGINT NOT NULL, v INT KEY(id)", options={"merge-engine": "aggregation"})
    with pytest.raises(IngestSchemaError, match="merge-engine = deduplicate: aggregation would"):
        sums.run()
