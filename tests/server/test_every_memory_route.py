"""Each route of the memory contract, in every way a client may write its address: one story, told in each."""

import orjson
import pytest

from tests.server.server_kit import Server, error_of

MEMORIES = "/api/memories"
WAYS = [("sqlite", slash, named) for slash in ("", "/") for named in ("default", "query", "header", "both")]
EVERY_WAY = pytest.mark.parametrize(
    ("storage", "slash", "named"), [*WAYS, ("file", "", "default"), ("file", "/", "query")]
)


class Client:
    """Writes each address in one way; an answer must be a JSON object, at once and not by a redirect."""

    def __init__(self, server: Server, slash: str, named: str):
        self.server, self._slash = server, slash
        self._project = {"query": "atlas", "both": "atlas"}.get(named)
        other = {"header": "atlas", "both": "overruled"}.get(named)
        self._headers = {"x_etienne_project": other} if other else {}

    async def ask(self, method: str, path: str, body: object = None, *, query: str = "", status: int = 200) -> dict:
        pairs = [pair for pair in (query, f"project={self._project}" if self._project else "") if pair]
        target = f"{path}{self._slash}" + (f"?{'&'.join(pairs)}" if pairs else "")
        answer = await self.server.ask(method, target, body, **self._headers)
        assert answer.status == status, (method, target, answer.body)
        assert status == 200 or error_of(answer)[0] == status
        told = orjson.loads(answer.body)
        assert isinstance(told, dict)
        return told

    async def listed(self, query: str = "") -> list[str]:
        page = await self.ask("GET", f"{MEMORIES}/mira", query=query)
        return [memory["memory"] for memory in page["results"]]


@pytest.fixture
async def client(open_server, tmp_path, storage, slash, named) -> Client:
    server = await open_server({"storage.backend": storage, "storage.workspace_root": str(tmp_path / "workspace")})
    return Client(server, slash, named)


@EVERY_WAY
async def test_memories_are_added_found_listed_and_deleted(client, named):
    said = {"messages": [{"role": "user", "content": "I moved to Graz and I row every morning."}], "user_id": "mira"}
    added = await client.ask("POST", MEMORIES, said | {"metadata": {"source": "chat"}})
    ids = {entry["memory"]: entry["id"] for entry in added["results"]}
    assert {entry["event"] for entry in added["results"]} == {"ADD"}
    assert added["message"] == f"Added {len(ids)} memories successfully"
    found = await client.ask(
        "POST", f"{MEMORIES}/search", {"query": "what does she do every morning?", "user_id": "mira"}
    )
    assert found["results"][0]["memory"] == "Rows every morning"
    required = {"id", "memory", "user_id", "created_at", "updated_at", "metadata"}
    assert required | {"score"} <= found["results"][0].keys()
    page = await client.ask("GET", f"{MEMORIES}/mira", query="limit=1")
    assert required <= page["results"][0].keys()
    alias = await client.ask("GET", MEMORIES, query="user_id=mira&limit=1")
    assert page["total"] == alias["total"]
    assert page["results"][0].items() <= alias["results"][0].items()
    assert set(await client.listed()) == set(ids)
    plain = Client(client.server, "", "default")
    assert await plain.listed("project=overruled") == []
    assert set(await plain.listed()) == (set(ids) if named == "default" else set())
    assert set(await plain.listed(f"project={'default' if named == 'default' else 'atlas'}")) == set(ids)
    history = await client.ask("GET", f"{MEMORIES}/{ids['Rows every morning']}/history", query="user_id=mira")
    assert [entry["event"] for entry in history["results"]] == ["ADD"]
    gone = ids["Rows every morning"]
    deleted = await client.ask("DELETE", f"{MEMORIES}/{gone}", query="user_id=mira")
    assert deleted == {"success": True, "message": "Memory deleted successfully", "id": gone}
    assert (await client.ask("DELETE", f"{MEMORIES}/{gone}", status=404))["code"] == "memory_not_found"
    rest = await client.ask("DELETE", MEMORIES, query="user_id=mira")
    assert rest == {"success": True, "message": f"Deleted {len(ids) - 1} memories", "deleted": len(ids) - 1}
    assert await client.listed() == []
    assert (await client.ask("DELETE", MEMORIES, status=400))["code"] == "missing_user_id"


@EVERY_WAY
async def test_a_project_is_set_up_and_asked_after(client):
    default = await client.ask("GET", f"{MEMORIES}/extraction-prompt")
    assert default["isCustom"] is False
    assert await client.ask("PUT", f"{MEMORIES}/extraction-prompt", {"prompt": "Places."}) == {"success": True}
    assert await client.ask("GET", f"{MEMORIES}/extraction-prompt") == {"prompt": "Places.", "isCustom": True}
    assert await client.ask("DELETE", f"{MEMORIES}/extraction-prompt") == {"prompt": default["prompt"]}
    assert await client.ask("PUT", f"{MEMORIES}/settings", {"searchLimit": 8}) == {"success": True}
    assert await client.ask("GET", f"{MEMORIES}/settings") == {
        "memoryEnabled": True,
        "decayDays": 0,
        "searchLimit": 8,
        "review": "off",
        "piiFacts": "off",
        "piiMessages": "off",
        "piiModels": "off",
        "memoriesDays": 0,
        "historyDays": 0,
        "deletedDays": 0,
        "timeZone": None,
        "retention": {"own": {}, "otherwise": {"memoriesDays": 0, "historyDays": 0, "deletedDays": 0}},
    }
    for path in ("/health", "/api/health", "/openapi.json"):
        assert await client.ask("GET", path)


SAID = [
    "I'm a vegetarian and allergic to nuts.",
    "I love hiking in the mountains.",
    "I prefer Python for data work.",
    "I live in Graz. I have a dog called Rex. I work at a bank.",
]
EXAMPLES = [
    ("What are my food preferences?", ["vegetarian", "nuts"]),
    ("outdoor activities", ["hiking"]),
    ("which programming language?", ["Python"]),
]


@pytest.mark.parametrize(("query", "expected"), EXAMPLES, ids=[query for query, _ in EXAMPLES])
async def test_a_question_that_shares_no_word_finds_the_facts(server, query, expected):
    for text in SAID:
        await server.post(MEMORIES, {"messages": [{"role": "user", "content": text}], "user_id": "mira"})
    found = await server.post(f"{MEMORIES}/search", {"query": query, "user_id": "mira", "limit": 3})
    told = " ".join(hit["memory"] for hit in found["results"])
    assert [word for word in expected if word not in told] == []
