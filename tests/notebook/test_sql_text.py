from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

from paimonlab.spec.sql_text.tokens import TokenKind, line_and_column, offset_of, tokenize

TEXTS = [
    "SELECT 'a;b', \"c;d\", `e;f`; SELECT 2",
    r"SELECT 'it\'s;', 'it''s;' ; SELECT 1",
    r"SELECT r'\'; SELECT R'a\b;c'",
    "SELECT 1 -- it's; one\n; SELECT 2 -- end",
    "SELECT 1 --\\\n; still a comment\n; SELECT 2",
    "/* a /* nested; */ ; */ SELECT /* : */ 1",
    "SELECT /*+ BROADCAST(t) */ 1; SELECT 2",
    "SELECT a::int, :x, b[1:2], c:d FROM `x``y`.`z;`",
    "SELECT x'00FF', 1.5e-3, 10L, 1abc, .5 FROM db.1t",
    "SELECT a->b, c <> d, e != f, g || h, i << j, k >>> l, m => n, o ?:: p",
    "SELECT '' , '''', \"\"\"\", ``` ;`",
    "CREATE VIEW v AS $$ a; 'b' $$; SELECT $tag$ ; $$ ; $tag$",
    "日本 = '日;本'; SELECT '😀;', 😀",
    "SELECT 'multi\nline;'\n;\tSELECT 1",
    "SELECT 1/*;*//2; SELECT 2 -- ;",
    "SELECT /*+ a */* FROM t; SELECT /*+ b */'c;'",
]
COMPARED = {";", ":", "::", "$"}


def spark_tokens(spark: SparkSession, text: str) -> list[tuple[str, int]]:
    """Ask Spark's own lexer for strings, back-quoted names and the symbols we look at."""
    jvm = spark._jvm
    assert jvm is not None
    parser = jvm.org.apache.spark.sql.catalyst.parser
    characters = jvm.org.antlr.v4.runtime.CharStreams.fromString(text)
    lexer = parser.SqlBaseLexer(parser.UpperCaseCharStream(characters))
    lexer.removeErrorListeners()
    found = []
    tokens = lexer.getAllTokens()
    index = 0
    while index < tokens.size():
        token = tokens.get(index)
        index += 1
        if token.getChannel() != 0:
            continue
        start, stop, kind = token.getStartIndex(), token.getStopIndex(), token.getType()
        name = lexer.getVocabulary().getSymbolicName(kind)
        if name == "BEGIN_DOLLAR_QUOTED_STRING":
            while lexer.getVocabulary().getSymbolicName(tokens.get(index).getType()) != (
                "END_DOLLAR_QUOTED_STRING"
            ):
                index += 1
            stop = tokens.get(index).getStopIndex()
            index += 1
        piece = text[start : stop + 1]
        if name.endswith(("STRING_LITERAL", "QUOTED_STRING", "BACKQUOTED_IDENTIFIER")) or (
            piece in COMPARED
        ):
            found.append((piece, start))
    return found


def our_tokens(text: str) -> list[tuple[str, int]]:
    kinds = (TokenKind.STRING, TokenKind.QUOTED)
    return [
        (token.text, token.start)
        for token in tokenize(text)
        if token.kind in kinds or token.text in COMPARED
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_strings_comments_and_symbols_stand_where_spark_says(
    spark: SparkSession, text: str
) -> None:
    assert our_tokens(text) == spark_tokens(spark, text)


def test_random_texts_are_cut_as_spark_cuts_them(spark: SparkSession, seed: int) -> None:
    pieces = [
        *("'a'", "'b''c'", r"'d\'e'", '"f"', " r'g\\'", "`h`", "`i``j`", "k", "7", "l1"),
        *(";", ":", "::", " $ ", "-- m\n", "/* n */", "/* o /* p */ q */", "/*+ r */"),
        *(" ", "\n", "-", "/", "*", "->", "(", ")", "日", "\t"),
    ]
    source = random.Random(seed)

    for _ in range(60):
        text = "".join(source.choices(pieces, k=source.randint(1, 12)))

        assert our_tokens(text) == spark_tokens(spark, text), repr(text)


@pytest.mark.parametrize(
    "text", ["SELECT 'a; b", "SELECT `a; b", "SELECT 1 /* ; x", "a /* b */ /*;"]
)
def test_what_is_never_closed_ends_with_the_text(text: str) -> None:
    assert all(token.text != ";" for token in tokenize(text))


def test_line_and_column_turn_back_into_the_offset() -> None:
    text = "a\nbc\n\nd"

    positions = [line_and_column(text, offset) for offset in range(len(text) + 1)]

    assert positions == [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (4, 0), (4, 1)]
    assert [offset_of(text, *position) for position in positions] == list(range(len(text) + 1))
