"""A template's values are parameters, whatever they are; only what says raw is SQL."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import jinja2
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from paimonlab import notebook
from paimonlab.errors import PaimonError
from paimonlab.notebook.cell.parameters import bind
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.cell.templates import MOST_VALUES, compiled
from paimonlab.notebook.connections import connection as connections
from paimonlab.spec.sql_text.tokens import TokenKind, tokenize
from tests.notebook.hostile import strings

INJECTIONS = [
    "'; DROP TABLE db.t; --",
    '" OR 1=1 --',
    "` UNION SELECT * FROM secrets --",
    "x') OR ('1'='1",
    "*/ DROP TABLE t /*",
    "/* ",
    "-- ",
    ":day",
    "day_1",
    "{{ other }}",
    "{% raw %}",
    "${spark.secret}",
    "\\' OR 1=1",
    "$$ SELECT $$",
]


@pytest.mark.parametrize(
    ("template", "text", "values"),
    [
        ("SELECT {{ day }}", "SELECT :day_1", {"day_1": dt.date(2026, 1, 1)}),
        ("SELECT {{ n + 1 }}, {{ n }}", "SELECT :value_1, :n_2", {"value_1": 3, "n_2": 2}),
        ("SELECT {{ 'it''s' }}", "SELECT :value_1", {"value_1": "its"}),
        ("FROM {{ table|ident }}", "FROM `shop`.`orders`", {}),
        ("FROM {{ ['a.b', 'c']|ident }}", "FROM `a.b`.`c`", {}),
        ("ORDER BY n {{ order|raw }}", "ORDER BY n DESC", {}),
        ("{% if n > 1 %}WHERE{% else %}AND{% endif %} x", "WHERE x", {}),
        ("{% for i in ids %}{{ i }},{% endfor %}0", ":i_1,:i_2,0", {"i_1": 7, "i_2": 8}),
        ("{% set t = table|ident %}{{ t }}", "`shop`.`orders`", {}),
        ("{{ missing|default(5) }}", ":value_1", {"value_1": 5}),
        ("{{ ids }}", ":ids_1", {"ids_1": [7, 8]}),
        ("{{ nothing }}", ":nothing_1", {"nothing_1": None}),
        ("{# no #}SELECT 1;\n", "SELECT 1;\n", {}),
        ("{{ name.upper() }}", ":value_1", {"value_1": "EVE"}),
        ("{% for i in ids %}{{ loop.cycle('a', 'b') }} {% endfor %}", ":value_1 :value_2 ", None),
        ("SELECT '{' || :day || '}', {{ n }}", "SELECT '{' || :day || '}', :n_1", {"n_1": 2}),
        ("SELECT :n_1, {{ n }}", "SELECT :n_1, :n_2", {"n_2": 2}),
    ],
)
def test_outputs_become_parameters(
    template: str, text: str, values: Mapping[str, Any] | None
) -> None:
    names = {
        "day": dt.date(2026, 1, 1),
        "n": 2,
        "n_1": 1,
        "table": "shop.orders",
        "order": "DESC",
        "ids": [7, 8],
        "nothing": None,
        "name": "eve",
    }

    made = compiled(template, names)

    assert made.text == text
    if values is not None:
        assert made.values == values
    for statement in split(made.text):
        bind(statement, {**names, **made.values})


@pytest.mark.parametrize("value", [*INJECTIONS, *strings()[::3]])
def test_a_hostile_value_never_is_in_the_sql(value: str) -> None:
    template = "SELECT {{ a }} FROM db.t WHERE x = {{ a }} AND y IN (SELECT explode({{ [a, b] }}))"

    made = compiled(template, {"a": value, "b": "plain"})

    assert made.text == compiled(template, {"a": "plain", "b": "plain"}).text
    assert list(made.values.values()) == [value, value, [value, "plain"]]


@pytest.mark.parametrize("value", [*INJECTIONS, *filter(None, strings()[::3])])
def test_a_hostile_name_is_one_identifier(value: str) -> None:
    made = compiled(
        "SELECT a FROM {{ [name]|ident }} WHERE {{ [name]|ident }} = 1", {"name": value}
    )

    tokens = tokenize(made.text)
    quoted = [token for token in tokens if token.kind is TokenKind.QUOTED]
    assert [token.text for token in tokens if token not in quoted] == [
        *("SELECT", "a", "FROM", "WHERE", "=", "1"),
    ]
    assert [token.text[1:-1].replace("``", "`") for token in quoted] == [value, value]


@pytest.mark.parametrize(
    "template",
    [
        "SELECT '{{ a }}'",
        'SELECT "{{ a }}"',
        "SELECT 1 -- {{ a }}",
        "SELECT 1 /* {{ a }} */",
        "SELECT x{{ a }}",
        "SELECT '{{ a|ident }}'",
        "SELECT 1 -- {{ a|ident }}\n",
        "SELECT `{{ a }}`",
        "SELECT 'x {{ b|raw }} {{ a }}'",
        "SELECT '%' || '{{ a|ident }}' || '",
    ],
)
def test_a_value_where_no_value_can_be_is_refused(template: str) -> None:
    with pytest.raises(QueryError, match="where it is not a value"):
        compiled(template, {"a": "x' OR 1=1 --", "b": "b"})


def test_raw_text_that_opens_a_string_hides_no_value() -> None:
    with pytest.raises(QueryError, match="where it is not a value"):
        compiled("SELECT {{ open|raw }} {{ a }} '", {"open": "'", "a": 1})


def test_a_missing_name_has_a_caret_and_names_close_to_it() -> None:
    cell = "SELECT *\nFROM db.t\nWHERE day = {{ dya }}"

    with pytest.raises(QueryError) as caught:
        compiled(cell, {"day": 1})

    error = caught.value
    assert "'dya' is undefined" in str(error)
    assert "Did you mean 'day'" in str(error)
    assert error.span is not None
    assert cell[error.span.start : error.span.end] == "dya"


@pytest.mark.parametrize(
    "template",
    [
        "{{ x.nope }}",
        "{{ x['nope'] }}",
        "{% if y %}{% endif %}",
        "{{ y ~ 'a' }}",
        "{{ y + 1 }}",
        "{{ y|ident }}",
        "{{ y|raw }}",
    ],
)
def test_what_is_not_there_is_never_nothing(template: str) -> None:
    with pytest.raises(QueryError, match=r"is undefined|has no attribute"):
        compiled(template, {"x": {"a": 1}})


def test_a_wrong_template_points_at_its_line() -> None:
    with pytest.raises(QueryError, match="The template is wrong") as caught:
        compiled("SELECT 1\n{% if %}\n", {})

    assert caught.value.span is not None
    assert caught.value.span.start == 9


@pytest.mark.parametrize(
    "template",
    [
        "{% macro m(x) %}'{{ x }}'{% endmacro %}{{ m(a)|raw }}",
        "{% set x %}{{ a }}{% endset %}{{ x|raw }}",
        "{% filter upper %}{{ a }}{% endfilter %}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{% block x %}{% endblock %}",
    ],
)
def test_pieces_of_text_are_refused(template: str) -> None:
    with pytest.raises(QueryError, match="is not supported in a cell"):
        compiled(template, {"a": 1})


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ [].append.__self__ }}",
        "{{ f() }}",
        "{{ os.getcwd() }}",
        "{{ _private }}",
        "{{ thing.run() }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(f) }}",
        "{{ items.append(1) }}",
        "{{ (a|raw) ~ 'x' }}",
        "{{ 5|raw }}",
        "{{ ''|ident }}",
        "{{ 'a..b'|ident }}",
        "{{ [1]|ident }}",
    ],
)
def test_the_sandbox_holds(template: str) -> None:
    class Thing:
        def run(self) -> str:
            raise AssertionError("was called")

    def f() -> str:
        raise AssertionError("was called")

    names = {"f": f, "os": os, "_private": 1, "thing": Thing(), "items": [], "a": "x"}
    with pytest.raises(QueryError):
        compiled(template, names)


def test_values_are_bounded() -> None:
    with pytest.raises(QueryError, match="at most 10,000 values"):
        compiled("{% for i in range(99999) %}{{ i }} {% endfor %}", {})
    assert len(
        compiled("{% for i in range(n) %}{{ i }} {% endfor %}", {"n": MOST_VALUES - 1}).values
    )


def test_a_large_number_goes_through_every_filter_that_takes_one() -> None:
    environment = jinja2.Environment(autoescape=False)
    others = {"round(2)", "center(40)", "default(0)", "replace('2', '20240101')"}
    tried = 0
    for call in sorted({*environment.filters, *others}):
        template = f"{{{{ n|{call} }}}}"
        try:
            expected = environment.from_string(template).render(n=20240101)
        except Exception:  # noqa: BLE001 - takes no number
            continue
        made = [str(value) for value in compiled(template, {"n": 20240101}).values.values()]
        assert made == [expected] or "<generator" in expected, template
        tried += 1
    assert tried > 20


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ 20240101|string ~ '_x' }}", "20240101_x"),
        ("{{ 'x'|default(20240101) }}", "x"),
        ("{{ 20240101.25|round(1) }}", 20240101.2),
        ("{{ 'order_20240101_%s' % a }}", "order_20240101_eve"),
        ("{{ '%s rows * 2' % a }}", "eve rows * 2"),
        ("{{ '%s of 100%% * 20240101' % a }}", "eve of 100% * 20240101"),
        ("{{ '%08.3f|%-6s' % (1.5, a) }}", "0001.500|eve   "),
        ("{{ '%(a(1) 20240101)s' % {'a(1) 20240101': 5} }}", "5"),
        ("{{ 'order_20240101_%s'|format(a) }}", "order_20240101_eve"),
        ("{{ [1]|join(20240101) }}", "1"),
        ("{{ [20240101, 20240102]|join(',') }}", "20240101,20240102"),
        ("{{ range(3)|join('-') }}", "0-1-2"),
        ("{{ [20240101]|tojson(indent=2) }}", "[\n  20240101\n]"),
        ("{{ [1]|batch(2, 20240101)|list }}", [[1, 20240101]]),
        ("{{ ['b', 'a']|sort|map('upper')|join }}", "AB"),
        ("{{ 'a\nb'|indent(2) }}", "a\n  b"),
        ("{{ 'ab cd'|wordwrap(2) }}", "ab\ncd"),
    ],
)
def test_large_numbers_and_formats_that_make_little_are_taken(template: str, value: Any) -> None:
    made = compiled(template, {"a": "eve"}).values

    assert list(made.values()) == [value]


def test_without_the_option_braces_are_left_alone(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook.demo(tmp_path).catalog.path
    connections.disconnect()
    connections.connect(path, engine="native")
    shell.user_ns |= {"table": "demo.orders", "password": "zqsecret", "n": 3}
    template = "SELECT order_id FROM {{ table|ident }} WHERE order_id < 5"

    found = shell.run_cell_magic("paimon", "-j", template)
    assert sorted(found.to_arrow()["order_id"].to_pylist()) == [1, 2, 3, 4]
    assert found.sql == "SELECT order_id FROM `demo`.`orders` WHERE order_id < 5"
    with pytest.raises(PaimonError):
        shell.run_cell_magic("paimon", "", template)
    again = notebook.sql(template, args={"table": "demo.orders"}, jinja=True)
    assert again.to_arrow().num_rows == 4

    view = shell.run_cell_magic(
        "paimon",
        "--jinja --show-sql",
        "DELETE FROM {{ table|ident }} WHERE a = {{ password }} OR b = {{ n }}",
    )
    told = capsys.readouterr().out + view.to_text()
    assert "DELETE FROM `demo`.`orders` WHERE a = :password_2 OR b = :n_3" in told
    assert "n_3" in view.to_text()
    assert "zqsecret" not in told
    with pytest.raises(UsageError, match="give -j"):
        shell.run_cell_magic("paimon", "--show-sql", "SELECT 1")


def test_spark_gets_values_with_their_types(connected: InteractiveShell) -> None:
    connected.user_ns |= {
        "text": "'; DROP TABLE t; --",
        "price": Decimal("1.50"),
        "day": dt.date(2026, 1, 1),
        "ids": [1, 3],
        "column": "a`b",
    }
    cell = (
        "SELECT {{ text }} AS t, {{ price }} AS p, {{ day }} AS d, id AS {{ [column]|ident }}"
        " FROM range(5) WHERE id IN (SELECT explode({{ ids }}))"
        "{% if day %} ORDER BY id{% endif %}; SELECT count(*) AS n FROM range({{ ids[1] }})"
    )

    last = connected.run_cell_magic("paimon", "kept = << -j", cell)

    assert last.to_arrow().to_pylist() == [{"n": 3}]
    first = connected.run_cell_magic("paimon", "-j", cell.partition(";")[0])
    assert first.to_arrow().to_pylist() == [
        {"t": "'; DROP TABLE t; --", "p": Decimal("1.50"), "d": dt.date(2026, 1, 1), "a`b": id}
        for id in (1, 3)
    ]
