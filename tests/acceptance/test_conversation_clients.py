"""Apps that keep a conversation with the server: what they send is stored as the tree it is, each message once."""

import json
import re
from base64 import b64encode

import ollama
import openai
import pytest

from tests.acceptance.conversation_kit import (
    AnsweringModel,
    Place,
    answered,
    holds,
    lines_of,
    open_place,
    path_of,
    said,
    text_of,
)
from tests.scripted_llm import Answer
from tests.tree_kit import eventually
from tests.wire.task_prompts import FOLLOW_UPS, TITLE
from tests.workflows.nodes.pictures import png

WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
PICTURE_BYTES = png(filler=bytes(range(33, 127)) * 40)
PICTURE = f"data:image/png;base64,{b64encode(PICTURE_BYTES).decode()}"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with open_place(tmp_path_factory.mktemp("clients")) as opened:
        yield opened


@pytest.fixture(scope="module")
def keeping(running, tmp_path_factory):
    """A server that keeps every conversation, whether it has a name or not."""
    with open_place(tmp_path_factory.mktemp("keeping"), MNEMOIR_MEMORY__ENABLED="true") as opened:
        yield opened


@pytest.fixture
def place(running):
    running.model.llm.clear()
    running.model.ready.clear()
    return running


@pytest.fixture
def talk(request):
    """A conversation for each test, by a name that needs no encoding."""
    return re.sub(r"\W+", "-", request.node.name)


@pytest.fixture
def openai_client(place, talk):
    headers = {"X-Session-Id": talk}
    with openai.OpenAI(
        base_url=f"{place.server.url}/v1", api_key="none", max_retries=0, default_headers=headers
    ) as client:
        yield client


@pytest.fixture
def ollama_client(place, talk):
    with ollama.Client(host=place.server.url, headers={"X-Session-Id": talk}) as client:
        yield client


def by_openai(client, messages, stream):
    got = client.chat.completions.create(model="any", messages=messages, stream=stream)
    if not stream:
        return got.choices[0].message.content
    return "".join(chunk.choices[0].delta.content or "" for chunk in got if chunk.choices)


def by_ollama(client, messages, stream):
    got = client.chat("any", messages, stream=stream)
    return "".join(piece.message.content for piece in got) if stream else got.message.content


# --- the official packages


@WAYS
@pytest.mark.parametrize("package", ["openai", "ollama"])
def test_a_client_that_sends_everything_again_adds_only_the_new_turn(
    place, talk, openai_client, ollama_client, package, stream
):
    ask = {"openai": (by_openai, openai_client), "ollama": (by_ollama, ollama_client)}[package]
    history = []
    for text in ("Good morning", "How are you?", "What is a branch?"):
        history.append(said(text))
        history.append(answered(ask[0](ask[1], history, stream)))
    assert place.thread(talk) == lines_of(history)
    tree = place.messages(talk, "tree")
    assert [message["on_thread"] for message in tree] == [True] * 6
    assert [message["parent_id"] for message in tree] == [None, *(message["id"] for message in tree[:-1])]
    turns = [message["turn_id"] for message in tree]
    assert turns[::2] == turns[1::2]
    assert len(set(turns)) == 3
    assert [message["finish_reason"] for message in tree] == [None, "stop"] * 3
    assert all(message["run_id"].startswith("run_") for message in tree[1::2])


def test_two_apps_go_on_with_one_conversation(place, talk, openai_client, ollama_client):
    history = [said("Begin here")]
    history.append(answered(by_openai(openai_client, history, stream=True)))
    history.append(said("Go on there"))
    history.append(answered(by_ollama(ollama_client, history, stream=False)))
    assert place.thread(talk) == lines_of(history)
    assert place.ids().count(talk) == 1


@WAYS
def test_the_answer_names_its_conversation(place, talk, stream):
    assert place.post([said("Hi")], talk, stream=stream).headers["x-conversation-id"] == talk
    assert "x-conversation-id" not in place.post([said("Hi")], stream=stream).headers


@pytest.mark.parametrize("name", ["conversation_id", "session_id"])
def test_a_session_named_in_the_body_is_the_same_one(place, talk, name):
    history = [said("In the header")]
    history.append(answered(place.chat(history, talk)))
    history.append(said("In the body"))
    history.append(answered(place.chat(history, **{name: talk})))
    assert place.thread(talk) == lines_of(history)


# --- branches


def test_an_edited_message_begins_a_branch_and_the_old_one_is_kept(place, talk):
    first = [said("I like tea")]
    first += [answered(place.chat(first, talk)), said("What do I like?")]
    first.append(answered(place.chat(first, talk)))
    edited = [*first[:2], said("What do I like to drink?")]
    edited.append(answered(place.chat(edited, talk)))
    assert place.thread(talk) == lines_of(edited)
    tree = place.messages(talk, "tree")
    assert lines_of(tree) == lines_of([*first, *edited[2:]])
    assert [message["on_thread"] for message in tree] == [True, True, False, False, True, True]
    assert tree[4]["parent_id"] == tree[2]["parent_id"] == tree[1]["id"]


def test_a_regenerated_answer_stands_beside_the_first_one(place, talk):
    history = [said("Tell me a story")]
    answers = [place.chat(history, talk) for _ in range(3)]
    assert len(set(answers)) == 3
    assert place.thread(talk) == lines_of([*history, answered(answers[-1])])
    tree = place.messages(talk, "tree")
    assert lines_of(tree) == lines_of([*history, *map(answered, answers)])
    assert {message["parent_id"] for message in tree[1:]} == {tree[0]["id"]}
    assert len({message["turn_id"] for message in tree}) == 1


def test_a_client_goes_back_to_an_answer_that_it_had_given_up(place, talk):
    history = [said("Tell me a story")]
    old, new = place.chat(history, talk), place.chat(history, talk)
    further = [*history, answered(old), said("And then?")]
    further.append(answered(place.chat(further, talk)))
    assert place.thread(talk) == lines_of(further)
    tree = place.messages(talk, "tree")
    assert [message["content"] for message in tree if not message["on_thread"]] == [new]


def test_a_history_that_a_client_cut_in_front_goes_on_where_it_was(place, talk):
    history = []
    for number in range(4):
        history.append(said(f"Question {number}"))
        history.append(answered(place.chat(history[-3:], talk)))
    assert place.thread(talk) == lines_of(history)


def test_a_reasoning_model_s_thoughts_do_not_make_another_message(place, talk):
    place.model.ready = [Answer(text="<think>Let me see.</think>\n\nIt is blue.")]
    place.chat([said("Which colour?")], talk)
    history = [said("Which colour?"), answered("It is blue."), said("Sure?")]
    place.chat(history, talk)
    assert [role for role, _ in place.thread(talk)] == ["user", "assistant"] * 2
    assert len(place.messages(talk, "tree")) == 4


def test_system_prompts_are_no_messages(place, talk):
    for prompt in ("Be kind.", "Be brief. It is noon."):
        place.chat([{"role": "system", "content": prompt}, said("Hello")], talk)
    assert [role for role, _ in lines_of(place.messages(talk, "tree"))] == ["user", "assistant", "assistant"]
    assert place.get(path_of(talk))["system_prompt"] == "Be kind."


# --- answers that are cut off


def test_a_stopped_stream_leaves_what_came_of_the_answer_marked_incomplete(place, talk, openai_client):
    place.model.ready = [Answer(text="One two three four", stall_after=2)]
    stream = openai_client.chat.completions.create(model="any", messages=[said("Count")], stream=True)
    got = ""
    while got != "One two ":
        got += next(stream).choices[0].delta.content or ""
    stream.close()
    assert place.model.llm.wait_disconnected()
    *_, partial = eventually(lambda: [one for one in place.messages(talk) if one["role"] == "assistant"])
    assert (partial["content"].strip(), partial["finish_reason"]) == ("One two", "incomplete")
    place.model.llm.release()
    history = [said("Count"), answered(partial["content"]), said("Go on")]
    place.chat(history, talk)
    assert lines_of(place.messages(talk))[:3] == lines_of(history)
    assert len(place.messages(talk, "tree")) == 4


@pytest.mark.parametrize("fault", [{"cut_after": 2}, {"end_after": 2}], ids=["torn", "ended early"])
def test_an_answer_that_breaks_off_is_marked_incomplete(place, talk, fault):
    place.model.ready = [Answer(text="One two three four", **fault)]
    reply = place.post([said("Count")], talk, stream=True)
    assert "One" in reply.text
    *_, partial = eventually(lambda: [one for one in place.messages(talk) if one["role"] == "assistant"])
    assert (partial["content"].strip(), partial["finish_reason"]) == ("One two", "incomplete")


def test_a_model_that_fails_leaves_the_question_and_no_answer(place, talk):
    place.model.ready = [Answer(status=500, body=b"{}")]
    assert place.post([said("Are you there?")], talk).status_code >= 500
    history = [said("Are you there?")]
    assert place.thread(talk) == lines_of(history)
    history.append(answered(place.chat(history, talk)))
    assert place.thread(talk) == lines_of(history)


# --- what is no part of a conversation


def test_what_an_app_asks_for_itself_is_not_stored(place, talk):
    history = [said("Hello there")]
    history.append(answered(place.chat(history, talk)))
    for task in (FOLLOW_UPS, TITLE):
        place.chat([said(task)], talk)
    assert lines_of(place.messages(talk, "tree")) == lines_of(history)


def test_a_prompt_without_roles_is_not_stored(place, talk, openai_client):
    openai_client.completions.create(model="any", prompt="Once upon a time")
    assert talk not in place.ids()


def test_without_a_session_nothing_is_stored_unless_the_settings_say_so(place):
    before = place.ids()
    place.chat([said("Nobody keeps this sentence about quinces")])
    assert place.ids() == before
    assert holds(place.server.data_dir / "conversations", ["quinces"]) == {}


# --- pictures and tools


def test_a_picture_is_stored_once_beside_its_message_and_shown_to_the_model_again(place, talk):
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    history = [said(content)]
    history.append(answered(place.chat(history, talk)))
    history.append(said("Are you sure?"))
    history.append(answered(place.chat(history, talk)))
    assert len(place.messages(talk, "tree")) == 4
    stored = place.messages(talk)[0]["content"]
    (link,) = [part["image_url"]["url"] for part in stored if part["type"] == "image_url"]
    assert link.startswith("mnemoir:attachments/")
    assert [part["text"] for part in stored if part["type"] == "text"] == ["What is it?"]
    files = [file for file in place.conversations.rglob("*") if file.is_file() and PICTURE_BYTES in file.read_bytes()]
    assert [file.name for file in files] == [link.rpartition("/")[2]]
    assert holds(place.server.data_dir, [PICTURE[-200:]]) == {}
    place.model.llm.clear()
    place.chat([said("And now?")], talk, history="server")
    assert PICTURE in json.dumps(place.model.last_shown)


def test_calls_of_tools_and_their_results_are_stored_and_sent_again_whole(place, talk, openai_client):
    place.model.ready = [Answer(tool_calls=[("weather", {"city": "Graz"})])]
    create = openai_client.chat.completions.create
    asking = create(model="any", messages=[said("Rain?")], tools=[TOOL]).choices[0].message
    history = [said("Rain?"), asking.to_dict(), {"role": "tool", "tool_call_id": asking.tool_calls[0].id}]
    history[2]["content"] = "Sunny"
    final = create(model="any", messages=history, tools=[TOOL]).choices[0].message.content
    create(model="any", messages=[*history, answered(final), said("Thanks")], tools=[TOOL])
    tree = place.messages(talk, "tree")
    assert [message["role"] for message in tree] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    (call,) = tree[1]["tool_calls"]
    assert (call["id"], call["type"], call["function"]["name"]) == (asking.tool_calls[0].id, "function", "weather")
    assert json.loads(call["function"]["arguments"]) == {"city": "Graz"}
    assert (tree[1]["finish_reason"], tree[2]["tool_call_id"]) == ("tool_calls", call["id"])
    assert len({message["turn_id"] for message in tree[:4]}) == 1


# --- the server's history


@WAYS
def test_a_client_that_sends_its_new_message_alone_is_answered_from_what_is_stored(
    place, talk, openai_client, stream
):
    def ask(text):
        got = openai_client.chat.completions.create(
            model="any", messages=[said(text)], stream=stream, extra_body={"history": "server"}
        )
        if not stream:
            return got.choices[0].message.content
        return "".join(chunk.choices[0].delta.content or "" for chunk in got if chunk.choices)

    history = []
    for text in ("My cat is Minka", "What is her name?", "What is her name?"):
        history.append(said(text))
        history.append(answered(ask(text)))
        shown = place.model.last_shown
        assert [(one["role"], text_of(one)) for one in shown] == lines_of(history[:-1])
    assert place.thread(talk) == lines_of(history)


def test_the_stored_prompt_leads_the_stored_history_unless_the_client_sends_its_own(place, talk):
    place.chat([{"role": "system", "content": "Be kind."}, said("Hello")], talk)
    place.chat([said("Again")], talk, history="server")
    assert text_of(place.model.last_shown[0]) == "Be kind."
    place.chat([{"role": "system", "content": "Be brief."}, said("Once more")], talk, history="server")
    shown = [text_of(one) for one in place.model.last_shown]
    assert (shown[0], shown.count("Be kind."), shown[-1]) == ("Be brief.", 0, "Once more")


def test_a_message_larger_than_the_window_reaches_the_model_all_the_same(place, talk):
    place.chat([said("Something small")], talk)
    large = "wide words " * 3000
    place.chat([said(large)], talk, history="server")
    assert text_of(place.model.last_shown[-1]).strip() == large.strip()


def test_a_history_of_the_server_without_a_conversation_is_refused(place):
    reply = place.post([said("Hi")], history="server")
    assert (reply.status_code, "X-Session-Id" in reply.json()["error"]["message"]) == (400, True)
    assert place.post([said("Hi")], "talk", history="nowhere").status_code == 400


def test_after_a_restart_the_conversation_goes_on(tmp_path):
    with open_place(tmp_path) as place:
        history = [said("Remember the plum tree")]
        history.append(answered(place.chat(history, "talk")))
        place.server.stop()
        place.server.start()
        assert place.thread("talk") == lines_of(history)
        history.append(said("Which tree?"))
        history.append(answered(place.chat(history[-1:], "talk", history="server")))
        assert [text_of(one) for one in place.model.last_shown] == [text for _, text in lines_of(history[:-1])]
        assert place.thread("talk") == lines_of(history)


# --- conversations without a name


@pytest.fixture
def kept(keeping: Place) -> Place:
    keeping.model.llm.clear()
    keeping.model.ready.clear()
    return keeping


def test_a_conversation_without_a_name_is_found_again_by_its_history(kept):
    before = set(kept.ids())
    first, second = [said("Hello")], [said("Hello")]
    for history in (first, second):  # they begin alike, and are told apart by their answers
        history.append(answered(kept.chat(history)))
    for history in (first, second, first):
        history.append(said("Go on"))
        history.append(answered(kept.chat(history)))
    new = [id for id in kept.ids() if id not in before]
    assert sorted(kept.thread(id) for id in new) == sorted([lines_of(first), lines_of(second)])


def test_conversations_without_a_name_are_each_user_s_own(kept):
    threads = {}
    kept.model.ready = [Answer(text="Same answer.")] * 4
    for user in ("ann", "ben"):
        history = [said("Same question"), answered(kept.chat([said("Same question")], user=user)), said("Go on")]
        history.append(answered(kept.chat(history, user=user)))
        threads[user] = lines_of(history)
    for user, thread in threads.items():
        (id,) = kept.ids(user_id=user)
        assert kept.thread(id, user_id=user) == thread


def test_a_client_is_told_the_name_of_a_conversation_that_it_gave_none(kept):
    reply = kept.post([said("Who am I?")])
    id = reply.headers["x-conversation-id"]
    history = [said("Who am I?"), answered(reply.json()["choices"][0]["message"]["content"])]
    assert kept.thread(id) == lines_of(history)
    history.append(said("And who are you?"))
    history.append(answered(kept.chat(history[-1:], id, history="server")))
    assert kept.thread(id) == lines_of(history)


def test_the_kit_s_model_answers_the_same_question_in_other_words(place):
    assert isinstance(place.model, AnsweringModel)
    assert place.chat([said("Hi")]) != place.chat([said("Hi")])
