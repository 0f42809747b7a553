"""A client's name for a conversation is read off the fields that the settings name, in their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.errors import InvalidRequest
from mnemoir.wire.session import session_name

FIELDS = ("conversation_id", "session_id", "metadata.session_id")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, None),
        ({"session_id": "s"}, ("session_id", "s")),
        ({"session_id": "s", "conversation_id": "c"}, ("conversation_id", "c")),
        ({"metadata": {"session_id": "m"}}, ("metadata.session_id", "m")),
        ({"metadata": {"session_id": "m"}, "session_id": "s"}, ("session_id", "s")),
        (
            {"conversation_id": "  \t", "session_id": "", "metadata": {"session_id": "m"}},
            ("metadata.session_id", "m"),
        ),
        ({"conversation_id": None, "session_id": 0}, ("session_id", "0")),
        ({"metadata": {"session_id": 7}}, ("metadata.session_id", "7")),
        ({"metadata": {"chat_id": "x", "session_id": None}}, None),
        ({"metadata.session_id": "flat"}, None),
    ],
)
def test_the_first_field_that_is_not_blank_counts(body, named):
    assert session_name(body, FIELDS) == named


@pytest.mark.parametrize("metadata", [None, "x", 7, True, [], [{"session_id": "s"}], {}])
def test_where_no_object_is_there_is_no_field_in_it(metadata):
    assert session_name({"metadata": metadata}, FIELDS) is None


@pytest.mark.parametrize("value", [[], ["s"], {}, {"id": "s"}, True, False, 1.5, 1e300, "\ud800"])
@pytest.mark.parametrize("field", FIELDS)
def test_a_value_of_another_type_is_refused_by_the_field_it_stands_in(field, value):
    body = {"metadata": {"session_id": value}} if "." in field else {field: value}
    with pytest.raises(InvalidRequest) as caught:
        session_name(body, FIELDS)
    assert caught.value.field == field
    assert caught.value.message.startswith(f"{field} ")


def test_fields_behind_the_one_that_counts_are_not_looked_at():
    assert session_name({"conversation_id": "c", "session_id": []}, FIELDS) == ("conversation_id", "c")


def test_without_fields_nothing_is_looked_at():
    assert session_name({"conversation_id": [], "session_id": "s"}, ()) is None


def test_a_field_may_lie_deep():
    assert session_name({"a": {"b": {"c": "s"}}}, ("a.b.c",)) == ("a.b.c", "s")


NAMES = st.sampled_from(["conversation_id", "session_id", "metadata"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, JSON))
def test_any_body_gives_a_name_or_none_or_is_refused_by_a_field(body):
    field, name = None, "s"
    try:
        field, name = session_name(body, FIELDS) or (None, "s")
    except InvalidRequest as exc:
        field = exc.field
    assert field in (None, *FIELDS)
    assert name.strip()
