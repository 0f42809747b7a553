"""Variables filled into texts."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.workflows.text.filling import fill, names_in

DATA = {
    "name": "Ada",
    "nothing": None,
    "number": 7,
    "messages": [{"role": "user", "content": "hi"}],
    "reply": {"text": "yes", "list": ["a", "b"], "2": "two"},
    "my-own key": "kept",
}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hello {name}, {name}!", "Hello Ada, Ada!"),
        ("{nothing}", "None"),
        ("{messages}", "[{'role': 'user', 'content': 'hi'}]"),
        ("{messages[0]}", "{'role': 'user', 'content': 'hi'}"),
        ("{messages[0][content]}", "hi"),
        ("{reply.list[1]} {reply[text]} {reply[2]}", "b yes two"),
        ("{name!r} {name!s} {name!a}", "'Ada' Ada 'Ada'"),
        ("[{name:>5}] [{number:03d}] [{name!r:<7}]", "[  Ada] [007] ['Ada'  ]"),
        ("{name[0]}", "A"),
        ("{my-own key}", "kept"),
    ],
)
def test_known_fields_are_filled_as_python_would(text, filled):
    assert fill(text, DATA) == filled


@pytest.mark.parametrize(
    "text",
    [
        "{unknown}",
        "{}",
        "{0}",
        "{0.__class__}",
        "{ name }",
        "{messages.__class__}",
        "{name.__class__}",
        "{name.upper}",
        "{messages[5]}",
        "{messages[-1]}",
        "{messages[content]}",
        "{reply.missing}",
        "{name:>999999999}",
        "{number:.999999999f}",
        "{name:d}",
        "{messages:>5}",
        "{name!x}",
        "{",
        "}",
        "a { b",
        '{"name": "x"}',
        '{"a": {"b": {"c": [1, {}]}}}',
        "function() { return {name: 1} }",
    ],
)
def test_fields_that_cannot_be_filled_stay_as_written(text):
    assert fill(text, DATA) == text


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{name}}", "{name}"),
        ("{{{name}}}", "{Ada}"),
        ("{{}}", "{}"),
        ('{{"a": {{"b": "{name}"}}}}', '{"a": {"b": "Ada"}}'),
        ('{"a": {"b": "{name}"}}', '{"a": {"b": "Ada"}}'),
        ('{"a": {name}}', '{"a": Ada}'),
        ("{name}}}", "Ada}"),
        ("{ {{name}} }", "{ {name} }"),
    ],
)
def test_doubled_braces_are_braces_and_json_keeps_its_own(text, filled):
    assert fill(text, DATA) == filled


def test_filled_in_values_are_never_read_again():
    said = "{name} {{7*7}} {% for x in y %} %s ${x} }} {messages.__class__}"
    assert fill("<{said}>", {"said": said, "name": "Ada"}) == f"<{said}>"


def test_a_field_without_room_stays():
    assert fill("{a}{b}{c}", {"a": "aaaa", "b": "bbbbbb", "c": "cc"}, most_characters=9) == "aaaa{b}cc"


def test_a_number_too_long_to_show_stays_a_field():
    assert fill("{number}", {"number": 10**5000}) == "{number}"


def test_only_the_variables_a_text_names_are_looked_up():
    looked_up = []

    class Watched(dict[str, object]):
        def __getitem__(self, name):
            looked_up.append(name)
            return super().__getitem__(name)

    fill("{{a}} {name} {number:>3}", Watched(DATA))
    assert looked_up == ["name", "number"]


@given(st.text(alphabet=st.characters(exclude_characters="{}")))
def test_a_text_without_braces_stays_the_same(text):
    assert fill(text, DATA) == text


@given(st.text(alphabet="{}[].!:ab0 \n") | st.text(), st.dictionaries(st.text(), st.text()))
def test_filling_never_fails(text, variables):
    assert isinstance(fill(text, variables), str)


@given(st.text(), st.sampled_from(["{x}", "a {x} b", "{{{x}}}", '{"k": {x}}']))
def test_any_value_arrives_unchanged(value, text):
    assert value in fill(text, {"x": value, "k": "wrong"})


@given(st.lists(st.sampled_from(["{x}", "{{", "}}", "{y!r}", "{x:>5}", *string.ascii_letters])).map("".join))
def test_a_text_python_can_format_is_filled_the_same(text):
    values = {"x": "1", "y": "é"}
    assert fill(text, values) == text.format(**values)


def test_many_braces_are_read_in_one_go():
    assert fill("{" * 200_001, {}) == "{" * 100_001
    assert fill("{a:" * 100_000, {"a": "x"}) == "{a:" * 100_000


def test_the_names_in_a_text_are_found():
    assert names_in('{name} {messages[0][content]} {unknown!r} {{no}} {"json": 1} { x }') == {
        "name",
        "messages",
        "unknown",
    }


def test_the_names_in_a_template_are_found():
    assert names_in("{{ name }} {single} {% for m in messages %}{{ m.role }}{% endfor %}", jinja=True) == {
        "name",
        "messages",
    }
