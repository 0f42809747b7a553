"""Discussion tags, and the directory names of discussions."""

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from mnemoir.core.discussion_id import directory_name, discussion_of, without_tags
from mnemoir.core.messages import ImagePart, Message, TextPart, text_message

TAGGED = "U2 [DiscussionId]d1[/DiscussionId]"
HOSTILE = [
    *[
        "../x",
        "..\\x",
        "/etc/x",
        "C:x",
        "x\0",
        ".",
        "..",
        "",
        "a" * 300,
        "é" * 51,
        "CON",
        "nul.txt",
        "com1",
        "LPT9 .x",
    ],
    *["d1_memories.jsonl", "d1_vector_memory.DB", "d1_chat_summary.Json", "d1.lock", "d1.tmp", "x.db-wal"],
    *["x.", "x ", "\u202etxt", "a\u200fb", "a\nb", "\ud800", "%41", "a/b", "\x7f"],
]


def user(text):
    return text_message("user", text)


def test_the_first_tag_of_any_message_names_the_discussion():
    assert (
        discussion_of([text_message("system", "S1"), user(TAGGED), user("[DiscussionId]d2[/DiscussionId]")]) == "d1"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a [DiscussionId] b [/DiscussionId] c [/DiscussionId]", " b "),
        ("[discussionid]d1[/discussionid]", None),
        ("[DiscussionId]d1", None),
        ("[DiscussionId][/DiscussionId]", None),
        ("[DiscussionId]  [/DiscussionId]", None),
        ("[DiscussionId]a\nb[/DiscussionId]", None),
        ("[DiscussionId]a\n[DiscussionId]b[/DiscussionId]", "b"),
        ("[DiscussionId]a[DiscussionId]b[/DiscussionId]", "a[DiscussionId]b"),
        ("[/DiscussionId][DiscussionId]a[/DiscussionId]", "a"),
    ],
)
def test_a_tag_is_the_shortest_match_within_a_line(text, found):
    assert discussion_of([user(text)]) == found


@pytest.mark.parametrize("id", [".", "..", "../x", "a/b", "a\\b", "C:x"])
def test_an_id_that_looks_like_a_path_is_ignored_with_a_warning(id):
    with capture_logs() as lines:
        assert discussion_of([user(f"[DiscussionId]{id}[/DiscussionId]")]) is None
    assert [line["log_level"] for line in lines] == ["warning"]


def test_tags_are_removed_and_nothing_else_is_trimmed():
    assert without_tags(user(TAGGED)) == user("U2 ")
    assert without_tags(user(f"{TAGGED}\n {TAGGED}")) == user("U2 \n U2 ")


def test_a_message_without_a_tag_is_the_same_object():
    for text in ("plain", "[DiscussionId]open", "[/DiscussionId]"):
        message = user(text)
        assert without_tags(message) is message


def test_a_message_that_was_only_a_tag_keeps_its_pictures():
    picture = ImagePart(url="https://pictures.example/a.png")
    message = Message(role="user", parts=(TextPart(text="[DiscussionId]d1[/DiscussionId]"), picture))
    assert without_tags(message).parts == (TextPart(text=""), picture)


@given(
    st.text(alphabet="a\n", max_size=3), st.lists(st.sampled_from(["[DiscussionId]", "[/DiscussionId]", "x", "\n"]))
)
def test_tags_are_found_as_the_pattern_of_the_format_finds_them(start, rest):
    text = start + "".join(rest)
    pattern = re.compile(r"\[DiscussionId\](.*?)\[/DiscussionId\]")
    assert without_tags(user(text)).text == pattern.sub("", text)


def test_a_megabyte_of_open_tags_is_read_in_one_go():
    # a pattern takes minutes, beyond the time that a test may take
    assert discussion_of([user("[DiscussionId]" * 75_000)]) is None


@pytest.mark.parametrize(
    "id", ["d1", "Tea Time", "süß", "日本語", ".hidden", "a.b", "2026-11-20", "x" * 100, "what?"]
)
def test_a_harmless_id_is_its_own_name(id):
    assert directory_name(id) == id


@pytest.mark.parametrize("id", HOSTILE)
def test_a_hostile_id_gets_an_encoded_name(id):
    assert re.fullmatch("%[0-9a-f]{64}", directory_name(id))


def test_ids_that_differ_by_case_or_unicode_form_have_different_names():
    assert len({directory_name(id) for id in ("a", "A", "é", "e\u0301")}) == 4


@given(st.text())
def test_every_name_is_one_valid_step_of_a_path(id):
    name = directory_name(id)
    assert os.path.basename(name) == name not in ("", ".", "..")
    assert len(name.encode()) <= 100


@given(st.text(), st.text())
def test_an_encoded_name_is_no_other_ids_name(one, other):
    names = {directory_name(id) for id in (one, other, directory_name(one), directory_name(other))}
    assert len(names) == len({one, other, directory_name(one), directory_name(other)})
