"""Templates that try to reach Python's internals, or that would run until the time or the memory is used up."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.text.filling import fill

DATA = {"text": "x" * 1_000_000, "messages": [{"role": "user", "content": "hi"}] * 1000}

REACHING_FOR_PYTHON = [
    "{{ ''.__class__.__mro__ }}",
    "{{ ''['__class__'] }}",
    "{{ '' | attr('__class__') }}",
    "{{ messages | map(attribute='__class__') | list }}",
    "{{ '{0.__class__}'.format(text) }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ self.__init__ }}",
    "{{ range.__globals__ }}",
    "{% macro m() %}{% endmacro %}{{ m._func }}",
    "{{ messages.append(1) }}",
    "{{ messages[0].update({'role': 'system'}) }}",
    "{{ (1).to_bytes(4, 'big') }}",
    "{{ text.encode() }}",
]
TOO_MUCH_WORK = [
    "{% for i in range(10**9) %}{% endfor %}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% if loop.length %}{% endif %}{% endfor %}{% endfor %}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(100) }}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% for i in range(99999) %}{% if 'z' in text %}{% endif %}{% endfor %}",
    "{% for i in range(99999) if 'z' in text %}{% endfor %}",
    "{{ range(99999) | map('string') | select('in', text) | list }}",
    "{{ range(99999) | batch(1) | sum(start=[]) }}",
    "{{ text | wordwrap(80) }}",
]
TOO_MUCH_OUTPUT = [
    "{% for i in range(99999) %}{{ 'y' * 1000 }}{% endfor %}",
    "{% set kept %}{% for i in range(99999) %}" + "y" * 1000 + "{% endfor %}{% endset %}",
    "{% for i in range(1000) %}{{ messages }}{% endfor %}",
    "{% macro m() %}{% for i in range(99999) %}" + "y" * 1000 + "{% endfor %}{% endmacro %}{% set x = m() %}",
]
TOO_LARGE = [
    "{{ 'a' * 10**9 }}",
    "{{ [1] * 10**9 }}",
    "{{ [text] * 99999 }}",
    "{{ 10 ** (10**8) }}",
    "{{ 2 ** 10000000 }}",
    "{% set ns = namespace(x=9) %}{% for i in range(90) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "{{ 'a' | center(10**9) }}",
    "{{ 'a'.center(10**9) }}",
    "{{ 'a'.ljust(10**9) }}",
    "{{ '\t'.expandtabs(10**9) }}",
    "{{ 'a' | indent(10**9, true) }}",
    "{{ [1] | tojson(indent=10**9) }}",
    "{{ [1] | batch(10**9, 'x') | list }}",
    "{{ [1] | slice(10**9) | list }}",
    "{{ 1.5 | round(10**9) }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ '%*d' % (10**9, 1) }}",
    "{{ '{:>1000000000}'.format(1) }}",
    "{{ '{:{}}'.format(1, 10**9) }}",
    "{{ ('%s' * 1000) % ((text,) * 1000) }}",
    "{{ range(99999) | join('a' * 100000) }}",
    "{{ text.join(range(99999) | map('string')) }}",
    "{{ text.replace('x', text) }}",
    "{{ text | replace('x', text) }}",
    "{{ text | replace('x', count=99999, new=text) }}",
    "{{ text.translate({120: text}) }}",
    "{{ [1] * 50000 | map('center', 1000000) | list }}",
    "{% for i in range(9999) %}{% set kept = text | upper %}{% endfor %}",
    *(
        start + step * 60 + "{{ x }}"
        for start, step in [
            ("{% set x = 'ab' %}", "{% set x = x ~ x %}"),
            ("{% set x = 'ab' %}", "{% set x = x + x %}"),
            ("{% set x = [1] %}", "{% set x = x + x %}"),
            ("{% set x = [1] %}", "{% set x = [x, x] %}"),
            ("{% set x = 1 %}", "{% set x = (x, x) %}"),
            ("{% set x = 1 %}", "{% set x = {'a': x, 'b': x} %}"),
            ("{% set x = 1 %}", "{% set x = dict(a=x, b=x) %}"),
            ("{% set x = [1, 1] %}", "{% set x = [0, 0] | map('default', x, true) | list %}"),
        ]
    ),
]


@pytest.mark.parametrize("template", REACHING_FOR_PYTHON)
def test_a_template_reaches_only_its_data(template):
    with pytest.raises(SettingsError, match="is not for templates"):
        fill(template, DATA, jinja=True)


@pytest.mark.parametrize("template", [*TOO_MUCH_WORK, *TOO_MUCH_OUTPUT, *TOO_LARGE])
def test_a_template_that_exceeds_a_limit_is_stopped(template):
    with pytest.raises(SettingsError, match="Jinja2 template fails"):
        fill(template, DATA, jinja=True)


def test_a_template_can_render_a_long_conversation():
    messages = [{"role": "user", "content": "word " * 20}] * 3_000
    template = "{% for m in messages %}{{ m.role }}: {{ m.content | truncate(20) | trim }}\n{% endfor %}"
    assert fill(template, {"messages": messages}, jinja=True).count("\n") == 3_000
