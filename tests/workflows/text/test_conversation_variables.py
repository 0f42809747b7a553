"""Variables with parts of the conversation."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.workflows.config.endpoint import PromptTemplate
from mnemoir.workflows.text.filling import fill
from mnemoir.workflows.text.variables import Surroundings, Variables

TEMPLATE = PromptTemplate.model_validate(
    {
        "promptTemplateSystemPrefix": "‹sys›",
        "promptTemplateSystemSuffix": "‹eot›",
        "promptTemplateUserPrefix": "‹usr›",
        "promptTemplateUserSuffix": "‹eot›",
        "promptTemplateAssistantPrefix": "‹ast›",
        "promptTemplateAssistantSuffix": "‹eot›",
    }
)
CHAT_ONLY = PromptTemplate.model_validate(
    {"promptTemplateUserPrefix": "\n", "promptTemplateAssistantPrefix": "\n"},
)
CONVERSATION = [
    text_message("system", "S1"),
    text_message("user", "U1 {brace}"),
    text_message("assistant", "A1"),
    text_message("system", "mid"),
    text_message("user", "U2 "),
]
CHAT = Surroundings(messages=CONVERSATION, now=datetime(2025, 8, 17, tzinfo=UTC))
TEXT = replace(CHAT, endpoint_template=TEMPLATE, chat_template=lambda: CHAT_ONLY)


def filled(text, surroundings=CHAT, **changes):
    return fill(text, Variables(replace(surroundings, **changes)))


@pytest.mark.parametrize(
    ("text", "for_chat", "for_text"),
    [
        ("{chat_user_prompt_last_three}", "A1\nmid\nU2 ", "U1 {brace}\nA1\nU2 "),
        ("{templated_user_prompt_last_two}", "A1U2 ", "‹ast›A1‹eot›‹usr›U2 ‹eot›"),
        ("{chat_system_prompt}", "S1", "S1 mid"),
        ("{templated_system_prompt}", "S1", "‹sys›S1 mid‹eot›"),
        ("{chat_user_prompt_without_system}", "U1 {brace}A1U2 ", "\nU1 {brace}\nA1\nU2 "),
        (
            "{templated_user_prompt_without_system}",
            "U1 {brace}A1U2 ",
            "‹usr›U1 {brace}‹eot›‹ast›A1‹eot›‹usr›U2 ‹eot›",
        ),
        ("{nope} {chat_user_prompt_last_one}", "{nope} U2 ", "{nope} U2 "),
        ("{{x}} {chat_user_prompt_last_one}", "{x} U2 ", "{x} U2 "),
        ("{chat_user_prompt_last_twenty}", "U1 {brace}\nA1\nmid\nU2 ", "U1 {brace}\nA1\nU2 "),
        ("{lastUserMessage}", "{lastUserMessage}", "{lastUserMessage}"),
    ],
)
def test_endpoints_for_messages_and_for_text_get_the_conversation_in_their_form(text, for_chat, for_text):
    assert (filled(text), filled(text, TEXT)) == (for_chat, for_text)


@pytest.mark.parametrize(
    ("word", "count"),
    [("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("ten", 10), ("twenty", 20)],
)
def test_the_last_turns_are_counted_in_words(word, count):
    messages = [text_message("user", str(number)) for number in range(30)]
    expected = [str(number) for number in range(30 - count, 30)]
    assert filled(f"{{chat_user_prompt_last_{word}}}", messages=messages).split("\n") == expected
    assert filled(f"{{templated_user_prompt_last_{word}}}", messages=messages) == "".join(expected)


def test_messages_are_plain_data():
    picture = Message(role="user", parts=(TextPart(text="see"), ImagePart(url="https://x.test/a.png")))
    assert filled("{messages}", messages=[CONVERSATION[0], picture]) == (
        "[{'role': 'system', 'content': 'S1'}, "
        "{'role': 'user', 'content': 'see', 'images': ['https://x.test/a.png']}]"
    )


def test_a_conversation_of_system_messages_only_is_given_as_it_is():
    messages = [text_message("system", "a"), text_message("system", "b")]
    assert filled("{chat_user_prompt_last_two}|{chat_system_prompt}", messages=messages) == "a\nb|a b"
    assert filled("{templated_user_prompt_last_two}", messages=messages) == ""


def test_later_system_messages_of_a_marked_prompt_are_turns():
    messages = [text_message("user", "u"), text_message("systemMes", "later")]
    assert filled("{chat_user_prompt_last_two}|{chat_system_prompt}", TEXT, messages=messages) == "u\nlater|"


def test_a_last_turn_of_the_assistant_is_left_open():
    messages = [text_message("user", "u"), text_message("assistant", "a")]
    assert filled("{templated_user_prompt_last_two}", TEXT, messages=messages) == "‹usr›u‹eot›‹ast›a"


def test_turns_are_joined_by_the_users_delimiter():
    assert filled("{chat_user_prompt_last_two}", delimiter="\n---\n") == "mid\n---\nU2 "


def test_turns_may_have_role_names():
    messages = [*CONVERSATION[1:], text_message("tool", "42")]
    assert filled("{chat_user_prompt_last_five}", messages=messages, adds_role_names=True) == (
        "User: U1 {brace}\nAssistant: A1\nSystem: mid\nUser: U2 \nTool Result: 42"
    )
    assert filled("{chat_user_prompt_without_system}", messages=CONVERSATION[:3], adds_role_names=True) == (
        "User: U1 {brace}Assistant: A1"
    )
    assert filled("{templated_user_prompt_last_one}", messages=CONVERSATION, adds_role_names=True) == "U2 "


FIVE_TOKENS = "one two three four"


def test_a_node_chooses_how_many_messages_it_sees():
    messages = [text_message("user", str(number)) for number in range(9)]
    assert filled("{chat_user_prompt_n_messages}", messages=messages) == "4\n5\n6\n7\n8"
    assert filled("{templated_user_prompt_n_messages}", messages=messages, n_messages=2) == "78"


def test_a_node_sees_the_newest_messages_that_fit_and_always_one():
    messages = [text_message("user", FIVE_TOKENS) for _ in range(9)]
    assert filled("{chat_user_prompt_estimated_token_limit}", messages=messages, token_limit=14) == "\n".join(
        [FIVE_TOKENS] * 2
    )
    assert filled("{chat_user_prompt_estimated_token_limit}", messages=messages, token_limit=1) == FIVE_TOKENS


def test_a_node_sees_some_messages_at_least_and_more_while_they_fit():
    messages = [text_message("user", FIVE_TOKENS) for _ in range(9)]

    def seen(**bounds):
        return len(filled("{chat_user_prompt_min_n_max_tokens}", messages=messages, **bounds).split("\n"))

    assert seen(min_messages=3, max_tokens=1) == 3
    assert seen(min_messages=3, max_tokens=25) == 5
    assert seen() == 9


def test_a_text_reads_only_the_part_of_the_conversation_it_names():
    looked_at = []

    class Watched(list[Message]):
        def __getitem__(self, index):
            looked_at.append(index)
            return super().__getitem__(index)

        def __iter__(self):
            for index in range(len(self)):
                yield self[index]

        def __reversed__(self):
            for index in range(len(self) - 1, -1, -1):
                yield self[index]

    messages = Watched(text_message("user", str(number)) for number in range(10_000))
    assert filled("{todays_date_iso}", messages=messages) == "2025-08-17"
    assert looked_at == []
    assert filled("{chat_user_prompt_last_two}", messages=messages) == "9998\n9999"
    assert filled("{templated_user_prompt_last_two}", TEXT, messages=messages) == "‹usr›9998‹eot›‹usr›9999‹eot›"
    assert len(looked_at) < 10
