"""Templates that try to get out, or to take all time and memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.templates import compiled

ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''['__class__'] }}",
    "{{ ''|attr('__class__') }}",
    "{{ ''|attr('__cl' ~ 'ass__') }}",
    "{{ [].__init__.__globals__ }}",
    "{{ {}.__class__.__base__ }}",
    "{{ ().__class__.__bases__[0].__subclasses__() }}",
    "{{ f.__globals__ }}",
    "{{ f.__code__.co_consts }}",
    "{{ f|attr('__globals__') }}",
    "{{ thing.run.__func__.__globals__ }}",
    "{{ thing.run() }}",
    "{{ thing.secret_of() }}",
    "{{ (thing|attr('run'))() }}",
    "{{ [thing]|map(attribute='run')|first|string }}{{ ([thing]|map(attribute='run')|first)() }}",
    "{{ [1]|map('attr', '__class__')|list|first|string ~ ''.__class__ }}",
    "{{ cls() }}",
    "{{ cls.mro() }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ lipsum.__globals__ }}",
    "{{ cycler.__init__.__globals__.os }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ range.__class__ }}",
    "{{ dict.__mro__ }}",
    "{{ loop.__class__ }}",
    "{% for i in [1] %}{{ loop.__class__ }}{% endfor %}",
    "{% for i in [1] %}{{ loop._undefined }}{% endfor %}",
    "{{ '{0.__class__}'.format(f) }}",
    "{{ '{x.__globals__}'.format(x=f) }}",
    "{{ '{0.__class__.__mro__}'.format_map({'0': f}) }}",
    "{{ '%s'.__mod__(f) }}",
    "{{ '{}'.format.__self__ }}",
    "{{ ('{0.__class__}'|string).format(f) }}",
    "{{ 'x'.format.__call__ }}",
    "{{ os.system('id') }}",
    "{{ os|attr('system') }}",
    "{{ os }}{{ os.environ }}",
    "{{ __builtins__ }}",
    "{{ __import__('os') }}",
    "{{ open('/etc/passwd') }}",
    "{{ eval('1') }}",
    "{{ _private }}",
    "{{ _private|default(os) }}{{ ''.__class__ }}",
    "{{ items.append(1) }}",
    "{{ items.clear() }}",
    "{{ mapping.update({1: 2}) }}",
    "{{ mapping.pop('a') }}",
    "{% set x = items.sort() %}",
    "{% do items.append(1) %}",
    "{% import 'os' as x %}",
    "{% from 'os' import system %}",
    "{% include '/etc/passwd' %}",
    "{% extends '/etc/passwd' %}",
    "{% macro m() %}{% endmacro %}",
    "{% call m() %}{% endcall %}",
    "{% filter upper %}x{% endfilter %}",
    "{% block x %}{% endblock %}",
    "{% set x %}y{% endset %}",
    "{{ error.__traceback__ }}",
    "{{ error.__traceback__.tb_frame }}",
    "{{ generator.gi_frame }}",
    "{{ generator.gi_code }}",
    "{{ frame.eval('1') }}",
    "{{ thing|raw }}",
    "{{ thing|ident }}",
    "{{ (a|raw) ~ '' }}",
    "{{ (a|ident)|string }}",
    "{{ [a|raw]|join }}",
    "{{ [a|ident]|join(',') }}",
    "{{ '' ~ missing }}",
]
BOMBS = [
    "{{ 'x' * 10**10 }}",
    "{{ 10**9 * 'x' }}",
    "{{ [0] * 10**10 }}",
    "{{ (10 ** 10) ** (10 ** 9) }}",
    "{{ 9 ** 9 ** 9 ** 9 ** 9 }}",
    "{{ 2 ** (10**9) }}",
    "{{ 'x'|center(10**10) }}",
    "{{ 'x'.ljust(10**10) }}",
    "{{ 'x'.rjust(10**10) }}",
    "{{ 'x'.zfill(10**10) }}",
    "{{ 'x'.center(10**10) }}",
    "{{ ('x' * 10**6).replace('x', 'y' * 10**6) }}",
    "{{ ('x' * 10**6)|replace('x', 'y' * 10**6) }}",
    "{{ '\\t'.expandtabs(10**10) }}",
    "{{ '%10000000000d' % 1 }}",
    "{{ '%*d' % (10**10, 1) }}",
    "{{ '%.10000000000f' % 1 }}",
    "{{ '%%%-10000000000d' % 1 }}",
    "{{ '%(a(b))10000000000d' % {'a(b)': 1} }}",
    "{{ ('%9999d' * 10**5) % ((1,) * 10**5) }}",
    "{{ '%10000000000d'.encode() % 1 }}",
    "{{ '%10000000000d'|format(1) }}",
    "{{ ['%10000000000d']|format(1) }}",
    "{{ '{:10000000000}'.format(1) }}",
    "{{ '{:{}}'.format(1, 10**10) }}",
    "{{ 'x'|indent(10**10, first=true) }}",
    "{{ 'x y'|wordwrap(1, wrapstring='x' * 10**7) }}",
    "{{ range(10**10)|list }}",
    "{{ range(10**10)|sum }}",
    "{{ [1]|batch(10**10, 0)|list }}",
    "{{ [1]|slice(10**10)|list }}",
    "{{ 1.5|round(10**10) }}",
    "{{ 5|round(-4000000) }}",
    "{{ 1.5|round(-(10**10), 'ceil') }}",
    "{{ [1]|tojson(indent=10**10) }}",
    "{{ ([0] * 10**6)|tojson(indent=10**4) }}",
    "{{ ('\\n' * 10**6)|indent(10**4, blank=true) }}",
    "{{ ('x ' * 10**5)|wordwrap(1, wrapstring='x' * 10**6) }}",
    "{{ ('x' * 10**6).join(['a'] * 10**6) }}",
    "{{ (['a'] * 10**6)|join('x' * 10**6) }}",
    "{{ range(10**5)|join('x' * 10**6) }}",
    "{{ (['x'] * 10**5)|replace('x', 'y' * 10**6) }}",
    "{{ 'x'.translate({120: 'y' * 10**6}) }}",
    "{{ (10**8).to_bytes(10**10, 'big') }}",
    "{{ lipsum(n=10**8) }}",
    "{% for i in range(10**10) %}{% endfor %}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{% for i in items recursive %}{{ loop(items) }}{% endfor %}",
    "{% set x = namespace(v='ab') %}{% for i in range(60) %}{% set x.v = x.v ~ x.v %}{% endfor %}",
    "{% set x = namespace(v='ab') %}{% for i in range(60) %}{% set x.v = x.v + x.v %}{% endfor %}",
    "{% set x = namespace(v=[1]) %}{% for i in range(60) %}{% set x.v = x.v + x.v %}{% endfor %}",
    "{% set x = namespace(v=2) %}{% for i in range(60) %}{% set x.v = x.v * x.v %}{% endfor %}",
    "{% if ('ab' ~ ('x' * 10**6)) ~ ('x' * 10**6) %}{% endif %}",
]


class Thing:
    """Something of the notebook with methods that must not be called."""

    def run(self) -> str:
        raise AssertionError("was called")

    def secret_of(self) -> str:
        raise AssertionError("was called")


def f() -> str:
    raise AssertionError("was called")


def names() -> dict[str, Any]:
    return {
        "f": f,
        "os": os,
        "_private": "hush",
        "thing": Thing(),
        "cls": Thing,
        "items": [1, 2],
        "mapping": {"a": 1},
        "error": ValueError("x"),
        "generator": (one for one in [1]),
        "a": "x",
    }


@pytest.mark.parametrize("template", ESCAPES)
def test_no_template_gets_out(template: str) -> None:
    known = names()

    with pytest.raises(QueryError) as refused:
        compiled(f"SELECT {template}", known)

    assert "hush" not in str(refused.value)
    assert known["items"] == [1, 2]
    assert known["mapping"] == {"a": 1}


def test_no_template_takes_all_time_and_memory() -> None:
    """Each is refused by a process that may have one more gigabyte and a minute of CPU."""
    subprocess.run([sys.executable, "-m", __name__], check=True, timeout=300)


def main() -> None:
    """Try all."""
    with pytest.raises(QueryError):  # brings in all that is needed
        compiled("SELECT {{ nothing }}", {})
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    now = int(pages) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + 2**30, now + 2**30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    for template in BOMBS:
        sys.stdout.write(template + "\n")
        sys.stdout.flush()
        with pytest.raises(QueryError) as refused:
            compiled(f"SELECT {template}", names())
        assert "MemoryError" not in repr(refused.value.__cause__), template
        assert refused.value.message != "The template failed: .", template


if __name__ == "__main__":
    main()
