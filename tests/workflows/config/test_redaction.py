"""Redaction of config files, valid or broken: secrets are covered anywhere, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.workflows.config.shown import COVER, is_secret, redacted_text
from mnemoir.workflows.node import installed_nodes
from mnemoir.workflows.schemas import schemas

SECRET = "canary-2718281828"
SECRET_KEYS = ["apiKey", "api_key", "API-KEY", "x-api-key", "clientSecret", "password", "Authorization", "authToken"]


def keys_in(schema):
    """All names of properties in a JSON Schema."""
    if isinstance(schema, list):
        return {key for item in schema for key in keys_in(item)}
    if not isinstance(schema, dict):
        return set()
    inner = {key for value in schema.values() for key in keys_in(value)}
    properties = schema.get("properties")
    return inner | (set(properties) if isinstance(properties, dict) else set())


def test_a_valid_file_keeps_its_lines_and_loses_its_key():
    text = '{\n  "endpoint":"http://far",  "apiKey" : "' + SECRET + '",\n  "trim": 1.0\n}\n'
    assert redacted_text(text) == text.replace(SECRET, COVER)


@pytest.mark.parametrize("key", [*SECRET_KEYS, "headers", "openaiKey", "cookie"])
def test_everything_below_a_secret_key_is_covered(key):
    for value in (SECRET, [SECRET], {"any": [{"x": SECRET}]}):
        assert SECRET not in redacted_text(json.dumps({"a": {key: value}, "b": 1}))


def test_numbers_below_a_secret_key_are_covered_too():
    assert redacted_text('{"password": 271828}') == f'{{"password": "{COVER}"}}'


@pytest.mark.parametrize(
    "text",
    [
        "http://ann:canary-2718281828@far/v1",
        "http://far/v1?api_key=canary-2718281828&x=1",
        "Bearer canary-2718281828",
        "see sk-canary-2718281828-more",
        "eyJjYW5hcnk.canary-2718281828.x",
        "-----BEGIN RSA PRIVATE KEY-----\ncanary-2718281828",
    ],
)
def test_secrets_are_covered_by_their_looks_anywhere(text):
    shown = redacted_text(json.dumps([{"prompt": text, "escaped": text}]))
    assert SECRET not in shown
    assert [list(node) for node in json.loads(shown)] == [["prompt", "escaped"]]


@pytest.mark.parametrize("text", ['{"api\\u004bey": "%s"}', '{"url": "http:\\/\\/ann:%s\\u0040far"}'])
def test_escapes_hide_nothing(text):
    assert SECRET not in redacted_text(text % SECRET)


@pytest.mark.parametrize("value", ['""', "null", "true", '"${OPENAI_API_KEY}"', '"{far_key}"', '"Bearer ${KEY}"'])
def test_values_that_reveal_nothing_are_shown(value):
    text = f'{{"apiKey": {value}}}'
    assert redacted_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"apiKey": "%s",}',
        '{"apiKey": "%s"',
        '{"apiKey": "%s',
        "{'apiKey': '%s'}",
        "{apiKey: %s}",
        '{"apiKey"\n: "%s"}',
        '{"apiKey":\n\n"%s",}',
        '{"apiKey" "%s"}',
        '{"apiKey": "x\n%s", "b": 1}',
        '{"apiKey": "x\\\n%s"}',
        '{"headers": {"X-Any": "%s"},}',
        '{"headers": {\n"X-Any":\n"%s"\n},}',
        '{"headers": [\n"a",\n"%s"\n],}',
        '{"a": "b", "apiKey": "%s", "c": {,}}',
        '{"api\\u004bey": "%s",}',
        'apiKey = "%s"',
        "// apiKey: %s\n{}",
        '{"a": "http://ann:%s@far",}',
    ],
)
def test_broken_files_show_no_secret(text):
    assert SECRET not in redacted_text(text % SECRET)


def test_a_broken_file_shows_where_it_breaks():
    text = '{\n  "endpoint": "http://far",\n  "apiKey": "' + SECRET + '",\n  "trim": tru\n}'
    shown = redacted_text(text).splitlines()
    assert shown == ["{", '  "endpoint": "http://far",', f'  "apiKey {COVER}', '  "trim": tru', "}"]


def test_a_broken_workflow_keeps_words_that_only_sound_secret():
    text = '[{"prompt": "Name the key points, and no secret; keep the token count low.",}]'
    assert redacted_text(text) == text


def test_of_our_own_properties_only_the_key_is_a_secret():
    assert {key for key in keys_in(list(schemas(installed_nodes().types).values())) if is_secret(key)} == {"apiKey"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(
    around=st.dictionaries(st.text(max_size=8), JSON, max_size=4),
    key=st.sampled_from(SECRET_KEYS),
    cut=st.integers(0, 400),
)
def test_a_file_cut_anywhere_shows_no_key(around, key, cut):
    text = json.dumps({**around, key: SECRET, "inner": {"headers": [SECRET, {"x": SECRET}]}}, indent=cut % 3 or None)
    assert SECRET not in redacted_text(text)
    assert SECRET not in redacted_text(text[:cut])
