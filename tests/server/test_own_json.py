"""Bodies of our own routes have each member of an object once: readers differ in which of two counts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.errors import InvalidRequest
from mnemoir.server.door.request import parse_own_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)
TWICE = (
    b'{"metadata": {"a": 1, "a": 2}, "text": "%s"}',
    b'{"text": "%s", "b": [[{"\\u00e9": 1, "\xc3\xa9": 1}]]}',
    b'{"text": "%s \\": \\\\", "c": {"": 1, "": 1}}',
)


def test_a_member_is_found_twice_in_a_body_of_any_size_and_depth():
    for body in TWICE:
        for size in (0, 300 * 1024, 9 * 1024 * 1024):
            with pytest.raises(InvalidRequest, match="is there 2 times"):
                parse_own_json(body % (b"x:{}" * (size // 4)))


@given(VALUES)
def test_whatever_has_each_member_once_is_read(value):
    assert parse_own_json(json.dumps(value).encode()) == value
