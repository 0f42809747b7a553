"""Of a message, facts are learned from what the person typed: not from side tasks, and not from repeated memories."""

import pytest

from mnemoir.memory.facts.reading.blocks import learnable
from tests.wire.task_prompts import TITLE

REPEATED = [
    "Recalled background about the user:\n- Lives in Paris\n- I am a pilot",
    "Recalled background about the user: - Lives in Paris - I am a pilot",
    "What is known about this user:\n* Lives in Paris\n\n* I am a pilot",
    "Facts about the user:\n1. I live in Paris\n2) I am a pilot",
    "<memories>\n- I live in Paris\n</memories>",
    '<user_memories count="2">I live in Paris</user_memories>',
    "<chat_history>\nUSER: I live in Paris\n</chat_history>",
]
TASKS = [
    "You need to summarize the title of the conversation. User: I live in Paris. I am a pilot.",
    "Generate a short title for this chat.\n\nUser: I live in Paris.\nAssistant: How nice!",
    "Suggest three follow-up questions for the conversation below:\n\nuser: I live in Paris.",
    TITLE,
]
TYPED = [
    "I live in Graz.",
    "What do you know about me: anything?",
    "My profile: I live in Graz.",
    "Summarize our conversation, please.",
    "I renamed the chat. A title for the conversation is not needed.",
]


@pytest.mark.parametrize("block", REPEATED)
def test_repeated_memories_are_left_out_and_what_follows_stays(block):
    assert learnable(block).strip() == ""
    assert learnable(f"{block}\n\nI like milk.").strip() == "I like milk."


@pytest.mark.parametrize("prompt", TASKS)
def test_nothing_is_learned_from_a_request_about_a_chat_that_it_contains(prompt):
    assert learnable(prompt) == ""


@pytest.mark.parametrize("text", TYPED)
def test_a_persons_message_stays_as_it_is(text):
    assert learnable(text) == text


@pytest.mark.parametrize(
    "piece", ["<memory>", "about the user: ", "title conversation ", "- a\n", "user:\n", "-", "* - "]
)
def test_nonsense_of_any_kind_is_read_in_bounded_time(piece):
    learnable(piece * 10_000)
