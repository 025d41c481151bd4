"""The numbers of ``docs/security.md`` are those of the tests."""

from __future__ import annotations

from pathlib import Path

from tests.notebook.cell.test_template_escapes import BOMBS, ESCAPES
from tests.notebook.hostile import strings
from tests.notebook.hostile_views import VIEWS
from tests.notebook.kernel.test_forged_messages import DOORS, FORGED
from tests.notebook.renderers import RENDERERS
from tests.notebook.test_secret_outputs import OUTPUTS
from tests.secret_options import SECRETS, URIS
from tests.test_secrets import FORMS

PAGE = Path(__file__).parents[2] / "docs" / "security.md"


def test_the_page_has_the_counts_of_the_tests() -> None:
    texts, views, shown = len(strings()), len(VIEWS), len(RENDERERS)
    options, outputs = len(SECRETS), len(OUTPUTS)
    rows = [
        f"| {texts} texts in {views} views, without a browser | {texts * views:,} | 0 |",
        f"| the same in the views' modules in Chromium | {texts * views:,} | 0 |",
        f"| {texts} texts in {shown} other renderers | {texts * shown:,} | 0 |",
        f"| {options} options in {len(FORMS)} forms of text | {options * len(FORMS):,} | 0 |",
        f"| {options} options in {outputs} kinds of output | {options * outputs:,} | 0 |",
        f"| {len(URIS)} addresses with a secret | {len(URIS)} | 0 |",
        f"| forged messages through {len(DOORS)} doors | {FORGED * len(DOORS):,} | 0 |",
        f"| templates that try to get out | {len(ESCAPES)} | 0 |",
        f"| templates that try to take all time or memory | {len(BOMBS)} | 0 |",
    ]

    page = PAGE.read_text(encoding="utf-8")

    assert [row for row in rows if row not in page] == []
    assert "\n".join(f"- {output}" for output in OUTPUTS) in page
