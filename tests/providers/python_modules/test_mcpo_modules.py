"""The modules of the starter tree that call tools of an MCPO server."""

import json
from importlib.resources import files

import pytest

from tests.providers.python_modules.tool_server import ToolServer

FORECAST = {"service": "weather", "path": "/forecast", "method": "post", "parameters": []}
PLACE = {
    "service": "weather",
    "path": "/places/{place_id}",
    "method": "get",
    "parameters": [
        {"name": "place_id", "in": "path", "required": True},
        {"name": "max_size", "in": "query", "required": False},
    ],
}
TOOLS = {"get_forecast": FORECAST, "get_place": PLACE}


@pytest.fixture
def server():
    with ToolServer() as server:
        yield server


@pytest.fixture
def run(public, runner, server):
    """Run one of the modules as a node of the tree would, for a user who has the address of the server."""
    for file in (files("mnemoir.workflows.starter") / "modules" / "mcpo").iterdir():
        if file.name.endswith(".py"):
            public.write(file.read_text(), f"modules/mcpo/{file.name}")
    public.write_config("Users/some-one.json", {"MCPO_URL": server.url + "/"})

    async def run(module, *args, **kwargs):
        return await runner.call(public.call(*args, path=f"modules/mcpo/{module}.py", **kwargs))

    return run


def calls(name, **parameters):
    return json.dumps({"tool_calls": [{"name": name, "parameters": parameters}]})


async def discover(run, services, system=""):
    return await run("discover_tools", messages="[{'role': 'user'}]", chat_system_prompt=system, services=services)


async def call(run, name, tools=TOOLS, **parameters):
    return await run("call_tools", tool_calls=calls(name, **parameters), tools=json.dumps(tools))


async def test_the_tools_of_the_chosen_services_are_found(run):
    found = await discover(run, "weather, `clock`\n- weather")
    assert list(found["discovered_tools_map"]) == [
        "get_forecast", "get_place", "elsewhere", "broken", "endless", "clock_get_forecast",
    ]  # fmt: skip
    assert found["discovered_tools_map"]["get_place"] == PLACE
    assert found["messages"] == [{"role": "user"}]


async def test_the_tool_descriptions_follow_the_system_prompt(run):
    prompt = (await discover(run, "clock, weather", "Be kind."))["chat_system_prompt"]
    intro, tools, how = prompt.split("\n\n")
    assert intro == "Be kind."
    assert tools.splitlines()[0] == "Available Tools:"
    assert json.loads(tools.splitlines()[2]) == {
        "name": "weather_get_forecast",
        "description": "The weather of a day",
        "parameters": {
            "city": {"type": "string", "description": "A city", "required": True},
            "dayNumber": {"type": "integer", "description": "", "required": False},
        },
    }
    assert '{"tool_calls": [' in how


async def test_the_operator_may_replace_the_tool_prompt(run, public):
    public.write("Call them so.", "Configs/default_tool_prompt.txt")
    assert (await discover(run, "clock"))["chat_system_prompt"].endswith("\n\nCall them so.")


@pytest.mark.parametrize("services", ["none", "None", "", " , ,\n"])
async def test_without_services_there_is_no_request_and_no_added_text(run, server, services):
    found = await discover(run, services, "Be kind.")
    assert (found["chat_system_prompt"], found["discovered_tools_map"]) == ("Be kind.", {})


@pytest.mark.parametrize("service", ["../admin", "a/b", "x?y", "http://127.0.0.1:1", "a%2Fb", "a b"])
async def test_a_name_with_a_path_is_not_a_service(run, server, service):
    found = await discover(run, service)
    assert "is no name of a service" in found["problems"][0]
    assert server.requests == []


async def test_a_service_without_a_description_is_reported_and_the_others_are_used(run):
    found = await discover(run, "missing, list, clock")
    assert list(found["discovered_tools_map"]) == ["get_forecast"]
    assert [problem.rpartition("openapi.json ")[2] for problem in found["problems"]] == [
        "answered with HTTP 404",
        "describes no tools",
    ]


async def test_an_unreachable_tool_server_is_reported(run, public):
    public.write_config("Users/some-one.json", {"MCPO_URL": "http://127.0.0.1:1"})
    assert "gave no answer" in (await discover(run, "clock"))["problems"][0]


@pytest.mark.parametrize("url", ["file:///etc", "ftp://x", "x"])
async def test_the_address_must_be_an_http_url(run, public, url):
    public.write_config("Users/some-one.json", {"MCPO_URL": url})
    assert "must be an address" in (await discover(run, "clock"))["problems"][0]


@pytest.mark.parametrize(
    "written",
    [
        '{"tool_calls": [{"name": "a", "parameters": {"b": 1}}]}',
        '<think>{"tool_calls": []}</think>Sure:\n```\n{"tool_calls": [{"name": "a", "parameters": {"b": 1}}]}\n```',
        'First {x} then {"tool_calls": [{"name": " a ", "arguments": "{\\"b\\": 1}"}, {"no": 1}, 7]} done',
        '{"tool_calls": [{"name": "a", "parameters": {"b": 1,}}',
    ],
)
async def test_calls_are_found_in_any_form_of_a_models_text(run, written):
    assert json.loads(await run("sanitise_tool_calls", written)) == json.loads(calls("a", b=1))


@pytest.mark.parametrize("written", ["Hello!", "{", '{"tool_calls": []}', '{"tool_calls": 3}', "{" * 100_000])
async def test_a_text_without_calls_stays_unchanged(run, written):
    assert await run("sanitise_tool_calls", written) == written
    assert await run("call_tools", tool_calls=written, tools="{}") == written


async def test_a_call_sends_its_parameters_as_the_body(run, server):
    said = await call(run, "get_forecast", city="Bonn", dayNumber=2)
    assert said == 'Tool Results:\n\nget_forecast: {"said": "/weather/forecast"}'
    assert server.requests == [("POST", "/weather/forecast", {"city": "Bonn", "dayNumber": 2})]


async def test_parameters_of_path_and_query_are_found_whatever_their_spelling(run, server):
    await call(run, "get_place", placeId="a/../b?c#d", MAX_SIZE=[1, 2])
    assert server.requests == [("GET", "/weather/places/a/../b?c#d?max_size=1&max_size=2", None)]  # shown decoded


async def test_path_parameters_are_encoded(run):
    assert "/weather/places/a%2F..%2Fb%3Fc%0A" in await call(run, "get_place", place_id="a/../b?c\n")


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"place_id": ".."}, "may not be '..'"),
        ({"place_id": ""}, "may not be ''"),
        ({}, "'place_id' is missing"),
        ({"place_id": "1", "file": "@/etc/passwd"}, "has no parameter file"),
    ],
)
async def test_a_call_that_does_not_fit_is_not_made(run, server, parameters, why):
    assert why in await call(run, "get_place", **parameters)
    assert server.requests == []


@pytest.mark.parametrize(
    "change",
    [
        {"service": "../x"},
        {"path": "/../../admin"},
        {"path": "//other/x"},
        {"path": "/a?b"},
        {"path": "@other/x"},
        {"path": "/{unknown}"},
        {"method": "TRACE"},
    ],
)
async def test_a_manipulated_tool_map_is_refused(run, server, change):
    assert "get_forecast: failed:" in await call(run, "get_forecast", tools={"get_forecast": FORECAST | change})
    assert server.requests == []


async def test_unknown_tools_are_refused_and_the_others_called(run, server):
    asked = json.dumps({"tool_calls": [{"name": "rm"}, {"name": "get_forecast"}] + [{"name": "rm"}] * 20})
    said = await run("call_tools", tool_calls=asked, tools=str(TOOLS))  # the map as Python shows it
    assert said.startswith("Tool Results:\n\nrm: refused, because there is no tool of this name\n\nget_forecast: {")
    assert said.endswith("6 more calls were not made; 16 are allowed at a time.")
    assert server.requests == [("POST", "/weather/forecast", {})]


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("elsewhere", "it leads to another server"),
        ("broken", 'failed with HTTP 500: {"said": "/weather/broken"}'),
        ("endless", "it is longer than 8388608 bytes"),
    ],
)
async def test_a_failing_service_is_reported_to_the_model(run, tool, why):
    place = {"service": "weather", "path": f"/{tool}", "method": "get", "parameters": []}
    assert why in await call(run, tool, tools={tool: place})
