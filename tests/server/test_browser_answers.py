"""Real answers of every route that is read with GET, on a server that holds something, are as they are described.

`TARGETS` names an address for each; a route that is missing there fails the test, so that none is left out.
"""

from base64 import b64encode
from urllib.parse import quote

import pytest

from tests.scripted_llm import failure
from tests.server.described import Description
from tests.server.server_kit import asks, error_of
from tests.workflows.nodes.pictures import png

CONVERSATION = "tea/../time ☕"
ONE = f"/api/conversations/{quote(CONVERSATION, safe='')}"
MINE = "user_id=mira"
NOT_JSON = {
    *("/", "/metrics", "/api/runs/live", "/api/export", "/api/conversations/export", "/api/blobs/{digest}"),
    *("/api/conversations/{id}/export", "/api/conversations/{id}/attachments/{name}", "/api/files/{name}"),
    "/api/auth/oidc/{provider}/start",
}
PICTURE = "data:image/png;base64," + b64encode(png(filler=b"a cup of tea")).decode()
TARGETS = {
    "/health": ["/health"],
    "/ready": ["/ready"],
    "/v1/models": ["/v1/models"],
    "/models": ["/models"],
    "/v1/models/{model_id}": ["/v1/models/{model}"],
    "/models/{model_id}": ["/models/{model}"],
    "/api/version": ["/api/version"],
    "/api/tags": ["/api/tags"],
    "/api/ps": ["/api/ps"],
    "/api/imports": [f"/api/imports?{MINE}"],
    "/api/imports/{import_id}": [f"/api/imports/{{imported}}?{MINE}"],
    "/api/imports/{import_id}/estimate": [f"/api/imports/{{imported}}/estimate?{MINE}"],
    "/api/memories": [f"/api/memories?{MINE}", f"/api/memories?{MINE}&at=2030-01-01"],
    "/api/memories/{user_id}": ["/api/memories/mira"],
    "/api/memories/{user_id}/timeline": ["/api/memories/mira/timeline"],
    "/api/memories/{user_id}/map": ["/api/memories/mira/map"],
    "/api/memories/{memory_id}/history": [f"/api/memories/{{memory}}/history?{MINE}"],
    "/api/memories/settings": ["/api/memories/settings"],
    "/api/memories/extraction-prompt": ["/api/memories/extraction-prompt"],
    "/api/memories/{memory_id}/recalls": [f"/api/memories/{{memory}}/recalls?{MINE}"],
    "/api/memories/{memory_id}/details": [f"/api/memories/{{memory}}/details?{MINE}"],
    "/api/memories/changes": [f"/api/memories/changes?{MINE}"],
    "/api/memories/proposals": [f"/api/memories/proposals?{MINE}"],
    "/api/memories/duplicates": [f"/api/memories/duplicates?{MINE}"],
    "/api/me": ["/api/me"],
    "/api/auth": ["/api/auth"],
    "/api/auth/clients": ["/api/auth/clients"],
    "/api/users": ["/api/users"],
    "/api/users/memory": ["/api/users/memory"],
    "/api/invitations": ["/api/invitations"],
    "/api/page/models": ["/api/page/models"],
    "/api/keys": ["/api/keys"],
    "/api/tenants": ["/api/tenants"],
    "/api/audit": ["/api/audit"],
    "/api/holds": ["/api/holds"],
    "/api/usage": ["/api/usage"],
    "/api/projects": ["/api/projects"],
    "/api/sample": ["/api/sample"],
    "/api/events/{event_id}": ["/api/events/{event}"],
    "/api/conversations": [f"/api/conversations?{MINE}"],
    "/api/conversations/search": [
        f"/api/conversations/search?{MINE}&q=row&mode={mode}" for mode in ("keyword", "hybrid")
    ],
    "/api/conversations/{id}": [f"{ONE}?{MINE}"],
    "/api/conversations/{id}/messages": [f"{ONE}/messages?{MINE}&view={view}" for view in ("thread", "tree")],
    "/api/conversations/{id}/messages/{message_id}/learned": [f"{ONE}/messages/{{message}}/learned?{MINE}"],
    "/api/conversations/{id}/answers": [f"{ONE}/answers?{MINE}"],
    "/api/conversations/{id}/branches": [f"{ONE}/branches?{MINE}"],
    "/api/conversations/{id}/window": [f"{ONE}/window?{MINE}", f"{ONE}/window?{MINE}&max_tokens=5"],
    "/api/conversations/{id}/attachments": [f"{ONE}/attachments?{MINE}"],
    "/api/conversations/{id}/node-memory": [f"{ONE}/node-memory?{MINE}"],
    "/api/discussions": ["/api/discussions"],
    "/api/files": [f"/api/files?{MINE}"],
    "/api/runs": ["/api/runs", "/api/runs?status=failed"],
    "/api/runs/{run_id}": ["/api/runs/{run}", "/api/runs/{failed}"],
    "/api/runs/{run_id}/summary": ["/api/runs/{run}/summary", "/api/runs/{failed}/summary"],
    "/api/runs/{run_id}/memories": ["/api/runs/{run}/memories"],
    "/api/runs/{run_id}/curl": ["/api/runs/{run}/curl"],
    "/api/status": ["/api/status"],
    "/api/status/latencies": ["/api/status/latencies"],
    "/api/status/growth": ["/api/status/growth"],
    "/api/status/jobs": ["/api/status/jobs"],
    "/api/clients": ["/api/clients"],
    "/api/model": ["/api/model"],
    "/api/model/embedding": ["/api/model/embedding"],
    "/api/model/found": ["/api/model/found"],
    "/api/workflows": ["/api/workflows"],
    "/api/workflows/saving": ["/api/workflows/saving"],
    "/api/workflows/problems": ["/api/workflows/problems"],
}
# of things that this server has none of: the refusal is as described
ABSENT = {
    "/api/conversations/{id}/node-memory/{memory}": f"{ONE}/node-memory/none?{MINE}",
    "/api/conversations/{id}/answers/{answer_id}": f"{ONE}/answers/none?{MINE}",
    "/api/discussions/{id}": "/api/discussions/none",
    "/api/discussions/{id}/memories": "/api/discussions/none/memories",
    "/api/discussions/{id}/summary": "/api/discussions/none/summary",
    "/api/discussions/{id}/search": "/api/discussions/none/search?q=tea",
    "/api/discussions/{id}/export": "/api/discussions/none/export",
    "/api/users/{user_id}/adopt": "/api/users/none/adopt",
    "/api/workflows/graph": "/api/workflows/graph?path=none",
    "/api/workflows/files/{path}": "/api/workflows/files/none",
    "/api/workflows/kept/{path}": "/api/workflows/kept/none",
    "/api/workflows/schema/{kind}": "/api/workflows/schema/none",
    "/api/conversations/{id}": "/api/conversations/none",
    "/api/runs/{run_id}": "/api/runs/none",
    "/api/memories/{memory_id}/history": "/api/memories/none/history",
    "/v1/models/{model_id}": "/v1/models/none",
    "/api/me/sessions": "/api/me/sessions",
    "/api/me/passkeys": "/api/me/passkeys",
}


@pytest.fixture
async def filled(open_server, llm):
    """A server with memories that were changed, a conversation with a picture and a branch, and a run that failed."""
    server = await open_server(asks(llm))
    said = {"messages": [{"role": "user", "content": "I row every morning.", "name": "Mira"}], "user_id": "mira"}
    later = await server.post("/api/memories", said | {"async_mode": True})
    await server.post("/api/memories", said | {"infer": False, "metadata": {"a": [1, None]}, "run_id": CONVERSATION})
    chat = {"model": "mnemoir", "user": "mira", "conversation_id": CONVERSATION, "memoryEnabled": True}
    picture = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    for content in ("When do I row?", "And where do I live?", picture):
        await server.post("/v1/chat/completions", chat | {"messages": [{"role": "user", "content": content}]})
    llm.rule(lambda asked: "Break" in asked.prompt, failure(500))
    broken = chat | {"messages": [{"role": "user", "content": "Break"}], "conversation_id": "broken"}
    await server.ask("POST", "/v1/chat/completions", broken)
    past = {"messages": [{"role": "user", "content": "I drink tea."}]}
    await server.post(f"/api/conversations/import?{MINE}", past)
    return server, (later.get("event_id") or later["results"][0]["event_id"])


async def names_in(server) -> dict[str, str]:
    """What the targets leave open."""
    runs = (await server.get("/api/runs"))["results"]
    return {
        "memory": (await server.get("/api/memories/mira"))["results"][0]["id"],
        "run": next(run["id"] for run in runs if run["status"] != "failed"),
        "failed": next(run["id"] for run in runs if run["status"] == "failed"),
        "imported": (await server.get(f"/api/imports?{MINE}"))["results"][0]["id"],
        "model": (await server.get("/v1/models"))["data"][0]["id"],
        "message": (await server.get(f"{ONE}/messages?{MINE}"))["results"][0]["id"],
    }


async def test_every_answer_is_as_described(filled):
    server, event = filled
    described = Description(await server.get("/openapi.json"))
    names = await names_in(server) | {"event": event}
    wrong = []
    for path, targets in TARGETS.items():
        for target in targets:
            answer = await server.ask("GET", target.format(**names))
            misfits = described.misfits("get", path, answer)
            if answer.status != 200 or misfits:
                wrong.append((target, answer.status, misfits[:5] or answer.body[:200]))
    assert not wrong, "\n".join(map(str, wrong))


async def test_every_refusal_is_as_described(server):
    described = Description(await server.get("/openapi.json"))
    for path, target in ABSENT.items():
        answer = await server.ask("GET", target)
        assert error_of(answer)[0] in (400, 403, 404, 422), (path, answer.body)
        assert described.misfits("get", path, answer) == [], path


async def test_no_route_is_left_out(server):
    described = Description(await server.get("/openapi.json"))
    read = {path for method, path, _ in described.operations() if method == "get"}
    assert read - TARGETS.keys() - ABSENT.keys() - NOT_JSON == set()
