from __future__ import annotations

from paimonlab.notebook.views.planned.plan_tree import PlanNode, plan_html, plan_nodes
from tests.notebook.display.test_drawing import KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.hostile import strings

FORMATTED = """== Physical Plan ==
AdaptiveSparkPlan (5)
+- Join (4)
   :- Filter (2)
   :  +- Scan (1)
   +- Scan (3)


(1) Scan
Output: a
PushedFilters: []

(2) Filter
Input: a

===== Subqueries =====

Subquery:1 Hosting operator id = 2
* Sort (6)
+- Scan (7)
"""


def outline(nodes: list[PlanNode]) -> list[object]:
    return [[one.text, *outline(one.children)] if one.children else one.text for one in nodes]


def test_operators_hang_on_their_parents() -> None:
    assert outline(plan_nodes(FORMATTED)) == [
        [
            "Physical Plan",
            [
                "AdaptiveSparkPlan (5)",
                ["Join (4)", ["Filter (2)", "Scan (1)"], "Scan (3)"],
            ],
            ["(1) Scan", "Output: a", "PushedFilters: []"],
            ["(2) Filter", "Input: a"],
            "===== Subqueries =====",
            ["Subquery:1 Hosting operator id = 2", ["* Sort (6)", "Scan (7)"]],
        ]
    ]


def test_each_section_of_an_extended_plan_folds() -> None:
    plan = (
        "== Parsed Logical Plan ==\n'Project [*]\n+- 'T [t]\n\n== Analyzed Logical Plan ==\nid: int"
    )

    assert outline(plan_nodes(plan)) == [
        ["Parsed Logical Plan", ["'Project [*]", "'T [t]"]],
        ["Analyzed Logical Plan", "id: int"],
    ]


def test_a_deep_plan_is_drawn() -> None:
    plan = "\n".join(" " * (3 * depth) + "+- Union" for depth in range(3_000))

    assert plan_html(f"== P ==\nUnion\n{plan}").count("<details open>") == 3_001


def test_hostile_texts_are_texts() -> None:
    for hostile in strings():
        page = Page(plan_html(f"== P ==\nProject {hostile}\n+- Scan {hostile}\n\n(1) {hostile}"))
        assert page.tags <= KEPT_TAGS
        assert page.attributes <= {*KEPT_ATTRIBUTES, "open"}
