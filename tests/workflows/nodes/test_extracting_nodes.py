"""TagTextExtractor, JsonExtractor and DelimitedChunker."""

import pytest

from mnemoir.workflows.nodes.delimited_chunker import DelimitedChunker
from mnemoir.workflows.nodes.json_extractor import JsonExtractor
from mnemoir.workflows.nodes.tag_text_extractor import TagTextExtractor

FENCE = "```"


async def in_tag(bench, text, tag="a", **said):
    """What is found between the tags; the text comes from an earlier node, where braces are no variables."""
    bench.outputs = {1: text}
    return await bench.run(TagTextExtractor, tagToExtractFrom="{agent1Output}", fieldToExtract=tag, **said)


async def member(bench, text, name="n"):
    bench.outputs = {1: text}
    return await bench.run(JsonExtractor, jsonToExtractFrom="{agent1Output}", fieldToExtract=name)


async def pieces(bench, content="a,b,c,d", **said):
    return await bench.run(
        DelimitedChunker, **{"content": content, "delimiter": ",", "mode": "head", "count": 2, **said}
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("before <a> one\n two </a> after", "one\n two"),
        ("<a>first</a><a>second</a>", "first"),
        ("<a><a>inner</a></a>", "<a>inner"),
        ("<a><b>x</b></a>", "<b>x</b>"),
        ("<A>x</A>", ""),
        ('<a class="k">x</a>', ""),
        ("<a/> x </a>", ""),
        ("</a> <a>x", ""),
        ("<a>x</b>", ""),
        ("<a> \n </a>", ""),
        ("", ""),
    ],
)
async def test_the_text_of_the_first_tag_is_taken(bench, text, found):
    assert await in_tag(bench, text) == found


@pytest.mark.parametrize("tag", ["with.dots", "t[0]", "my-tag_2"])
async def test_the_name_of_a_tag_is_taken_literally(bench, tag):
    assert await in_tag(bench, f"<{tag}>x</{tag}>", tag) == "x"


async def test_the_default_is_filled_and_returned_if_nothing_is_found(bench):
    bench.variables = {"sorry": "nothing", "tag": "b"}
    assert await in_tag(bench, "<a> </a>", defaultText="{sorry} here") == "nothing here"
    assert await in_tag(bench, "<b>x</b>", "{tag}", defaultText="{sorry}") == "x"
    assert await bench.run(TagTextExtractor, defaultText="{sorry}") == "nothing"


async def test_a_megabyte_of_opening_tags_is_read_once(bench):
    assert await in_tag(bench, "<a>" * 350_000, defaultText="none") == "none"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"été {x}"', "été {x}"),
        ('""', ""),
        ("42", "42"),
        ("3.50", "3.5"),
        ("true", "True"),
        ("null", ""),
        ('{"a": 1, "b": "ü"}', '{"a": 1, "b": "ü"}'),
        ("[1,2]", "[1, 2]"),
    ],
)
async def test_a_member_becomes_text(bench, value, text):
    assert await member(bench, f'{{"n": {value}}}') == text


@pytest.mark.parametrize(
    "text",
    [
        f'{FENCE}json\n{{"n": 1}}\n{FENCE}',
        f' \n{FENCE}JSON\n{{"n": 1}}\n{FENCE}\n',
        f'{FENCE}\n{{"n": 1}}\n{FENCE}',
        f'{FENCE}json{{"n": 1}}{FENCE}',
    ],
)
async def test_a_fence_around_the_json_is_removed(bench, text):
    assert await member(bench, text) == "1"


@pytest.mark.parametrize(
    "text",
    ["not json", "[1]", '"n"', "7", "", '{"n": 1', f'{FENCE}python\n{{"n": 1}}\n{FENCE}', "[" * 100_000, "9" * 5000],
)
async def test_a_text_that_is_no_json_object_gives_an_empty_text_and_a_note(bench, text):
    assert await member(bench, text) == ""
    assert bench.step.trace.notes == ["jsonToExtractFrom is no JSON object."]


async def test_a_member_is_named_literally_and_may_be_absent(bench):
    bench.variables = {"which": "n.m"}
    assert await member(bench, '{"n": {"m": 1}}', "n.m") == ""
    assert await member(bench, '{"n.m": "x"}', "{which}") == "x"
    assert await bench.run(JsonExtractor) == ""


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({}, "a,b"),
        ({"mode": "tail"}, "c,d"),
        ({"count": 4}, "a,b,c,d"),
        ({"count": 9, "mode": "tail"}, "a,b,c,d"),
        ({"delimiter": "--", "count": 1}, "a,b,c,d"),
        ({"content": "a,b,", "mode": "tail", "count": 1}, ""),
        ({"content": ""}, ""),
        ({"delimiter": "{comma}"}, "a,b"),
    ],
)
async def test_the_first_or_last_pieces_are_kept(bench, said, text):
    bench.variables = {"comma": ","}
    assert await pieces(bench, **said) == text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"content": None}, "No content specified"),
        ({"delimiter": None}, "No delimiter specified"),
        ({"mode": None}, "No mode specified"),
        ({"count": None}, "No count specified"),
        ({"count": 2.5}, "Invalid count: must be an integer, got float"),
        ({"count": "3"}, "Invalid count: must be an integer, got str"),
        ({"count": True}, "Invalid count: must be an integer, got bool"),
        ({"count": 0}, "Invalid count: must be >= 1, got 0"),
        ({"count": -2}, "Invalid count: must be >= 1, got -2"),
        ({"mode": "middle"}, "Invalid mode: must be 'head' or 'tail', got 'middle'"),
        ({"delimiter": "{agent1Output}"}, "Invalid delimiter: must resolve to a non-empty string"),
    ],
)
async def test_a_fault_is_the_output_and_a_note(bench, said, told):
    bench.outputs = {1: ""}
    assert await pieces(bench, **said) == told
    assert bench.step.trace.notes == [told]
