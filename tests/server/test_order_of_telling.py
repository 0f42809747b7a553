"""Over the API, what was said earlier goes into the past; in a project file, which keeps no past, nowhere."""

import json

import pytest

from tests.remembering_model import DECISION, EXTRACTION, users_words
from tests.scripted_llm import Asked, ScriptedLLM
from tests.server.server_kit import Server, asks

MEMORIES = "/api/memories"
GRAZ, WELS = "I live in Graz.", "I live in Wels."


def update_all(llm: ScriptedLLM) -> None:
    """Let the model find where the user lives, and take each new home for an update of what it is shown."""

    def decide(asked: Asked) -> str:
        shown = asked.body.get("input") or asked.body["messages"]
        content = shown[-1]["content"]
        document = json.loads(content if isinstance(content, str) else content[0]["text"])
        rows = [
            {"id": memory["id"], "text": fact, "event": "UPDATE", "old_memory": memory["text"]}
            for memory in document["memories"]
            for fact in document["facts"]
        ]
        return json.dumps({"memory": rows})

    def found(asked: Asked) -> str:
        return json.dumps({"facts": [text.replace("I live", "Lives").rstrip(".") for text in users_words(asked)]})

    llm.rule(lambda asked: EXTRACTION in asked.prompt, found)
    llm.rule(lambda asked: DECISION in asked.prompt, decide)


@pytest.fixture(params=["offline", "scripted"])
async def settings(request):
    if request.param == "offline":
        yield {}
        return
    async with ScriptedLLM() as llm:
        update_all(llm)
        yield asks(llm)


async def tell(server: Server, *turns: tuple[str, str], **more: object) -> dict:
    messages = [{"role": "user", "content": text, "timestamp": at} for text, at in turns]
    found: dict = await server.post(MEMORIES, {"user_id": "mira", "messages": messages, **more})
    return found


async def told(server: Server, at: str = "") -> list[str]:
    page = await server.get(f"{MEMORIES}/mira" + (f"?at={at}" if at else ""))
    return sorted(memory["memory"] for memory in page["results"])


async def test_an_older_message_is_answered_as_an_add_that_held_until_the_newer_one(open_server, settings):
    server = await open_server(settings)
    await tell(server, (GRAZ, "2025-05-01T00:00:00Z"))
    answer = await tell(server, (WELS, "2024-01-01T00:00:00Z"))
    [change] = answer["results"]
    assert (change["event"], change["memory"], change["valid_to"]) == (
        "ADD",
        "Lives in Wels",
        "2025-05-01T00:00:00.000Z",
    )
    assert answer["message"] == "Added 1 memories successfully"
    assert (await told(server), await told(server, "2024-06-01")) == (["Lives in Graz"], ["Lives in Wels"])
    body = {"user_id": "mira", "query": "Where does she live?"}
    found = [await server.post(f"{MEMORIES}/search{at}", body) for at in ("", "?at=2024-06-01")]
    assert [[memory["memory"] for memory in page["results"]] for page in found] == [
        ["Lives in Graz"],
        ["Lives in Wels"],
    ]
    details = await server.get(f"{MEMORIES}/{change['id']}/details?user_id=mira")
    assert details["memory"]["valid_to"] == change["valid_to"]


async def test_the_messages_of_one_request_are_taken_in_order_of_time(open_server, settings):
    server = await open_server(settings)
    await tell(server, (GRAZ, "2025-05-01T00:00:00Z"), (WELS, "2024-01-01T00:00:00Z"))
    assert (await told(server), await told(server, "2024-06-01")) == (["Lives in Graz"], ["Lives in Wels"])


async def test_a_project_file_keeps_and_lists_nothing_of_an_older_message(open_server, settings, tmp_path):
    files = {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "workspace")}
    server = await open_server(settings | files)
    await tell(server, (GRAZ, "2025-05-01T00:00:00Z"))
    answer = await tell(server, (WELS, "2024-01-01T00:00:00Z"))
    assert (answer["results"], await told(server)) == ([], ["Lives in Graz"])


async def test_a_repeated_request_gets_the_same_answer_with_the_past_state(open_server):
    server = await open_server()
    await tell(server, (GRAZ, "2025-05-01T00:00:00Z"))
    body = {"user_id": "mira", "messages": [{"role": "user", "content": WELS}], "timestamp": "2024-01-01T00:00:00Z"}
    first, again = [
        json.loads((await server.ask("POST", MEMORIES, body, **{"Idempotency-Key": "k1"})).body) for _ in range(2)
    ]
    assert first["results"] == again["results"] != []
