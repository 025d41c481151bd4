"""Plans of Spark as trees that fold: its text, read by how far lines are indented."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paimonlab.notebook.display.characters import escaped

NODE_CHARACTERS = 2_000
"""A longer line of a plan is truncated."""
_SECTION = re.compile(r"== (.+) ==")
_BRANCH = re.compile(r"(?P<indent>[ :]*)[+:]- ?(?P<text>.*)")
_INDENT = 3
_CHILDREN = '<div style="margin-left:16px">'


@dataclass(slots=True)
class PlanNode:
    """A line of a plan and the lines below it."""

    text: str
    children: list[PlanNode] = field(default_factory=list)


def plan_nodes(plan: str) -> list[PlanNode]:
    r"""Read the text that ``EXPLAIN`` writes.

    Sections (``== Physical Plan ==``) are the outermost nodes, operators are below their
    parents, and the numbered paragraphs of a formatted plan are below their section.

    Examples
    --------
    >>> [section] = plan_nodes("== Physical Plan ==\nProject\n+- Scan\n\n(1) Scan\nOutput: a")
    >>> section.text, [(one.text, [two.text for two in one.children]) for one in section.children]
    ('Physical Plan', [('Project', ['Scan']), ('(1) Scan', ['Output: a'])])
    """
    top: list[PlanNode] = []
    open_nodes: list[PlanNode] = []
    begins, root = True, 1
    for line in plan.split("\n"):
        section = _SECTION.fullmatch(line.strip())
        branch = _BRANCH.fullmatch(line)
        if section:
            open_nodes = [PlanNode(section[1])]
            top.append(open_nodes[0])
            begins = True
        elif not line.strip():
            open_nodes, begins = open_nodes[:1], True
        else:
            # The section is at depth 0, roots at 1; lines without a mark describe a root,
            # or are the root of a tree that has a title.
            if branch:
                depth = root + 1 + len(branch["indent"]) // _INDENT
            else:
                depth = root = 1 if begins else 2
            text = branch["text"] if branch else line.strip()
            open_nodes = open_nodes[: max(depth, 1)]
            node = PlanNode(text)
            (open_nodes[-1].children if open_nodes else top).append(node)
            open_nodes.append(node)
            begins = False
    return top


def plan_html(plan: str) -> str:
    """Draw a plan; nodes with others below them fold."""
    return "".join(_html(plan_nodes(plan)))


def _html(nodes: Sequence[PlanNode]) -> Iterator[str]:
    """Write nodes without recursion: plans of hundreds of unions are deep."""
    stack: list[PlanNode | str] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif node.children:
            yield f"<details open><summary>{_shown(node.text)}</summary>{_CHILDREN}"
            stack.append("</div></details>")
            stack += reversed(node.children)
        else:
            yield f"<div>{_shown(node.text)}</div>"


def _shown(text: str) -> str:
    more = len(text) - NODE_CHARACTERS
    tail = f"… {more:,} more characters" if more > 0 else ""
    return escaped(text[:NODE_CHARACTERS]) + tail
