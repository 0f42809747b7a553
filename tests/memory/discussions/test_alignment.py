"""Stored chunks fitted to a conversation as it is now; a letter or a word stands for a message."""

from collections.abc import Sequence

import pytest

from mnemoir.core.discussions import Block
from mnemoir.core.messages import ImagePart, Message, text_message
from mnemoir.core.text import hashes
from mnemoir.memory.discussions.alignment import Alignment, align
from mnemoir.memory.discussions.parts import digests_of

LONG = [f"message {n}" if n % 3 else "ok" for n in range(300)]


def conversation(words: Sequence[str]) -> list[Message]:
    return [text_message("user", word) for word in words]


def block(words: str, *, is_stale: bool = False) -> Block:
    """Its key is what it says."""
    messages = conversation(words.split())
    return Block(key=words, hash=hashes(messages[-1])[0], digests=digests_of(messages).own, is_stale=is_stale)


def gone(words: str) -> Block:
    return block(words, is_stale=True)


def foreign(word: str) -> Block:
    return Block(key=word, hash=hashes(text_message("user", word))[0])


def aligned(words: str, *blocks: Block) -> Alignment:
    return align(blocks, digests_of(conversation(words.split())))


def gaps(found: Alignment) -> list[tuple[int, int, str]]:
    return [(gap.start, gap.stop, gap.before) for gap in found.gaps]


def test_what_goes_on_is_found_without_changes():
    found = aligned("a b c d e f", block("a b"), block("c d"))
    assert (found.place, gaps(found), bool(found.changes)) == (4, [], False)


def test_nothing_stored_or_nothing_said_is_no_place():
    assert aligned("a b c").place == 0
    assert aligned("", block("a b")).changes.stale == frozenset()


def test_an_edited_chunk_is_stale_and_its_text_is_a_gap():
    found = aligned("a b C d e f g", block("a b"), block("c d"), block("e f"))
    assert (found.place, gaps(found), set(found.changes.stale)) == (6, [(2, 4, "e f")], {"c d"})


def test_an_edited_first_message_is_not_a_shortened_conversation():
    found = aligned("A b c d e", block("a b"), block("c d"))
    assert (found.place, gaps(found), set(found.changes.stale)) == (4, [(0, 2, "c d")], {"a b"})


def test_the_only_message_of_the_first_chunk_may_be_edited():
    found = aligned("A b c d", block("a"), block("b c"))
    assert (found.place, gaps(found), set(found.changes.stale)) == (3, [(0, 1, "b c")], {"a"})


def test_a_deleted_message_leaves_the_rest_of_its_chunk_as_a_gap():
    found = aligned("a b d e f g", block("a b"), block("c d"), block("e f"))
    assert (gaps(found), set(found.changes.stale)) == ([(2, 3, "e f")], {"c d"})


def test_deleted_chunks_leave_no_gap():
    found = aligned("a b e f g", block("a b"), block("c d"), block("e f"))
    assert (found.place, gaps(found), set(found.changes.stale)) == (4, [], {"c d"})


def test_a_message_put_between_two_chunks_is_a_gap_of_one():
    found = aligned("a b new c d", block("a b"), block("c d"))
    assert (found.place, gaps(found), bool(found.changes)) == (5, [(2, 3, "c d")], False)


def test_regenerated_messages_end_the_place_in_front_of_them():
    found = aligned("a b C D E F", block("a b"), block("c d"), block("e f"))
    assert (found.place, gaps(found), set(found.changes.stale)) == (2, [], {"c d", "e f"})


def test_a_branch_that_comes_back_is_revived_and_the_other_one_stale():
    found = aligned("a b c d e f g", block("a b"), gone("c d"), gone("e f"), block("C D"))
    assert found.changes.revived == {"c d", "e f"}
    assert (set(found.changes.stale), found.place, gaps(found)) == ({"C D"}, 6, [])


def test_a_stale_chunk_is_revived_only_whole_and_only_where_nothing_covers_its_text():
    found = aligned("a b c d X e", block("a b"), gone("b c"), gone("d e"), block("c d"))
    assert (bool(found.changes), found.place) == (False, 4)


def test_a_stale_ok_is_not_revived_by_an_ok_that_was_said_later():
    found = aligned("a b c ok d ok", block("a b"), gone("ok"))
    assert (bool(found.changes), found.place) == (False, 2)


def test_what_is_out_of_view_of_a_shortened_conversation_stays():
    found = aligned("e f g h", block("a b"), block("c d"), block("e f"))
    assert (found.place, bool(found.changes)) == (2, False)


def test_a_conversation_shortened_anywhere_changes_nothing():
    blocks = [block(" ".join(LONG[at : at + 7]).replace("message ", "message")) for at in range(0, 280, 7)]
    words = [word.replace(" ", "") for word in LONG]
    for start in range(1, 299):
        found = align(blocks, digests_of(conversation(words[start:])))
        assert (bool(found.changes), gaps(found)) == (False, []), f"shortened to begin at message {start}"
        assert found.place == 280 - start or start >= 280, f"shortened to begin at message {start}"


def test_the_visible_rest_of_a_cut_chunk_counts_as_covered():
    found = aligned("c d e f g", block("a b c"), block("d e"))
    assert (found.place, gaps(found), bool(found.changes)) == (3, [], False)
    found = aligned("b c x y", block("a b c"))
    assert (found.place, bool(found.changes)) == (2, False)


def test_a_chunk_edited_where_a_shortened_conversation_begins_is_stale_and_older_ones_stay():
    found = aligned("d E f g h i", block("a b"), block("c d e f"), block("g h"))
    assert (set(found.changes.stale), gaps(found)) == ({"c d e f"}, [(0, 3, "g h")])


def test_another_conversation_under_the_same_name_takes_nothing_away():
    found = aligned("x y z", block("a b"), block("c d"))
    assert (found.place, gaps(found), bool(found.changes)) == (0, [], False)


def test_an_ok_out_of_view_is_not_taken_for_one_that_is_seen():
    blocks = [block("a b"), block("ok"), block("c d"), block("e f"), block("g ok h")]
    found = aligned("ok h i j k ok l", *blocks)
    assert (bool(found.changes), found.place) == (False, 2)


def test_a_conversation_of_nothing_but_ok_is_covered_from_its_beginning():
    found = aligned("ok ok ok ok ok ok", block("ok ok"), block("ok"), block("ok ok"))
    assert (found.place, gaps(found), bool(found.changes)) == (5, [], False)


def test_a_repeated_message_is_found_between_its_neighbours():
    found = aligned("a ok b ok c ok d", block("a ok"), block("b ok"), block("c ok"))
    assert (found.place, bool(found.changes)) == (6, False)
    found = aligned("a ok B ok c ok d", block("a ok"), block("b ok"), block("c ok"))
    assert (set(found.changes.stale), gaps(found)) == ({"b ok"}, [(2, 4, "c ok")])


def test_a_chunk_of_another_program_covers_all_since_the_one_before():
    found = aligned("a b c d e f", foreign("b"), foreign("e"))
    assert found.place == 5
    assert {key: len(digests) for key, digests in found.changes.placed.items()} == {"b": 2, "e": 3}


def test_a_lost_anchor_between_two_others_changes_nothing_and_one_at_the_end_is_stale():
    found = aligned("a b C d e F", foreign("b"), foreign("c"), foreign("e"), foreign("f"))
    assert (set(found.changes.placed), set(found.changes.stale), found.place) == ({"b", "e"}, {"f"}, 5)


def test_anchors_of_which_none_is_found_stay():
    found = aligned("x y z", foreign("a"), foreign("b"))
    assert (found.place, bool(found.changes)) == (0, False)


def test_an_anchor_that_was_said_again_is_looked_for_behind_the_one_before():
    found = aligned("ok a b ok c ok d", foreign("b"), foreign("ok"), foreign("c"))
    assert {key: len(digests) for key, digests in found.changes.placed.items()} == {"b": 3, "ok": 1, "c": 1}


def test_the_edited_text_of_our_chunk_in_front_of_an_anchor_is_made_anew():
    found = aligned("a b c D e f g h", block("a b"), block("c d e"), foreign("g"))
    assert found.changes.stale == {"c d e"}
    assert gaps(found) == [(2, 5, "g")]
    assert len(found.changes.placed["g"]) == 2


@pytest.mark.parametrize("form", range(3))
def test_an_anchor_with_braces_is_found_in_each_of_its_forms(form):
    said = [text_message("user", "a"), text_message("user", "{b}"), text_message("user", "c")]
    found = align([Block(key="k", hash=hashes(said[1])[form])], digests_of(said))
    assert (found.place, found.changes.placed) == (2, {"k": digests_of(said).own[:2]})


def test_digests_are_beginnings_of_the_hashes_whatever_a_message_holds():
    picture = ImagePart(url="data:,")
    messages = [
        *conversation(["plain", "{braces}", "lone \ud800", " \n"]),
        Message(role="user", parts=(picture,)),
        Message(role="user"),
    ]
    assert digests_of(messages).own == [hashes(message)[0][:16] for message in messages]


def test_spans_never_overlap_when_chunks_claim_the_same_text():
    found = aligned("a b c d e", block("a b c"), block("b c d"), block("d e"))
    assert (set(found.changes.stale), found.place, gaps(found)) == ({"b c d"}, 5, [])
