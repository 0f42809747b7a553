"""Personal data by a project's policy: what is stored, what a model is sent, and what the client gets back."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.scripted_dialects import Answer
from tests.scripted_llm import ScriptedLLM
from tests.server.served_tree import answering, served
from tests.server.server_kit import asks, error_of, hello, succeeded

OPENAI, OLLAMA, MEMORIES = "/v1/chat/completions", "/api/chat", "/api/memories"
SETTINGS = f"{MEMORIES}/settings"
MAIL, OTHER = "mira.hofer@example.org", "o.brandt@example.com"
SAID = f"Write to {MAIL}, not to {OTHER}, and once more to {MAIL.upper()}."


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def policy(**actions: str) -> dict:
    return {f"pii.policy.{place}": action for place, action in actions.items()}


def sent_to(llm: ScriptedLLM, at: int = -1) -> str:
    """The words of the newest message that the model was sent."""
    found: str = llm.requests[at].body["messages"][-1]["content"]
    return found


def streamed(body: bytes, path: str) -> str:
    """The words of a streamed answer."""
    if path == OLLAMA:
        return "".join(orjson.loads(line)["message"]["content"] for line in body.splitlines())
    events = [line.removeprefix(b"data: ") for line in body.split(b"\n\n") if line.startswith(b"data: {")]
    choices = [choice for event in events for choice in orjson.loads(event)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def words(answer, path: str) -> str:
    body = orjson.loads(answer.body)
    found: str = body["message"]["content"] if path == OLLAMA else body["choices"][0]["message"]["content"]
    return found


@pytest.mark.parametrize("path", [OPENAI, OLLAMA])
async def test_a_model_gets_placeholders_and_the_client_the_values(open_server, llm, path):
    server = await open_server(asks(llm, **policy(models="redact")))
    llm.queue(Answer(text="I wrote to [EMAIL_1].", pieces=list("I wrote to [EMAIL_1].")), Answer(text="To [EMAIL_2]"))
    answer = await server.ask("POST", path, hello(stream=True, messages=[user(SAID)]))
    assert sent_to(llm) == "Write to [EMAIL_1], not to [EMAIL_2], and once more to [EMAIL_1]."
    assert streamed(answer.body, path) == f"I wrote to {MAIL}."
    answer = await server.ask("POST", path, hello(messages=[user(SAID)]))
    assert words(answer, path) == f"To {OTHER}"


async def test_arguments_of_a_tool_call_are_turned_back_and_redacted_again(open_server, llm):
    server = await open_server(asks(llm, **policy(models="redact")))
    tools = [{"type": "function", "function": {"name": "send", "parameters": {"type": "object"}}}]
    for stream in (False, True):
        llm.queue(Answer(tool_calls=[("send", {"to": "[EMAIL_1]", "n": 1})], reason="tool_calls"))
        answer = await server.ask("POST", OPENAI, hello(stream=stream, messages=[user(SAID)], tools=tools))
        assert MAIL in answer.body.decode()
        assert "[EMAIL" not in answer.body.decode()
    call: dict[str, Any] = {"id": "call_1", "type": "function"}
    call["function"] = {"name": "send", "arguments": json.dumps({"to": MAIL, "card": 4111111111111111})}
    history = [user("Hi"), {"role": "assistant", "tool_calls": [call]}]
    history.append({"role": "tool", "tool_call_id": "call_1", "content": f"{MAIL}: sent"})
    await server.post(OPENAI, hello(messages=history, tools=tools))
    _, asked, result = llm.requests[-1].body["messages"]
    assert json.loads(asked["tool_calls"][0]["function"]["arguments"]) == {"to": "[EMAIL_1]", "card": "[CARD_1]"}
    assert result["content"] == "[EMAIL_1]: sent"


async def test_an_endpoint_of_a_workflow_gets_placeholders_too(open_server, llm, tmp_path: Path):
    settings = served(tmp_path, llm.openai_url.removesuffix("/v1"), answering())
    server = await open_server(settings | policy(models="redact"))
    llm.queue(Answer(text="To [EMAIL_1]", pieces=["To [EM", "AIL_", "1", "]"]))
    answer = await server.ask("POST", OPENAI, hello(stream=True, messages=[user(SAID)]))
    assert MAIL not in llm.requests[0].prompt
    assert streamed(answer.body, OPENAI) == f"To {MAIL}"


async def test_without_a_policy_a_model_is_sent_the_same_bytes(open_server, llm):
    server = await open_server(asks(llm))
    for action in ("off", "tag", "redact"):
        await server.ask("PUT", SETTINGS, {"piiModels": action})
        for text in ("Hello", SAID):
            await server.post(OPENAI, hello(messages=[user(text)], temperature=0.5, user=f"id {MAIL}"[: len(text)]))
    off, said, tagged, tagged_too, redacted, _ = [asked.body for asked in llm.requests]
    assert off == tagged == redacted  # nothing in the last to replace
    assert said == tagged_too
    assert said["messages"][0]["content"] == SAID
    assert MAIL not in llm.requests[-1].prompt


async def test_an_embedding_model_gets_kinds(open_server, llm):
    embedding = {"embedding.provider": "openai", "embedding.model": "far", "embedding.base_url": llm.openai_url}
    server = await open_server(asks(llm, **policy(models="redact"), **embedding))
    await server.post(MEMORIES, {"messages": [user(f"Mira's is {MAIL}")], "user_id": "user", "infer": False})
    await server.post(f"{MEMORIES}/search", {"query": f"Whose is {OTHER}?", "user_id": "user"})
    await server.post("/v1/embeddings", {"model": "far", "input": f"Ask {MAIL}"})
    asked = [asked.body["input"] for asked in llm.requests if asked.path.endswith("/embeddings")]
    assert [text for texts in asked for text in texts] == ["Mira's is [EMAIL]", "Whose is [EMAIL]?", "Ask [EMAIL]"]


async def test_the_tag_of_a_memory_follows_its_text(open_server):
    server = await open_server(policy(facts="tag"))
    kept = {"messages": [user("Likes tea")], "user_id": "user", "infer": False, "metadata": {"a": 1}}
    memory_id = (await server.post(MEMORIES, kept))["results"][0]["id"]

    async def tags() -> list:
        return [one["metadata"] for one in (await server.get(f"{MEMORIES}?user_id=user"))["results"]]

    for text, tagged in ((f"Mail is {MAIL}", {"personal_data": ["EMAIL"]}), ("Likes tea again", {})):
        await server.ask("PATCH", f"{MEMORIES}/{memory_id}?user_id=user", {"memory": text})
        assert await tags() == [{"a": 1} | tagged]
    other = (await server.post(MEMORIES, kept | {"messages": [user("Likes rye")]}))["results"][0]["id"]
    merged = {"user_id": "user", "ids": [memory_id, other], "keep": memory_id, "memory": f"Mail is {MAIL}"}
    await server.post(f"{MEMORIES}/merge", merged)
    assert await tags() == [{"a": 1, "personal_data": ["EMAIL"]}]
    line = {"memory": f"Is {OTHER}", "user_id": "user", "created_at": "2026-01-01T00:00:00Z"}
    await server.post("/api/import", line)
    assert await tags() == [{"a": 1, "personal_data": ["EMAIL"]}, {"personal_data": ["EMAIL"]}]


async def test_the_name_of_a_speaker_is_replaced_in_facts(open_server):
    server = await open_server(policy(facts="redact"))
    turn = {**user("Likes tea"), "name": MAIL}
    await server.post(MEMORIES, {"messages": [turn], "user_id": "user", "infer": False})
    [memory] = (await server.get(f"{MEMORIES}?user_id=user"))["results"]
    assert memory["name"] == "[EMAIL_1]"


async def test_a_list_is_asked_in_the_words_of_what_is_stored(open_server):
    server = await open_server(policy(facts="redact"))
    await server.post(MEMORIES, {"messages": [user(f"Mira's is {MAIL}")], "user_id": "user", "infer": False})
    found = await server.get(f"{MEMORIES}?user_id=user&q={MAIL.upper()}")
    assert [memory["memory"] for memory in found["results"]] == ["Mira's is [EMAIL_1]"]
    for asked, hits in ((MAIL, 1), (OTHER, 0)):
        answer = await server.post(f"{MEMORIES}/search", {"query": "Mira", "user_id": "user", "q": asked})
        assert len(answer["results"]) == hits


async def test_a_conversation_without_an_id_is_known_again_and_its_values_go_with_it(open_server, llm):
    settings = policy(messages="redact") | {"pii.reversible": True, "memory.enabled": True}
    server = await open_server(asks(llm, **settings))
    history, ids = [], set()
    for text in (SAID, f"{OTHER} is right"):
        history.append(user(text))
        answer = await server.ask("POST", OPENAI, hello(messages=history))
        history.append({"role": "assistant", "content": words(answer, OPENAI)})
        ids.add(answer.headers["x-conversation-id"])
    (id,) = ids
    assert len((await server.get(f"/api/conversations/{id}/messages"))["results"]) == 4
    await server.ask("DELETE", f"/api/conversations/{id}")
    files = server.parts.settings.storage.data_dir.rglob("*")
    assert not [file for file in files if file.is_file() and MAIL.encode() in file.read_bytes()]


@pytest.mark.parametrize("place", ["models", "messages", "facts"])
@pytest.mark.parametrize("path", [OPENAI, OLLAMA])
async def test_what_is_blocked_reaches_no_model_and_is_not_stored(open_server, llm, path, place):
    server = await open_server(asks(llm, **policy(**{place: "block"})))
    for stream in (False, True):
        body = hello(stream=stream, messages=[user(SAID)], memoryEnabled=True)
        answer = await server.ask("POST", path, body, x_session_id="tea")
        assert error_of(answer) == (422, "personal_data")
        told = orjson.loads(answer.body)
        error = told["error"]["message"] if path == OPENAI else told["error"]
        assert "EMAIL" in error
        assert MAIL not in error
    assert llm.requests == []
    assert (await server.get("/api/conversations"))["results"] == []


async def test_messages_are_stored_redacted_and_their_history_is_known_again(open_server, llm):
    server = await open_server(asks(llm, **policy(messages="redact"), **{"pii.reversible": True}))
    llm.queue(Answer(text="I know [EMAIL_1] and new@example.net."), Answer(text="As I said: [EMAIL_2]."))
    first = words(await server.ask("POST", OPENAI, hello(messages=[user(SAID)]), x_session_id="tea"), OPENAI)
    assert first == f"I know {MAIL} and new@example.net."
    history = [user(SAID), {"role": "assistant", "content": first}, user(f"And {OTHER}?")]
    second = await server.ask("POST", OPENAI, hello(messages=history), x_session_id="tea")
    assert words(second, OPENAI) == f"As I said: {OTHER}."
    stored = (await server.get("/api/conversations/tea/messages"))["results"]
    assert [one["content"] for one in stored] == [
        "Write to [EMAIL_1], not to [EMAIL_2], and once more to [EMAIL_1].",
        "I know [EMAIL_1] and [EMAIL_3].",
        "And [EMAIL_2]?",
        "As I said: [EMAIL_2].",
    ]
    exported = (await server.ask("GET", "/api/conversations/tea/export")).body.decode()
    assert "[EMAIL_1]" in exported
    assert "@example" not in exported
    found = await server.get(f"/api/conversations/search?q={OTHER}&mode=keyword")
    assert "[EMAIL_2]" in found["results"][0]["message"]["content"]


async def test_a_moved_fact_has_the_placeholders_of_its_new_project(open_server):
    server = await open_server(policy(facts="redact") | {"pii.reversible": True})
    for project, value in (("sea", OTHER), ("default", MAIL)):
        said = {"messages": [user(f"The address is {value}")], "user_id": "user", "infer": False}
        added = await server.post(f"{MEMORIES}?project={project}", said)
    body = {"user_id": "user", "ids": [added["results"][0]["id"]], "project": "sea"}
    await server.post(f"{MEMORIES}/batch", body)
    kept = [one["memory"] for one in (await server.get(f"{MEMORIES}/user?project=sea"))["results"]]
    assert sorted(kept) == ["The address is [EMAIL_1]", "The address is [EMAIL_2]"]
    found = await server.get(f"{MEMORIES}?user_id=user&project=sea&q={MAIL}")
    assert [one["memory"] for one in found["results"]] == ["The address is [EMAIL_2]"]


async def test_facts_are_stored_and_found_by_placeholders(open_server, llm):
    server = await open_server(asks(llm))
    await server.ask("PUT", SETTINGS, {"piiFacts": "redact"})
    assert (await server.get(SETTINGS))["piiFacts"] == "redact"
    for text in (f"Mira's address is {MAIL}", f"Otto's address is {OTHER}"):
        await server.post(MEMORIES, {"messages": [user(text)], "user_id": "user", "infer": False})
    kept = [one["memory"] for one in (await server.get(f"{MEMORIES}/user"))["results"]]
    assert sorted(kept) == ["Mira's address is [EMAIL_1]", "Otto's address is [EMAIL_2]"]
    found = await server.post(f"{MEMORIES}/search", {"query": f"Whose is {OTHER}?", "user_id": "user"})
    assert found["results"][0]["memory"] == "Otto's address is [EMAIL_2]"
    memory = found["results"][0]["id"]
    edited = await server.ask("PATCH", f"{MEMORIES}/{memory}", {"memory": f"Otto moved to {MAIL}"})
    assert succeeded(edited)["memory"] == "Otto moved to [EMAIL_1]"
    export = (await server.ask("GET", "/api/export?user_id=user")).body.decode()
    assert "@example" not in export


async def test_facts_are_tagged_or_refused(open_server, llm):
    server = await open_server(asks(llm, **policy(facts="tag")))
    body = {"messages": [user(f"Mira's address is {MAIL}"), user("Likes tea")], "user_id": "user", "infer": False}
    await server.post(MEMORIES, body)
    tags = {one["memory"]: one["metadata"] for one in (await server.get(f"{MEMORIES}/user"))["results"]}
    assert tags[f"Mira's address is {MAIL}"]["personal_data"] == ["EMAIL"]
    assert "personal_data" not in (tags["Likes tea"] or {})
    await server.ask("PUT", SETTINGS, {"piiFacts": "block"})
    answer = await server.ask("POST", MEMORIES, body)
    assert error_of(answer) == (422, "personal_data")


async def test_a_conversation_with_personal_data_is_tagged(open_server, llm):
    server = await open_server(asks(llm, **policy(messages="tag"), **{"memory.enabled": True}))
    answer = await server.ask("POST", OPENAI, hello(messages=[user(SAID), user("Card 4111 1111 1111 1111")]))
    id = answer.headers["x-conversation-id"]
    told = await server.get(f"/api/conversations/{id}")
    assert told["custom"]["personal_data"] == ["CARD", "EMAIL"]
    assert (await server.get(f"/api/conversations/{id}/messages"))["results"][0]["content"] == SAID


async def test_added_and_imported_messages_follow_the_policy(open_server, llm):
    server = await open_server(asks(llm, **policy(messages="redact")))
    created = await server.ask("POST", "/api/conversations", {"id": "tea", "messages": [user(SAID)]})
    assert created.status == 201
    assert (await server.ask("POST", "/api/conversations/tea/messages", {"messages": [user(OTHER)]})).status == 201
    stored = (await server.get("/api/conversations/tea/messages"))["results"]
    assert stored[1]["content"] == "[EMAIL_2]"
    file = (await server.ask("GET", "/api/conversations/tea/export")).body.replace(b"[EMAIL_2]", OTHER.encode())
    assert succeeded(await server.ask("POST", "/api/conversations/import?on_conflict=replace", file))["messages"] == 2
    again = (await server.get("/api/conversations/tea/messages"))["results"]
    assert [one["content"] for one in again] == [one["content"] for one in stored]
    await server.ask("PUT", SETTINGS, {"piiMessages": "block"})
    refused = [
        await server.ask("POST", "/api/conversations", {"id": "cake", "messages": [user(SAID)]}),
        await server.ask("POST", "/api/conversations/tea/messages", {"messages": [user(SAID)]}),
        await server.ask("POST", "/api/conversations/import?on_conflict=replace", file),
    ]
    assert [error_of(answer) for answer in refused] == [(422, "personal_data")] * 3
    assert [one["id"] for one in (await server.get("/api/conversations"))["results"]] == ["tea"]
    assert len((await server.get("/api/conversations/tea/messages"))["results"]) == 2


async def test_values_go_with_the_conversation_they_were_said_in(open_server, llm, tmp_path: Path):
    server = await open_server(asks(llm, **policy(messages="redact", facts="redact"), **{"pii.reversible": True}))
    for session, text in (("tea", SAID), ("cake", f"Ask {OTHER}")):
        await server.ask("POST", OPENAI, hello(messages=[user(text)]), x_session_id=session)
    await server.ask("DELETE", "/api/conversations/tea")
    database = server.parts.settings.storage.data_dir
    bytes_ = b"".join(file.read_bytes() for file in database.rglob("*") if file.is_file())
    assert MAIL.encode() not in bytes_
    assert OTHER.encode() in bytes_  # it was said in the other one as well
    await server.ask("DELETE", f"{MEMORIES}?user_id=user")
    await server.ask("POST", OPENAI, hello(messages=[user(f"{OTHER} or {MAIL}")]), x_session_id="cake")
    stored = (await server.get("/api/conversations/cake/messages"))["results"]
    assert [one["content"] for one in stored if one["role"] == "user"] == ["Ask [EMAIL_2]", "[EMAIL_2] or [EMAIL_3]"]
