"""Three hundred texts that somebody may put into a name, a comment or a value to do harm."""

from __future__ import annotations

import itertools

_SCRIPTS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    '"><img src="http://192.0.2.1/x">',
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "<iframe src=javascript:alert(1)></iframe>",
    "<style>*{background:url(http://192.0.2.1/y)}</style>",
    "<link rel=stylesheet href=http://192.0.2.1/z.css>",
    "<meta http-equiv=refresh content='0;url=http://192.0.2.1/'>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "</td></tr></table><h1>out</h1>",
    "</summary></details><b>out",
    "<a href=javascript:alert(1)>x</a>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "`;alert(1)//",
    "';alert(1)//",
    '";alert(1)//',
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "<input onfocus=alert(1) autofocus>",
]
_FORMULAS = [
    "=1+1",
    "=cmd|'/c calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1:A9)",
    '=HYPERLINK("http://192.0.2.1/","x")',
    "\t=1+1",
    "$x^2$",
    "\\[ \\frac{1}{0} \\]",
    "$$\\href{javascript:alert(1)}{x}$$",
]
_MARKDOWN = [
    "| a | b |",
    "**bold** _it_ `code`",
    "[x](javascript:alert(1))",
    "![x](http://192.0.2.1/x.png)",
    "# heading",
    "```\nfence",
    "a\n\n---\nb",
    "<details open>",
    "- [ ] task",
    "\\|",
]
_CHARACTERS = [
    "\u202etxet desrever",
    "\u2066isolate\u2069 \u2067",
    "مرحبا table عالم",
    "a\u0300" * 200,
    "Z\u0351\u036b\u0343" * 40,
    "\u200b\u200d\ufeff",
    "\x00\x01\x1b[31mred\x1b[0m",
    "line\nbreak\r\nand\ttab",
    "日本語" * 30,
    "👩‍👩‍👧‍👦" * 20,
    "\u2028\u2029",
    " " * 50,
    "",
    "null",
    "NaN",
    "__proto__",
    "constructor",
    "toString",
    "a'b\"c`d\\e",
    "%s%n%x",
]


def strings() -> list[str]:
    """Return 300 texts: each of those above, alone, doubled, inside a name, and very long."""
    alone = [*_SCRIPTS, *_FORMULAS, *_MARKDOWN, *_CHARACTERS]
    shapes = (
        lambda text: text,
        lambda text: f"name_{text}_end",
        lambda text: text * 3,
        lambda text: f"'{text}\" {text}",
    )
    found = [shape(text) for shape, text in itertools.product(shapes, alone)]
    long = [text[:20].ljust(10_240, "x") for text in alone[:20]]
    return [*found[:280], *long]
