"""`/docs`: a page about the API with examples, and with requests to try, that loads nothing from elsewhere."""

import re
from html import unescape

import jsonschema
import orjson
import pytest

from mnemoir.server.reference.examples import example_of
from tests.narrowing import present
from tests.server.server_kit import Server, error_of

MEMORIES = "/api/memories"
KEY = "a-key-of-sixteen-or-more"


async def page_of(server: Server) -> str:
    return (await server.ask("GET", "/docs")).body.decode()


async def test_the_page_holds_all_but_its_script_and_names_no_other_place(server):
    answer = await server.ask("GET", "/docs")
    page = answer.body.decode()
    assert answer.headers["content-type"].startswith("text/html")
    assert not re.findall(r"https?://", page)
    assert re.findall(r"<script[^>]*>", page) == ['<script src="/docs/try.js" defer>']
    script = await server.ask("GET", "/docs/try.js")
    assert script.headers["content-type"].startswith("text/javascript")
    for path in ("/api/memories/search", "/v1/chat/completions", "/api/tags", "/api/export"):
        assert path in page


async def test_its_policy_allows_its_own_script_and_requests_to_its_own_server_alone(server):
    policy = (await server.ask("GET", "/docs")).headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "connect-src 'self'", "form-action 'none'"} <= set(policy)
    assert not [part for part in policy if "unsafe" in part or "*" in part]


@pytest.mark.parametrize("keys", [[], [KEY]])
async def test_it_asks_for_a_key_where_the_server_does(open_server, keys):
    assert ('id="key"' in await page_of(await open_server(api_keys=keys))) is bool(keys)


@pytest.mark.slow
async def test_below_a_prefix_it_leads_to_what_is_there(open_server):
    page = await page_of(await open_server(root_path="/memory"))
    assert 'src="/memory/docs/try.js"' in page
    assert 'href="/memory/openapi.json"' in page
    assert 'data-root="/memory"' in page


async def test_what_stands_between_backticks_is_shown_as_code(server):
    page = await page_of(server)
    assert "<code>X-Mnemoir-Project</code>" in page
    assert "`" not in page


async def test_each_example_of_a_body_is_one_that_its_shape_allows(server):
    schema = await server.get("/openapi.json")
    for operations in schema["paths"].values():
        for operation in operations.values():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if body:
                asked = body["schema"] | {"components": schema["components"]}
                jsonschema.validate(example_of(asked, schema["components"]["schemas"], is_request=True), asked)


async def test_the_example_of_a_search_is_answered(server):
    page = unescape(await page_of(server))
    form = page.partition('data-method="POST" data-path="/api/memories/search"')[2]
    body = present(re.search(r'name="body"[^>]*>(.*?)</textarea>', form, re.DOTALL))[1]
    answer = await server.ask("POST", f"{MEMORIES}/search", body.encode(), content_type="application/json")
    assert answer.status == 200


async def test_docs_can_be_switched_off(open_server):
    server = await open_server(docs=False)
    for path in ("/docs", "/docs/try.js", "/openapi.json"):
        assert error_of(await server.ask("GET", path))[0] == 404


@pytest.mark.parametrize("name", ["x_mnemoir_project", "x_etienne_project"])
async def test_a_project_is_named_by_a_header(server, name):
    said = {"user_id": "mira", "messages": [{"role": "user", "content": "I love leeks."}]}
    await server.post(f"{MEMORIES}?project=garden", said)
    totals = [
        orjson.loads((await server.ask("GET", f"{MEMORIES}/mira", **{name: project})).body)["total"]
        for project in ("garden", "kitchen")
    ]
    assert totals == [1, 0]
