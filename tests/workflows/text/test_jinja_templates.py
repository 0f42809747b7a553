"""Texts that are Jinja2 templates."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.text.filling import fill, names_in

DATA = {
    "name": "Ada",
    "agent1Output": {"chat_system_prompt": "be <kind>", "list": [3, 1, 2]},
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{ name }} {name} {{ agent1Output.chat_system_prompt }}", "Ada {name} be <kind>"),
        (
            "{% for m in messages %}{{ loop.index }}/{{ loop.length }} {{ m.role }}: {{ m.content }}\n{% endfor %}",
            "1/2 user: hi\n2/2 assistant: yo\n",
        ),
        ("{{ agent1Output.list | sort | join(', ') }} {{ ', '.join(['a', 'b']) }}", "1, 2, 3 a, b"),
        ("{{ agent1Output.list | tojson }} {{ name | upper }} {{ (messages | last).content }}", "[3, 1, 2] ADA yo"),
        (
            "{{ 'a' ~ 1 ~ none }} {{ 'ab' * 2 }} {{ 7 * 7 }} {{ 2 ** 10 }} {{ '%s-%03d' % (name, 7) }}",
            "a1None abab 49 1024 Ada-007",
        ),
        ("{{ '{} is {:>5}'.format(name, 3) }} {{ name.replace('A', 'O').center(7) }}|", "Ada is     3   Oda  |"),
        (
            "{% macro turn(m) %}<{{ m.role }}>{{ caller() }}{% endmacro %}{% call turn(messages[0]) %}!{% endcall %}",
            "<user>!",
        ),
        ("{% set x %}a{{ name }}{% endset %}{% set y, z = 1, [2] %}{{ x }}{{ y }}{{ z }}", "aAda1[2]"),
        ("{% for a, b in {'k': (1, 2)}.items() if b %}{{ a }}{{ b[1] }}{% else %}none{% endfor %}", "k2"),
        ("{% set ns = namespace(n=0) %}{% for i in range(5) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}", "10"),
        ("{% filter upper %}{{ name }} x{% endfilter %}{# not seen #}", "ADA X"),
        ("{% if 'A' in name and messages is iterable %}yes{% endif %}", "yes"),
        ("line\n", "line"),
        ("line\n\n", "line\n"),
        ("", ""),
    ],
)
def test_templates_are_filled_as_jinja2_does(template, filled):
    assert fill(template, DATA, jinja=True) == filled


def test_unknown_variables_and_their_members_are_empty():
    assert fill("[{{ nobody }}{{ nobody.knows.it[3] }}{{ name.unknown }}]", DATA, jinja=True) == "[]"


@pytest.mark.parametrize(
    "said", ["{{ 7*7 }}", "{% for x in y %}", "{agent1Output}", "%s ${x}", "{# no #}", "{messages.__class__}", "<b>&"]
)
def test_filled_in_values_are_data(said):
    assert fill("<{{ said }}>{{ said ~ said }}", {"said": said}, jinja=True) == f"<{said}>{said}{said}"


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("ok\n{% if %}", "in line 2"),
        ("ok\n\n{{ 1 / 0 }}", "in line 3: division by zero"),
        ("{{ nobody() }}", "'nobody' is undefined"),
        ("{{ name | nofilter }}", "No filter named 'nofilter'"),
        ("{{ " + "(" * 5000, "Jinja2 template fails"),
        ("{{ " + "9" * 5000 + " }}", "Jinja2 template fails"),
        ("x" * 300_000, "262144 are allowed"),
        ("{% include 'other' %}", "`include`"),
        ("{% for m in messages recursive %}{% endfor %}", "recursive"),
    ],
)
def test_a_wrong_template_is_reported_with_position_and_cause(template, reason):
    with pytest.raises(SettingsError, match=r"Jinja2 template") as told:
        fill(template, DATA, jinja=True)
    assert reason in told.value.message


def test_the_names_in_a_wrong_template_are_unknown():
    with pytest.raises(SettingsError, match="line 1"):
        names_in("{{ name", jinja=True)


def test_only_the_variables_a_template_names_are_looked_up():
    looked_up = []

    class Watched(dict[str, object]):
        def __getitem__(self, name):
            looked_up.append(name)
            return super().__getitem__(name)

    fill("{{ name }}{% if false %}{{ unknown }}{% endif %}", Watched(DATA), jinja=True)
    assert looked_up == ["name"]
