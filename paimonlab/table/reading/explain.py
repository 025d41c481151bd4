"""What a scan will read, and what was pruned on the way."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct

from paimonlab.scan.plan import Plan
from paimonlab.secrets import without_secret_values
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.visible_text import visible


class Explain(Struct, frozen=True):
    """Facts about a planned read, as text (``print``) and as HTML (notebooks)."""

    facts: tuple[tuple[str, str], ...]
    """Label and value, in order."""

    def __str__(self) -> str:
        facts = [(visible(label), visible(value)) for label, value in self.facts]
        width = max(len(label) for label, _ in facts)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in facts)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(visible(label))}</th><td>{escape(visible(value))}</td></tr>"
            for label, value in self.facts
        )
        return f"<table>{rows}</table>"


def explain(
    plan: Plan,
    schema: TableSchema,
    columns: Sequence[str],
    predicate: Predicate | None,
    *,
    table: str,
) -> Explain:
    """Tell about a planned read.

    Parameters
    ----------
    plan
        The plan.
    schema, columns, predicate
        What is read.
    table
        Its name.
    """
    raw = sum(split.raw_convertible for split in plan.splits)
    return Explain(
        (
            ("table", table),
            ("snapshot", "none" if plan.snapshot is None else str(plan.snapshot.id)),
            ("schema", str(schema.id)),
            ("columns", ", ".join(columns)),
            ("filter", "none" if predicate is None else without_secret_values(str(predicate))),
            *((label, str(count)) for label, count in plan.funnel()),
            ("splits", f"{len(plan.splits)}, {raw} without merging"),
            ("bytes", str(sum(split.size_bytes for split in plan.splits))),
        )
    )
