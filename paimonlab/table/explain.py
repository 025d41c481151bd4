"""What a scan will read, and what was pruned on the way."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paimonlab.table.scan import Scan


@dataclass(frozen=True, slots=True)
class Explain:
    """Facts about a planned read, as text (``print``) and as HTML (notebooks)."""

    facts: tuple[tuple[str, str], ...]
    """Label and value, in order."""

    def __str__(self) -> str:
        width = max(len(label) for label, _ in self.facts)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in self.facts)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>"
            for label, value in self.facts
        )
        return f"<table>{rows}</table>"


def explain(scan: Scan) -> Explain:
    """Plan a scan and tell about it."""
    plan = scan.plan()
    raw = sum(split.raw_convertible for split in plan.splits)
    facts = [
        ("table", scan.parts.name),
        ("snapshot", "none" if scan.snapshot is None else str(scan.snapshot.id)),
        ("schema", str(scan.schema.id)),
        ("columns", ", ".join(scan.columns)),
        ("filter", "none" if scan.predicate is None else str(scan.predicate)),
        *((label, str(value)) for label, value in plan.funnel()),
        ("splits", f"{len(plan.splits)}, {raw} without merging"),
        ("bytes", str(sum(split.size_bytes for split in plan.splits))),
    ]
    return Explain(tuple(facts))
