"""Requests to models over HTTP for every kind of endpoint, and the cleaned answers."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.core.events import Finished, Text, Thinking, ToolCallPart
from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from tests.scripted_llm import Answer
from tests.workflows.workflow_kit import chat, events, nodes_of, reply, text_of

TALK = (
    text_message("system", "S1"),
    text_message("user", "U1 {brace}"),
    text_message("assistant", "A1"),
    text_message("system", "mid"),
    text_message("user", "U2 [DiscussionId]d1[/DiscussionId]"),
)
TEMPLATE = {
    f"promptTemplate{role}{place}": text
    for role, prefix in {"System": "‹sys›", "User": "‹usr›", "Assistant": "‹ast›\n\n"}.items()
    for place, text in {"Prefix": prefix, "Suffix": "‹eot›"}.items()
}
KINDS = {
    "Chat": ("openAIChatCompletion", "", "max_tokens"),
    "LlamaCpp": ("openAIChatCompletion", "truncation_length", "n_predict"),
    "Text": ("openAIV1Completion", "", "max_tokens"),
    "Kobold": ("koboldCppGenerate", "max_context_length", "max_length"),
    "OllamaChat": ("ollamaApiChat", "num_ctx", "num_predict"),
    "OllamaText": ("ollamaApiGenerate", "num_ctx", "num_predict"),
}
ALL = pytest.mark.parametrize("kind", KINDS)
FLAT = pytest.mark.parametrize("kind", ["Text", "Kobold", "OllamaText"])
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
HISTORY = "‹usr›U1 {brace}‹eot›‹ast›\n\nA1‹eot›‹usr›U2 ‹eot›"
INJECTED = {
    "addTextToStartOfSystem": True,
    "textToAddToStartOfSystem": "SYSINJ ",
    "addTextToStartOfPrompt": True,
    "textToAddToStartOfPrompt": "PRINJ ",
    "addTextToStartOfCompletion": True,
    "textToAddToStartOfCompletion": "COMPINJ",
    "ensureTextAddedToAssistantWhenChatCompletion": True,
}


def endpoint(url, kind="Chat", **members):
    told = {"endpoint": f"{url}/", "apiTypeConfigFileName": kind, "modelNameToSendToAPI": "m1"}
    return told | {"maxContextTokenSize": 8192, "promptTemplate": "Marks", "addGenerationPrompt": True} | members


def node(endpoint_name="There", **members):
    told = {"title": "Ask", "endpointName": endpoint_name, "preset": "P", "systemPrompt": "SYS", "prompt": ""}
    return told | {"maxResponseSizeInTokens": 50, "lastMessagesToSendInsteadOfPrompt": 2} | members


def asking(desk, kind="Chat", *, of_endpoint=None, files=None, settings=None, **members):
    """A workflow with one node of these properties that asks an endpoint of that kind."""
    types = {
        f"ApiTypes/{name}.json": {
            "type": wire,
            "presetType": "Any",
            "truncateLengthPropertyName": truncate,
            "maxNewTokensPropertyName": most,
            "streamPropertyName": "stream",
        }
        for name, (wire, truncate, most) in KINDS.items()
    }
    more = {
        "Endpoints/There.json": endpoint(desk.llm.url, kind, **(of_endpoint or {})),
        "PromptTemplates/Marks.json": TEMPLATE,
        "Presets/Any/P.json": {"temperature": 0.5, "max_tokens": 7, "custom": "x", "nothing": None},
    }
    return desk.tree(node(**members), files={**types, **more, **(files or {})}, settings=settings)


async def sent(workflows, llm, *messages, stream=False):
    """The body of the one request that a conversation leads to."""
    await events(workflows, chat(*(messages or TALK), stream=stream))
    (asked,) = llm.requests
    return asked.body


async def flat(workflows, llm, *messages):
    return (await sent(workflows, llm, *messages))["prompt"]


MESSAGES = [
    {"role": "system", "content": "SYS"},
    {"role": "system", "content": "mid"},
    {"role": "user", "content": "U2 "},
]
SAMPLING = {"temperature": 0.5, "custom": "x"}


async def test_a_chat_endpoint_gets_the_last_messages_and_the_preset(desk, llm):
    body = await sent(asking(desk), llm)
    assert body == {"model": "m1", "messages": MESSAGES, **SAMPLING, "stream": False, "max_tokens": 50}


async def test_the_properties_of_the_api_type_go_beside_the_presets_own(desk, llm):
    body = await sent(asking(desk, "LlamaCpp"), llm)
    more = {"stream": False, "max_tokens": 7, "truncation_length": 8192, "n_predict": 50}
    assert body == {"model": "m1", "messages": MESSAGES, **SAMPLING, **more}


async def test_an_ollama_chat_endpoint_gets_all_settings_as_options(desk, llm):
    body = await sent(asking(desk, "OllamaChat"), llm)
    options = {**SAMPLING, "max_tokens": 7, "num_ctx": 8192, "num_predict": 50}
    assert body == {"model": "m1", "messages": MESSAGES, "options": options, "stream": False}


async def test_a_text_endpoint_gets_one_message_more_in_its_template(desk, llm):
    body = await sent(asking(desk, "Text"), llm)
    prompt = f"‹sys›SYS‹eot›{HISTORY}"
    assert body == {"model": "m1", "prompt": prompt, **SAMPLING, "stream": False, "max_tokens": 50}


async def test_a_koboldcpp_endpoint_gets_no_model(desk, llm):
    body = await sent(asking(desk, "Kobold"), llm)
    more = {"max_tokens": 7, "stream": False, "max_context_length": 8192, "max_length": 50}
    assert body == {"prompt": f"‹sys›SYS‹eot›{HISTORY}", **SAMPLING, **more}
    assert llm.requests[0].path == "/api/v1/generate"


async def test_an_ollama_text_endpoint_gets_a_raw_prompt(desk, llm):
    body = await sent(asking(desk, "OllamaText"), llm)
    options = {**SAMPLING, "max_tokens": 7, "num_ctx": 8192, "num_predict": 50}
    prompt = f"‹sys›SYS‹eot›{HISTORY}"
    assert body == {"model": "m1", "prompt": prompt, "stream": False, "raw": True, "options": options}


async def test_texts_of_an_endpoint_go_into_the_messages(desk, llm):
    body = await sent(asking(desk, of_endpoint=INJECTED), llm)
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("system", "SYSINJ SYS"),
        ("system", "mid"),
        ("user", "PRINJ U2 "),
        ("assistant", "COMPINJ"),
    ]


@FLAT
async def test_texts_of_an_endpoint_go_into_the_text(desk, llm, kind):
    prompt = await flat(asking(desk, kind, of_endpoint=INJECTED), llm)
    assert prompt == f"SYSINJ ‹sys›SYS‹eot›PRINJ {HISTORY}COMPINJ"


TURN, OPEN = {"addUserTurnTemplate": True}, {"addOpenEndedAssistantTurnTemplate": True}


@pytest.mark.parametrize(
    ("members", "prompt"),
    [
        ({}, "‹sys›SYS‹eot›Q"),
        (TURN, "‹sys›SYS‹eot›‹usr›Q‹eot›‹ast›"),
        (TURN | OPEN, "‹sys›SYS‹eot›‹ast›\n\n‹usr›Q‹eot›‹ast›"),
        ({"forceGenerationPromptIfEndpointAllows": True}, "‹sys›SYS‹eot›Q‹ast›"),
        (TURN | {"blockGenerationPrompt": True}, "‹sys›SYS‹eot›‹usr›Q‹eot›"),
    ],
)
@FLAT
async def test_a_nodes_own_prompt_has_the_turns_of_its_properties(desk, llm, kind, members, prompt):
    assert await flat(asking(desk, kind, prompt="Q", **members), llm) == prompt


async def test_the_result_of_a_silent_workflow_ends_with_the_assistants_prefix(desk, llm):
    inner = {"Workflows/Ann/Inner.json": [node(prompt="Q")]}
    outer = {"type": "CustomWorkflow", "workflowName": "Inner"}, {"type": "StaticResponse", "content": "x"}
    asking(desk, "Text")
    await events(desk.tree(*outer, files=inner))
    assert llm.requests[0].body["prompt"] == "‹sys›SYS‹eot›Q‹ast›"


@pytest.mark.parametrize(
    ("text", "chat_kind", "text_kind"),
    [
        ("{chat_user_prompt_last_three}", "A1\nmid\nU2 ", "U1 {brace}\nA1\nU2 "),
        ("{templated_user_prompt_last_two}", "A1U2 ", "‹ast›\n\nA1‹eot›‹usr›U2 ‹eot›"),
        ("{chat_system_prompt}", "S1", "S1 mid"),
        ("{chat_user_prompt_without_system}", "U1 {brace}A1U2 ", "\nU1 {brace}\nA1\nU2 "),
        ("{nope} {chat_user_prompt_last_one}", "{nope} U2 ", "{nope} U2 "),
        ("{{x}} {chat_user_prompt_last_one}", "{x} U2 ", "{x} U2 "),
    ],
)
async def test_variables_follow_the_kind_of_the_endpoint(desk, llm, text, chat_kind, text_kind):
    chat_only = {"PromptTemplates/_chatonly.json": dict.fromkeys(_PREFIXES, "\n")}
    asked = await sent(asking(desk, prompt=text, files=chat_only), llm)
    llm.requests.clear()
    of_text = {"addTextToStartOfCompletion": True, "textToAddToStartOfCompletion": "|"}
    as_text = await flat(asking(desk, "Text", prompt=f"|{text}|", of_endpoint=of_text, files=chat_only), llm)
    assert asked["messages"][-1]["content"] == chat_kind
    assert as_text == f"‹sys›SYS‹eot›|{text_kind}||"


_PREFIXES = ("promptTemplateUserPrefix", "promptTemplateAssistantPrefix")


async def test_messages_are_shown_as_a_list(desk, llm):
    body = await sent(asking(desk, prompt="{messages}"), llm)
    shown = "[{'role': 'system', 'content': 'S1'}, {'role': 'user', 'content': 'U1 {brace}'}, "
    assert body["messages"][1]["content"].startswith(shown)


async def test_a_prompt_that_is_filled_to_an_empty_text_is_still_a_turn(desk, llm):
    files = {"Workflows/Ann/Chat.json": {"nodes": [node(prompt="{empty}")], "empty": ""}}
    body = await sent(asking(desk, files=files), llm)
    assert body["messages"] == [{"role": "system", "content": "SYS"}, {"role": "user", "content": ""}]


async def test_a_model_may_be_left_out(desk, llm):
    assert "model" not in await sent(asking(desk, of_endpoint={"dontIncludeModel": True}), llm)


async def test_without_a_preset_only_what_the_api_type_names_is_sent(desk, llm):
    body = await sent(asking(desk, preset=""), llm)
    assert body == {"model": "m1", "messages": MESSAGES, "stream": False, "max_tokens": 50}


async def test_names_and_numbers_may_come_from_variables_of_the_workflow(desk, llm):
    names = {"endpointName": "{where}", "preset": "{how}", "maxResponseSizeInTokens": "{agent1Input}"}
    last = {"lastMessagesToSendInsteadOfPrompt": "{last}"}
    files = {
        "Workflows/Ann/Chat.json": [{"type": "CustomWorkflow", "workflowName": "Inner", "scoped_variables": [33]}],
        "Workflows/Ann/Inner.json": {"nodes": [node(**names, **last)], "where": "There", "how": "P", "last": "1"},
    }
    body = await sent(asking(desk, files=files), llm)
    assert (body["temperature"], body["max_tokens"]) == (0.5, 33)
    assert [message["content"] for message in body["messages"]] == ["SYS", "U2 "]


async def test_counts_of_variables_may_be_texts_too(desk, llm):
    last = {"prompt": "{chat_user_prompt_n_messages}", "nMessagesToIncludeInVariable": "{many}"}
    files = {"Workflows/Ann/Chat.json": {"nodes": [node(**last)], "many": "2"}}
    body = await sent(asking(desk, files=files), llm)
    assert body["messages"][1]["content"] == "mid\nU2 "


async def test_an_invalid_number_is_replaced_by_the_default_with_a_note(desk, llm):
    assert (await sent(asking(desk, maxResponseSizeInTokens="many"), llm))["max_tokens"] == 400
    (asked,) = nodes_of(await desk.runs.next())
    assert asked.notes == ["maxResponseSizeInTokens is 'many', which is no number; 400 was taken."]


async def test_an_output_is_never_an_early_variable(desk, llm):
    first = {"title": "first", "type": "StaticResponse", "content": "There"}
    workflows = asking(desk)
    workflows = desk.tree(first, node(endpointName="{agent1Output}"))
    with pytest.raises(SettingsError, match="agent1Output"):
        await reply(workflows)


# --- tools and pictures

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
PICTURES = [ImagePart(url=f"data:image/png;base64,AAA{letter}") for letter in "ABC"]
SEEING = [
    Message(role="user", parts=(TextPart(text="One"), PICTURES[0])),
    Message(role="user", parts=(TextPart(text="Two"), *PICTURES[1:])),
]


@pytest.mark.parametrize(("members", "passed"), [({}, None), ({"allowTools": True}, TOOLS)])
async def test_tools_of_the_client_are_sent_if_the_node_allows_it(desk, llm, members, passed):
    request = chat(text_message("user", "Hi"), stream=False, tools=TOOLS, tool_choice="auto")
    await events(asking(desk, **members), request)
    body = llm.requests[0].body
    assert (body.get("tools"), body.get("tool_choice")) == (passed, passed and "auto")


@WAYS
async def test_calls_of_tools_come_back_with_their_reason(desk, llm, stream):
    llm.queue(Answer(tool_calls=[("look", {"at": "it"})]))
    request = chat(text_message("user", "Hi"), stream=stream, tools=TOOLS)
    happened = await events(asking(desk, allowTools=True), request)
    (call,) = [event for event in happened if isinstance(event, ToolCallPart)]
    assert (call.name, call.arguments) == ("look", '{"at": "it"}')
    assert happened[-1] == Finished(reason="tool_calls")


@ALL
async def test_pictures_are_not_sent_unless_a_node_asks_for_them(desk, llm, kind):
    await sent(asking(desk, kind), llm, *SEEING)
    assert "AAA" not in llm.requests[0].prompt


@pytest.mark.parametrize(("most", "letters"), [(0, "ABC"), (2, "BC"), ("{n}", "C")])
async def test_a_node_that_accepts_pictures_sends_the_newest_with_the_last_message(desk, llm, most, letters):
    nodes = {"nodes": [node(acceptImages=True, maxImagesToSend=most)], "n": 1}
    body = await sent(asking(desk, files={"Workflows/Ann/Chat.json": nodes}), llm, *SEEING)
    *_, before, last = body["messages"]
    assert before["content"] == "One"
    assert [part.get("text") or part["image_url"]["url"][-1] for part in last["content"]] == ["Two", *letters]


@pytest.mark.parametrize("kind", ["Kobold", "OllamaChat"])
async def test_other_kinds_get_pictures_without_the_head_of_their_url(desk, llm, kind):
    body = await sent(asking(desk, kind, acceptImages=True), llm, *SEEING)
    images = body["images"] if kind == "Kobold" else body["messages"][-1]["images"]
    assert images == ["AAAA", "AAAB", "AAAC"]


# --- the size of the context


@ALL
async def test_the_oldest_messages_are_left_out_where_the_context_is_too_small(desk, llm, kind):
    talk = [text_message("user" if n % 2 else "assistant", f"M{n} " + "word " * 100) for n in range(9)]
    small = {"maxContextTokenSize": 400}
    await sent(asking(desk, kind, of_endpoint=small, lastMessagesToSendInsteadOfPrompt=9), llm, *talk)
    assert "M0 " not in llm.requests[0].prompt
    assert "M7 " in llm.requests[0].prompt
    (asked,) = nodes_of(await desk.runs.next())
    assert "messages were left out, oldest first, to stay within 400 tokens (maxContextTokenSize)." in asked.notes[0]


async def test_a_prompt_of_the_nodes_own_is_never_cut(desk, llm):
    body = await sent(asking(desk, of_endpoint={"maxContextTokenSize": 100}, prompt="word " * 1000), llm)
    assert body["messages"][1]["content"] == "word " * 1000


# --- answers


@ALL
@WAYS
async def test_every_kind_of_endpoint_answers(desk, llm, kind, stream):
    llm.reply("one two three")
    happened = await events(asking(desk, kind), chat(*TALK, stream=stream))
    pieces = [event.text for event in happened if isinstance(event, Text)]
    assert pieces == (["one ", "two ", "three"] if stream else ["one two three"])
    assert happened[-1] == Finished()


@ALL
@WAYS
async def test_an_answer_is_cleaned_by_the_rules_of_endpoint_and_node(desk, llm, kind, stream):
    think = {"removeThinking": True, "startThinkTag": "<think>", "endThinkTag": "</think>"}
    cut = {"removeCustomTextFromResponseStart": True, "responseStartTextToRemove": ["Sure: "]}
    llm.reply("<think>Let me see.</think> Sure: Soup is good.")
    assert await reply(asking(desk, kind, of_endpoint=think, **cut), chat(*TALK, stream=stream)) == "Soup is good."


@WAYS
async def test_separate_thinking_of_the_model_is_not_passed_on(desk, llm, stream):
    llm.queue(Answer(text="Soup.", thinking="Let me see."))
    happened = await events(asking(desk), chat(*TALK, stream=stream))
    assert [event for event in happened if isinstance(event, Thinking)] == []
    assert text_of(happened) == "Soup."


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@WAYS
async def test_the_models_own_reason_for_its_end_is_passed_on(desk, llm, reason, stream):
    llm.queue(Answer(text="Half an", reason=reason))
    assert (await events(asking(desk), chat(*TALK, stream=stream)))[-1] == Finished(reason=reason)


@WAYS
async def test_the_assistants_name_is_cut_off_where_the_conversation_was_opened_for_it(desk, llm, stream):
    flags = {"chatCompleteAddUserAssistant": True, "chatCompletionAddMissingAssistantGenerator": True}
    llm.reply("Assistant: Soup.")
    workflows = asking(desk, settings=flags)
    assert await reply(workflows, chat(text_message("user", "Hi"), stream=stream)) == "Soup."
    assert [m["content"] for m in llm.requests[0].body["messages"]] == ["SYS", "User: Hi", "Assistant:"]


# --- an endpoint that cannot be


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"Workflows/Ann/Chat.json": [{"type": "Standard", "prompt": "x"}]}, "names no endpoint.*type Respond"),
        ({"Workflows/Ann/Chat.json": [node("Gone")]}, "endpoint 'Gone' was not found"),
        ({"ApiTypes/Chat.json": {"type": "carrierPigeon"}}, "API type Chat has the unknown type 'carrierPigeon'"),
        ({"Endpoints/There.json": {"endpoint": "nonsense", "apiTypeConfigFileName": "Chat"}}, "There"),
    ],
)
async def test_an_endpoint_that_cannot_be_asked_is_named_in_the_error(desk, llm, files, told):
    with pytest.raises(SettingsError, match=told):
        await reply(asking(desk, files=files))
    assert llm.requests == []


async def test_a_change_of_a_file_takes_effect_at_the_next_request(desk, llm):
    workflows = asking(desk)
    await reply(workflows)
    asking(desk, systemPrompt="A much longer one")
    await reply(workflows)
    assert [asked.body["messages"][0]["content"] for asked in llm.requests] == ["SYS", "A much longer one"]
