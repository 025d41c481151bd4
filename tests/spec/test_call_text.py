from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from paimonlab.procedures.names import table_name
from paimonlab.spec.sql_text.call_text import call_text, literal, table_text
from paimonlab.spec.sql_text.strings import string_value
from paimonlab.spec.sql_text.tokens import TokenKind, tokenize

NAMES = st.text(st.characters(exclude_characters=".", exclude_categories=["Cs"]), min_size=1)


@given(NAMES, NAMES)
def test_a_name_that_was_written_is_read_back(database: str, table: str) -> None:
    name = f"{database}.{table}"

    assert table_name(table_text(name), procedure="p", argument="table") == name


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("a\x0012")
def test_a_text_stays_one_token_whatever_it_holds(text: str) -> None:
    (token,) = tokenize(literal(text))

    assert token.kind is TokenKind.STRING
    assert token.text == literal(text)
    assert string_value(token.text) == text


def test_a_call_is_written_with_its_arguments_in_order() -> None:
    assert call_text("rollback", "db.it's", snapshot=3, tag="x") == (
        "CALL sys.rollback(table => 'db.`it\\'s`', snapshot => 3, tag => 'x')"
    )
