"""The OpenAPI description, from which the web UI's types are made: valid, whole, and true of real answers."""

import re

import orjson
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.scripted_llm import Answer
from tests.server.described import Description
from tests.server.route_table import every_route
from tests.server.server_kit import JSON, Server, asks, hello

# what a page or a client asks for that is not JSON
NOT_JSON = {
    *(
        "/",
        "/metrics",
        "/api/runs/live",
        "/api/export",
        "/api/conversations/export",
        "/api/conversations/{id}/export",
    ),
    *("/api/discussions/{id}/export", "/api/conversations/{id}/attachments/{name}", "/api/files/{name}"),
}
ANY_JSON = {"/api/workflows/schema/{kind}"}  # it is a JSON Schema itself
# they refuse whatever is asked: Mnemoir does not manage models
REFUSING = {"/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete", "/api/blobs/{digest}"}


@pytest.fixture(scope="module")
def made() -> JSON:
    """The description once a test has asked for it: making it takes most of a second."""
    return {}


async def description_of(server: Server, made: JSON) -> Description:
    """It is the same whatever the settings, which a test below shows."""
    made.update(made or await server.get("/openapi.json"))
    return Description(made)


@pytest.fixture
async def described(server, made) -> Description:
    return await description_of(server, made)


@pytest.mark.slow
async def test_it_is_valid_openapi(described):
    assert described.schema["openapi"].startswith("3.1.")
    assert [error.message for error in OpenAPIV31SpecValidator(described.schema).iter_errors()] == []


async def test_it_is_the_same_whatever_the_settings(open_server, described, tmp_path):
    other = await open_server({"runs.enabled": False, "storage.data_dir": str(tmp_path / "other")}, metrics=True)
    assert (await other.ask("GET", "/openapi.json")).body == orjson.dumps(described.schema)


async def test_every_route_is_described_and_nothing_else(server, described):
    hidden = {"/docs", "/docs/try.js", "/openapi.json", "/api/health", "/register"}
    told = {(method.upper(), re.sub(r"\{\w+\}", "mira", path)) for method, path, _ in described.operations()}
    real = {(method, path) for method, path in every_route(server) if method != "HEAD" and path not in hidden}
    assert told <= real
    pages = {route for route in real - told if route[0] == "GET"}
    assert real - told == pages
    assert [path for _, path in pages if path.startswith(("/api/", "/v1/")) and path != "/api/ui"] == []


async def test_every_route_tells_the_shape_of_its_errors(described):
    for method, path, operation in described.operations():
        kind = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert kind["$ref"].endswith(("/ErrorAnswer", "/OpenAIErrorAnswer", "/RpcErrorAnswer")), (method, path)
        assert "422" not in operation["responses"], (method, path)


async def test_every_name_in_a_path_is_a_parameter_of_it(described):
    for method, path, operation in described.operations():
        named = {told["name"] for told in operation.get("parameters", ()) if told["in"] == "path"}
        assert named == set(re.findall(r"\{(\w+)\}", path)), (method, path)


async def test_every_operation_has_a_name_of_its_own(described):
    names = [operation["operationId"] for _, _, operation in described.operations()]
    assert len(names) == len(set(names))


async def test_every_json_answer_is_described(described):
    empty = []
    for method, path, operation in described.operations():
        if path in NOT_JSON | ANY_JSON | REFUSING or operation["responses"].keys() & {"204", "302"}:
            continue
        good = [told for status, told in operation["responses"].items() if status.startswith("2")]
        content = [schema for told in good for schema in told.get("content", {}).values()]
        if not content or not all(described_at_all(kind.get("schema")) for kind in content):
            empty.append(f"{method.upper()} {path}")
    assert empty == []


def described_at_all(schema) -> bool:
    """Whether a schema says anything; a bare object says nothing."""
    return bool(schema) and ("$ref" in schema or schema.get("type") != "object" or "properties" in schema)


async def test_projects_can_be_named_where_they_count(described):
    for method, path in [
        ("get", "/api/memories"),
        ("post", "/api/memories/search"),
        ("get", "/api/conversations"),
        ("get", "/api/export"),
        ("post", "/v1/chat/completions"),
    ]:
        named = [told["name"] for told in described.schema["paths"][path][method]["parameters"]]
        assert named.count("project") == 1, (method, path)


async def test_open_routes_are_told_apart_from_those_that_ask_for_a_key(described):
    assert described.schema["paths"]["/health"]["get"]["security"] == []
    assert "security" not in described.schema["paths"]["/api/memories"]["get"]
    assert {"bearer": []} in described.schema["security"]


# --- the protocols' answers


CHATS = {
    "/v1/chat/completions": hello(),
    "/v1/completions": {"model": "mnemoir", "prompt": "Hello", "stream": False},
    "/api/chat": hello(),
    "/api/generate": {"model": "mnemoir", "prompt": "Hello", "stream": False},
}
SAID = {
    "words": Answer(text="Good morning.", usage=(7, 5)),
    "thoughts": Answer(text="Good morning.", thinking="They greet me."),
    "calls": Answer(tool_calls=[("greet", {"name": "Mira"})], reason="tool_calls"),
}


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("path", CHATS)
async def test_whole_answers_of_the_chat_routes_are_as_described(open_server, made, llm, path, said):
    server = await open_server(asks(llm))
    described = await description_of(server, made)
    llm.queue(SAID[said])
    answer = await server.ask("POST", path, CHATS[path])
    assert (answer.status, described.misfits("post", path, answer)) == (200, [])


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("path", CHATS)
async def test_every_piece_of_a_streamed_answer_is_as_described(open_server, made, llm, path, said):
    server = await open_server(asks(llm))
    described = await description_of(server, made)
    llm.queue(SAID[said])
    body = CHATS[path] | {"stream": True, "stream_options": {"include_usage": True}}
    answer = await server.ask("POST", path, body)
    kind = answer.headers["content-type"].partition(";")[0]
    schema = described.schema_of("post", path, 200, kind)
    pieces = [line.removeprefix(b"data: ") for line in answer.body.splitlines() if line.strip()]
    assert len(pieces) > 1
    assert [described.misfits_of(orjson.loads(piece), schema) for piece in pieces if piece != b"[DONE]"] == [
        [] for piece in pieces if piece != b"[DONE]"
    ]


@pytest.mark.parametrize("path", [*CHATS, "/v1/embeddings", "/api/embed", "/api/memories", "/api/memories/search"])
@pytest.mark.parametrize("sent", [b"{", {"messages": 7, "prompt": 7, "input": 7}, {}])
async def test_refusals_are_as_described(server, described, path, sent):
    answer = await server.ask("POST", path, sent)
    if answer.status != 200:
        assert described.misfits("post", path, answer) == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/embeddings", {"input": "a"}),
        ("/v1/embeddings", {"input": ["a", "b"], "encoding_format": "base64"}),
        ("/api/embed", {"model": "m", "input": ["a"]}),
        ("/api/embeddings", {"model": "m", "prompt": "a"}),
        ("/api/show", {"model": "mnemoir"}),
    ],
)
async def test_vectors_and_models_are_as_described(server, described, path, body):
    answer = await server.ask("POST", path, body)
    assert (answer.status, described.misfits("post", path, answer)) == (200, [])


async def test_what_the_description_asks_for_is_what_the_routes_take(described):
    for path, body in CHATS.items():
        told = described.schema["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert described.misfits_of(body, told) == []
        assert described.misfits_of(body | {"stream": "yes"}, told) != []
