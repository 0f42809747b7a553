"""A key or a person that is bound to config users calls, lists and reaches only those."""

import json

import orjson
import pytest

from tests.server.served_tree import answering, served
from tests.server.server_kit import error_of
from tests.server.sign_in.page import joined, told


@pytest.fixture
async def tree(open_server, llm, tmp_path):
    """A server of the config users Ann and Bob, with a key for Ann alone."""
    bobs = {
        "Users/bob.json": {"customWorkflowOverride": True, "customWorkflow": "Chat"},
        "Workflows/Bob/Chat.json": [answering()],
    }
    server = await open_server(
        served(tmp_path, llm.url, files=bobs) | {"workflows.users": ["Ann", "Bob"], "workflows.edit": True}
    )
    _, ann = server.parts.access.api_keys.create(role="write", configs=["ann"], by="test")
    _, free = server.parts.access.api_keys.create(role="write", by="test")
    _, none = server.parts.access.api_keys.create(role="write", configs=["cleo"], by="test")
    return server, ann, free, none


def chat(model: str) -> dict:
    return {"model": model, "messages": [{"role": "user", "content": "Hello"}]}


async def test_a_bound_key_lists_and_calls_only_its_config_users(tree):
    server, ann, free, none = tree

    async def models(key: str) -> list[str]:
        return [one["id"] for one in (await server.get("/v1/models", x_api_key=key))["data"]]

    assert (await models(ann), await models(free), await models(none)) == (["Ann"], ["Ann", "Bob"], [])
    tags = (await server.get("/api/tags", x_api_key=ann))["models"]
    assert [one["name"] for one in tags] == ["Ann"]
    assert (await server.ask("POST", "/api/show", {"model": "Bob"}, x_api_key=ann)).status == 404
    for model in ("Bob", "Nobody", ""):
        answer = await server.ask("POST", "/v1/chat/completions", chat(model), x_api_key=ann)
        assert (answer.status, json.loads(answer.body)["model"]) == (200, "Ann")
    refused = [
        await server.ask("POST", "/v1/chat/completions", chat(name), x_api_key=none) for name in ("Bob", "Ann")
    ]
    assert [(answer.status, b"Bob" in answer.body) for answer in refused] == [(400, False)] * 2
    assert (await server.ask("POST", "/v1/chat/completions", chat("Bob"), x_api_key=free)).status == 200


async def test_what_is_kept_for_other_config_users_looks_like_what_is_kept_for_nobody(tree):
    server, ann, free, _ = tree
    assert (await server.ask("GET", "/api/discussions?user=Bob", x_api_key=free)).status == 200
    answers = [await server.ask("GET", f"/api/discussions?user={name}", x_api_key=ann) for name in ("Bob", "Zed")]
    assert [error_of(answer) for answer in answers] == [(400, "invalid_request")] * 2
    assert not any(b"Ann, Bob" in answer.body for answer in answers)
    overview = await server.get("/api/workflows", x_api_key=ann)
    assert ([user["name"] for user in overview["users"]], overview["files"]) == (["Ann"], [])


async def test_a_person_is_bound_to_config_users_too(tree):
    server, *_ = tree
    anna = await joined(server, "anna", configs=["Bob"])
    assert [one["id"] for one in told(await anna.ask("GET", "/api/page/models"))["data"]] == ["Bob"]
    answer = told(await anna.ask("POST", "/api/page/chat/completions", chat("Ann")))
    assert answer["model"] == "Bob"
    assert told(await anna.ask("GET", "/api/me"))["configs"] == ["Bob"]


async def test_an_admin_key_bound_to_config_users_looks_into_their_workflows_alone_and_saves_none(tree):
    server, *_ = tree
    admin = {"x_api_key": server.parts.access.api_keys.create(role="admin", configs=["ann"], by="test")[1]}
    own, foreign = "Workflows/Ann/Chat.json", "Workflows/Bob/Chat.json"
    assert (await server.get(f"/api/workflows/files/{own}", **admin))["path"] == own
    assert (await server.get(f"/api/workflows/graph?path={own}", **admin))["user"] == "Ann"
    assert (await server.get("/api/workflows/files/Users/ann.json", **admin))["kind"] == "users"
    unseen = [
        *(f"/files/{path}" for path in (foreign, "Users/bob.json", "Endpoints/Main.json")),
        *(f"/graph?path={foreign}", f"/graph?path={own}&user=Bob", f"/kept/{foreign}"),
    ]
    answers = [await server.ask("GET", f"/api/workflows{target}", **admin) for target in unseen]
    assert [error_of(answer) for answer in answers] == [(404, "config_file_not_found")] * len(unseen)
    assert not (await server.get("/api/workflows/saving", **admin))["is_on"]


async def test_an_admin_key_bound_to_config_users_is_told_the_problems_of_their_files_alone(tree, tmp_path):
    server, *_ = tree
    for name in ("Ann", "Bob"):
        (tmp_path / "Public/Configs/Workflows" / name / "Chat.json").write_text("[{}]")
    keys = server.parts.access.api_keys
    told = []
    for configs in (None, ["ann"]):
        key = keys.create(role="admin", configs=configs, by="test")[1]
        problems = (await server.get("/api/workflows/problems", x_api_key=key))["problems"]
        told.append({name for name in ("Ann", "Bob") if any(f"/{name}/" in one["file"] for one in problems)})
    assert told == [{"Ann", "Bob"}, {"Ann"}]


async def test_an_admin_key_bound_to_config_users_saves_and_tries_no_workflow_and_changes_no_model(tree):
    server, *_ = tree
    own_page = {"origin": "http://localhost", "content_type": "application/json"}
    key = server.parts.access.api_keys.create(role="admin", configs=["ann"], by="test")[1]
    body = {"path": "Workflows/Bob/New.json", "text": json.dumps([answering()])}
    tried = body | {"model": "Bob", "messages": [{"role": "user", "content": "Hello"}]}
    asked = [
        ("PUT", "/api/workflows/files/Workflows/Bob/New.json", {"text": body["text"]}, {"if_none_match": "*"}),
        ("POST", "/api/workflows/try", tried, {}),
        ("PUT", "/api/model", {"provider": "offline"}, {}),
    ]
    for method, target, sent, headers in asked:
        answer = await server.ask(method, target, sent, **own_page, **headers, x_api_key=key)
        assert error_of(answer) == (403, "admin_key_needed")


async def test_an_admin_key_bound_to_config_users_sees_and_ends_no_key_that_calls_others(tree):
    server, *_ = tree
    keys = server.parts.access.api_keys
    own, text = keys.create(role="admin", configs=["ann"], by="test")
    free, bobs = keys.create(role="admin", by="test")[0], keys.create(role="read", configs=["Bob"], by="test")[0]
    made = orjson.loads(
        (await server.ask("POST", "/api/keys", {"role": "read", "configs": ["Ann"]}, x_api_key=text)).body
    )
    listed = {one["id"] for one in (await server.get("/api/keys", x_api_key=text))["results"]}
    assert {own.id, made["id"]} <= listed
    assert not {free.id, bobs.id} & listed
    for id in (free.id, bobs.id):
        for method, target in (("DELETE", f"/api/keys/{id}"), ("POST", f"/api/keys/{id}/rotate")):
            answer = await server.ask(method, target, x_api_key=text)
            assert error_of(answer) == (404, "key_not_found")
    assert (await server.ask("DELETE", f"/api/keys/{made['id']}", x_api_key=text)).status == 200
