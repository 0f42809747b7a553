"""Prompts as a model gets them: messages for chat protocols, one text for the others."""

from dataclasses import replace

import pytest

from mnemoir.core.messages import Message, text_message
from mnemoir.workflows.config.endpoint import EndpointDefinition, PromptTemplate
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.prompting.assembly import (
    FlatForm,
    Injections,
    chat_messages,
    flat_form,
    flat_prompt,
    generation_prompt,
    inject,
)

CONVERSATION = [
    text_message("system", "S1"),
    text_message("user", "U1 {brace}"),
    text_message("assistant", "A1"),
    text_message("system", "mid"),
    text_message("user", "U2 "),
]
TEMPLATE = PromptTemplate.model_validate(
    {
        "promptTemplateSystemPrefix": "‹sys›",
        "promptTemplateSystemSuffix": "‹eot›",
        "promptTemplateUserPrefix": "‹usr›",
        "promptTemplateUserSuffix": "‹eot›",
        "promptTemplateAssistantPrefix": "‹ast›\n\n",
        "promptTemplateAssistantSuffix": "‹eot›",
    }
)
PLAIN = FlatForm(template=TEMPLATE)
INJECTIONS = Injections(system="SYSINJ ", prompt="PRINJ ", completion="COMPINJ", ensures_assistant=True)
TURNS = "‹usr›U1 {brace}‹eot›‹ast›\n\nA1‹eot›‹usr›U2 ‹eot›"


def endpoint(**keys):
    return EndpointDefinition.model_validate({"endpoint": "http://a.example", "apiTypeConfigFileName": "A", **keys})


def said(messages):
    return [(message.role, message.text) for message in messages]


def test_a_chat_prompt_without_a_text_of_its_own_is_the_system_prompt_and_the_last_messages():
    sent = chat_messages("SYS", None, CONVERSATION, 2)
    assert said(sent) == [("system", "SYS"), ("system", "mid"), ("user", "U2 ")]


def test_a_chat_prompt_with_a_text_of_its_own_is_a_turn_of_the_user():
    assert said(chat_messages("SYS", "Q", CONVERSATION, 2)) == [("system", "SYS"), ("user", "Q")]


def test_a_prompt_that_is_filled_to_an_empty_text_is_still_a_turn():
    assert chat_messages("", "", CONVERSATION, 2) == [Message(role="user")]


def test_a_later_system_message_of_a_marked_prompt_is_a_system_message_of_a_chat():
    marked = [text_message("user", "hi"), text_message("systemMes", "again")]
    assert said(chat_messages("", None, marked, 5)) == [("user", "hi"), ("system", "again")]


def test_an_endpoints_own_texts_go_into_a_chat_prompt():
    sent = inject(chat_messages("SYS", None, CONVERSATION, 2), INJECTIONS)
    assert said(sent) == [
        ("system", "SYSINJ SYS"),
        ("system", "mid"),
        ("user", "PRINJ U2 "),
        ("assistant", "COMPINJ"),
    ]


def test_a_flat_prompt_without_a_text_of_its_own_holds_one_message_more():
    assert flat_prompt("SYS", None, CONVERSATION, 2, PLAIN) == f"‹sys›SYS‹eot›{TURNS}"


def test_an_endpoints_own_texts_go_into_a_flat_prompt():
    form = replace(PLAIN, injections=INJECTIONS)
    assert flat_prompt("SYS", None, CONVERSATION, 2, form) == f"SYSINJ ‹sys›SYS‹eot›PRINJ {TURNS}COMPINJ"


@pytest.mark.parametrize(
    ("keys", "prompt"),
    [
        ({}, "Q"),
        ({"addUserTurnTemplate": True}, "‹usr›Q‹eot›‹ast›"),
        ({"addUserTurnTemplate": True, "addOpenEndedAssistantTurnTemplate": True}, "‹ast›\n\n‹usr›Q‹eot›‹ast›"),
        ({"forceGenerationPromptIfEndpointAllows": True}, "Q‹ast›"),
        ({"addUserTurnTemplate": True, "blockGenerationPrompt": True}, "‹usr›Q‹eot›"),
        ({"addOpenEndedAssistantTurnTemplate": True}, "‹ast›\n\nQ"),
    ],
)
def test_turns_are_put_around_a_flat_prompt_as_the_node_says(keys, prompt):
    properties = ModelProperties.model_validate(keys)
    form = flat_form(properties, role="responder", endpoint=endpoint(addGenerationPrompt=True), template=TEMPLATE)
    assert flat_prompt("SYS", "Q", CONVERSATION, 2, form) == f"‹sys›SYS‹eot›{prompt}"


def test_the_system_part_of_a_flat_prompt_is_there_without_a_system_prompt():
    assert flat_prompt("", "Q", [], 5, PLAIN) == "‹sys›‹eot›Q"


def test_the_answers_beginning_is_put_behind_the_stripped_text_as_it_is():
    form = replace(PLAIN, injections=Injections(completion=" Sure:\n"))
    assert flat_prompt("", "Q\n\n", [], 5, form) == "‹sys›‹eot›Q Sure:\n"


def test_markers_go_from_wrapped_texts_and_stay_in_a_prompt_that_is_not_wrapped():
    assert flat_prompt("[Beg_Sys]S", "[Beg_User]Q", [], 5, PLAIN) == "‹sys›S‹eot›[Beg_User]Q"
    wrapped = replace(PLAIN, adds_user_turn=True)
    assert flat_prompt("", "[Beg_User]Q", [], 5, wrapped) == "‹sys›‹eot›‹usr›Q‹eot›"


@pytest.mark.parametrize("role", ["responder", "other"])
@pytest.mark.parametrize(
    ("force", "block", "user_turn", "ends"),
    [
        (False, False, False, False),
        (True, False, False, True),
        (False, False, True, True),
        (True, False, True, True),
        (False, True, False, False),
        (True, True, True, False),
    ],
)
def test_a_generation_prompt_is_added_where_the_node_asks_for_it(role, force, block, user_turn, ends):
    properties = ModelProperties.model_validate(
        {
            "forceGenerationPromptIfEndpointAllows": force,
            "blockGenerationPrompt": block,
            "addUserTurnTemplate": user_turn,
        }
    )
    assert generation_prompt(properties, role=role, endpoint=endpoint(addGenerationPrompt=True)) is ends
    assert generation_prompt(properties, role=role, endpoint=endpoint()) is False


@pytest.mark.parametrize(("block", "ends"), [(False, True), (True, False)])
def test_the_responder_of_a_silent_workflow_gets_one_unless_it_is_blocked(block, ends):
    properties = ModelProperties.model_validate({"blockGenerationPrompt": block})
    allowed = endpoint(addGenerationPrompt=True)
    assert generation_prompt(properties, role="silent responder", endpoint=allowed) is ends
    assert generation_prompt(properties, role="silent responder", endpoint=endpoint()) is False
