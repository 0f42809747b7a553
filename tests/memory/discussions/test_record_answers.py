"""What a model answered for records, in all the ways models answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.memory.discussions.records import KEYS, read_records

TEA = {"title": "Tea", "summary": "Ann likes tea.", "entities": ["Ann"], "key_phrases": ["green tea"]}
POT = {"title": "Pot", "summary": "The pot is {blue} [old].", "entities": "Ann", "key_phrases": [], "mood": "calm"}
ONE, TWO = json.dumps(TEA), json.dumps(POT)


@pytest.mark.parametrize(
    "answer",
    [
        f"[{ONE},{TWO}]",
        f"Here you go:\n```json\n[{ONE}, {TWO}]\n```\nDone.",
        f"```json\n[{ONE}, {TWO}]",
        f"```JSON\n{ONE}\n```\nand\n```json\n{TWO}\n```",
        f"Of course.\n```\n[{ONE},\n{TWO}]\n```",
        f"[{ONE},{TWO},]",
        f"[{ONE[:-1]},}},\n{TWO}]",
        f'{{"memories": [{ONE}, {TWO}], "count": 2}}',
        f'{{"memories": [{ONE}, {TWO},], "count": 2,}}',
        f"{ONE}\n{TWO}\n",
        f"The first is {ONE} and the second {TWO}.",
        f"See [1] and [2]:\n{ONE}\n{TWO}",
        f"[{ONE} {TWO}]",
    ],
)
def test_records_are_found_however_they_are_wrapped(answer):
    read = read_records(answer)
    assert (read.records, read.faults) == ([TEA, POT], [])


@pytest.mark.parametrize("answer", [ONE, f"```json\n{ONE}\n```", f'{{"memory": {ONE}}}', ONE.replace('"', "'")])
def test_a_single_object_is_one_record(answer):
    assert read_records(answer).records == [TEA]


def test_quotes_that_were_not_escaped_are_mended():
    answer = ONE.replace("likes tea", 'said "tea" to me')
    assert read_records(answer).records == [TEA | {"summary": 'Ann said "tea" to me.'}]


@pytest.mark.parametrize("answer", ["[]", "```json\n[]\n```", '{"memories": []}'])
def test_an_empty_list_is_an_answer_without_faults(answer):
    read = read_records(answer)
    assert (list(read.records), list(read.faults)) == ([], [])


@pytest.mark.parametrize("answer", ["", "I cannot help with that.", "[1, 2]", "null", "}{", "{", '"'])
def test_an_answer_without_objects_cannot_be_read(answer):
    read = read_records(answer)
    assert list(read.records) == []
    assert read.faults


def test_each_bad_item_is_told_by_its_number_and_what_it_lacks():
    answer = json.dumps([TEA, {"title": "x"}, 3, TEA | {"summary": " "}, TEA | {"summary": ["secret"]}])
    read = read_records(answer)
    assert read.records == [TEA]
    assert read.faults == [
        "Item 2 lacks summary, entities, key_phrases.",
        "Item 3 is not an object.",
        "Item 4 has no text as its summary.",
        "Item 5 has no text as its summary.",
    ]


@pytest.mark.parametrize("answer", [f"[{ONE},{TWO[:40]}", f"[{ONE},", f'{{"memories": [{ONE}, {TWO[:9]}', f"[{ONE}"])
def test_what_is_whole_of_an_answer_that_breaks_off_is_read_and_the_rest_told(answer):
    read = read_records(answer)
    assert (read.records, read.faults) == ([TEA], ["It breaks off before its end."])


def test_what_no_database_can_hold_is_replaced():
    answer = '{"title": "a\\u0000b", "summary": "c\\ud800d", "entities": [NaN], "key_phrases": []}'
    read = read_records(answer)
    assert read.records == [{"title": "a�b", "summary": "c�d", "entities": [None], "key_phrases": []}]
    json.dumps(read.records, allow_nan=False).encode()


def test_an_item_that_is_nested_too_deep_is_no_record():
    deep = json.dumps(TEA).replace('["Ann"]', "[" * 900 + "]" * 900)
    assert read_records(deep).faults == ["Item 1 is nested too deep."]


def test_fences_inside_a_summary_do_not_end_the_answer():
    coded = TEA | {"summary": "Use ```x``` here."}
    assert read_records(f"```json\n[{json.dumps(coded)}]\n```").records == [coded]


HOSTILE = {
    "braces": "{" * 2**20,
    "brackets": "[" * 2**20,
    "objects": '{"a":' * 200_000,
    "empty objects": "{}" * 2**19,
    "broken objects": "{a}" * 300_000,
    "escaped quotes": '{"' + '\\"' * 2**19,
    "a lone backslash": "{" + '"\\' * 2**19,
    "fences": "```json\n" * 2**17,
    "bare fences": "```\n" * 2**18,
    "colons": '{"a":"' + "b: c, " * 150_000 + "}",
    "turned braces": "}{" * 2**19,
    "white space": " " * 2**20,
}


@pytest.mark.slow
@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_mebibyte_costs_no_more_than_its_length(answer):
    assert not read_records(answer).records  # the square of such a length takes hours, and the test ends before


def test_ten_thousand_records_are_all_read():
    assert len(read_records(f"[{','.join([ONE] * 10_000)}]").records) == 10_000


@given(st.text(alphabet='{}[]",:\\ab`j\n', max_size=60) | st.text(max_size=60))
def test_no_answer_raises_and_every_record_is_whole(answer):
    read = read_records(answer)
    assert all(set(KEYS) <= set(record) for record in read.records)


@given(
    st.lists(
        st.fixed_dictionaries({key: st.text(min_size=1).map(lambda text: f"a{text}") for key in KEYS}), min_size=1
    )
)
def test_whatever_was_written_as_json_is_read_back(records):
    expected = [{key: value.replace("\0", "�") for key, value in record.items()} for record in records]
    assert read_records(f"Sure!\n```json\n{json.dumps(records)}\n```").records == expected
