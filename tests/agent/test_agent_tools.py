"""Tools: the description of a function for the model, and the execution of calls."""

import asyncio
import functools
import json
import threading
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from mnemoir.agent import AgentLimits, Tool, tool
from mnemoir.core.errors import SettingsError
from tests.agent.agent_kit import served_model
from tests.scripted_llm import Answer


@pytest.fixture
async def model():
    async with served_model() as served:
        yield served


async def outcome(model, call, *tools, **members):
    """What the model is told of its one call."""
    model.server.clear()
    model.calls(call)
    model.says("ok")
    assert await model.agent(*tools, **members).run("go") == "ok"
    role, text = model.asked[1][-1]
    assert role == "tool"
    return text


class Place(BaseModel):
    city: str
    zip: str | None = None


@tool
def book(place: Place, nights: Annotated[int, Field(ge=1)], board: Literal["half", "full"] = "half") -> str:
    """Book a room
    in a hotel.

    Args:
        place: where it is,
            by city
        nights (int): how many
        json: not an argument

    Returns:
        The number of the booking.
    """
    return f"{place.city} {nights} {board}"


def test_the_schema_is_that_of_the_signature():
    function = book.spec["function"]
    assert (book.spec["type"], function["name"], function["description"]) == (
        "function",
        "book",
        "Book a room in a hotel.",
    )
    parameters = function["parameters"]
    assert parameters["required"] == ["place", "nights"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"]["nights"] == {"type": "integer", "minimum": 1, "description": "how many"}
    assert parameters["properties"]["board"] == {"type": "string", "enum": ["half", "full"], "default": "half"}
    assert parameters["properties"]["place"]["description"] == "where it is, by city"
    assert "city" in parameters["$defs"]["Place"]["properties"]


def test_arguments_may_have_names_that_pydantic_reserves():
    @tool
    def odd(json: str, model_config: int, _hidden: bool = False, copy: tuple[int, ...] = ()) -> None: ...

    assert list(odd.parameters["properties"]) == ["json", "model_config", "_hidden", "copy"]
    assert odd.read({"json": "x", "model_config": "1"}) == {"json": "x", "model_config": 1}


def test_a_default_without_json_form_is_left_to_the_function():
    marker: Any = object()

    @tool
    def find(text: str = marker) -> bool:
        return text is marker

    assert find() is True
    assert find.read({}) == {}
    assert find.parameters["properties"]["text"] == {"type": "string"}


def test_a_tool_can_be_called_like_its_function():
    assert book(Place(city="Rome"), 2) == "Rome 2 half"


def test_a_function_without_a_docstring_or_arguments_is_a_tool():
    @tool(name="now", description="The time.")
    def anything(): ...

    assert anything.spec["function"] == {
        "name": "now",
        "description": "The time.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    }


class Greeter:
    """Not this."""

    async def __call__(self, name: str, greeting: str = "Hello") -> str:
        """Greet a person.

        Args:
            name: of the person
        """
        return f"{greeting}, {name}"


async def test_an_object_that_can_be_called_and_a_partial_are_tools(model):
    greet = tool(name="greet")(Greeter())
    hail = tool(name="hail")(functools.partial(Greeter(), greeting="Hail"))
    for made in (greet, hail):
        assert made.description == "Greet a person."
        assert made.parameters["properties"]["name"] == {"type": "string", "description": "of the person"}
    assert await outcome(model, ("greet", {"name": "Ann"}), greet) == "Hello, Ann"
    assert await outcome(model, ("hail", {"name": "Ann"}), hail) == "Hail, Ann"


def takes_any(*names: str): ...
def takes_more(**names: str): ...
def takes_places(a: int, /): ...
def says_nothing(a): ...
def takes_a_lock(a: threading.Event): ...
def takes_the_unknown(a: "Nowhere"): ...  # type: ignore[name-defined]  # noqa: F821  # the name is unknown on purpose


@pytest.mark.parametrize(
    "function", [takes_any, takes_more, takes_places, says_nothing, takes_a_lock, takes_the_unknown, lambda: None]
)
def test_a_function_that_cannot_be_a_tool_is_refused_by_name(function):
    with pytest.raises(SettingsError, match=function.__name__):
        tool(function)


def test_two_tools_with_the_same_name_are_refused(model):
    with pytest.raises(SettingsError, match="Two tools are named 'book'"):
        model.agent(book, book)


async def test_arguments_arrive_as_the_types_of_the_signature(model):
    asked = ("book", {"place": {"city": "Rome"}, "nights": "3"})
    assert await outcome(model, asked, book) == "Rome 3 half"


async def test_an_unknown_tool_is_an_error_for_the_model(model):
    text = await outcome(model, ("fly", {}), book)
    assert text == "Error: there is no tool named 'fly'. Tools: book."


async def test_wrong_arguments_are_named_to_the_model(model):
    text = await outcome(model, ("book", {"place": {}, "nights": 0, "extra": 1}), book)
    assert text.startswith("Error: wrong arguments for book: ")
    assert all(name in text for name in ("place.city", "nights", "extra"))


async def test_invalid_json_arguments_are_never_repaired_into_a_call(model):
    runs = []

    def remove(path: str = "/") -> None:
        runs.append(path)

    call = {"id": "1", "type": "function", "function": {"name": "remove", "arguments": '{"path": "/tmp/x'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = b'{"choices": [{"message": %s, "finish_reason": "length"}]}' % _json(message)
    model.server.queue(Answer(body=body, headers={"Content-Type": "application/json"}), Answer(text="ok"))
    assert await model.agent(remove).run("go") == "ok"
    assert model.asked[1][-1][1].startswith("Error: wrong arguments for remove: unreadable_arguments")
    assert runs == []


def _json(value):
    return json.dumps(value).encode()


def fails():
    raise ValueError("the disk is full")


def leaves():
    raise SystemExit(3)


def stops():
    next(iter(()))


async def fails_later():
    raise TypeError("unsupported operand")


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (fails, "Error in fails: ValueError: the disk is full"),
        (leaves, "Error in leaves: SystemExit: 3"),
        (stops, "Error in stops: RuntimeError: StopIteration"),
        (fails_later, "Error in fails_later: TypeError: unsupported operand"),
    ],
)
async def test_a_tool_that_fails_does_not_end_the_run(model, function, text):
    assert await outcome(model, (function.__name__, {}), function) == text


async def test_a_tool_over_its_time_limit_is_abandoned(model):
    @tool(timeout_s=0.01)
    async def wait() -> None:
        await asyncio.Event().wait()

    assert await outcome(model, ("wait", {}), wait) == "Error: wait ran out of time. It may take 0.01 s."


async def test_a_plain_function_may_block_and_leaves_the_loop_free(model):
    loop = asyncio.get_running_loop()

    def ask_the_loop() -> str:
        return asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "free"), loop).result(10)

    assert await outcome(model, ("ask_the_loop", {}), ask_the_loop) == "free"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, "Done."),
        ("", ""),
        ("plain", "plain"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (Place(city="Rome"), '{"city":"Rome","zip":null}'),
        (True, "true"),
        ("half \ud83d pair", "half ? pair"),
    ],
)
async def test_a_result_becomes_a_text(model, result, text):
    def give():
        return result

    assert await outcome(model, ("give", {}), give) == text


async def test_a_long_result_is_cut_and_says_so(model):
    def read() -> str:
        return "x" * 5000

    text = await outcome(model, ("read", {}), read, limits=AgentLimits(max_result_characters=100))
    assert text == "x" * 100 + "\n[4900 more characters were cut off]"


class Bomb:
    """A dangerous tool that tells whether it ran."""

    def __init__(self):
        self.ran = []
        self.tool = tool(name="wipe", description="Remove all.", dangerous=True)(self.wipe)

    def wipe(self, path: str) -> str:
        self.ran.append(path)
        return "gone"


WIPE = ("wipe", {"path": "/x"})


async def test_a_dangerous_tool_without_a_callback_is_cancelled(model):
    bomb = Bomb()
    text = "[CANCELLED] wipe needs a confirmation, and there is no confirm_callback to give it."
    assert await outcome(model, WIPE, bomb.tool) == text
    assert bomb.ran == []


@pytest.mark.parametrize("confirmed", [True, False])
@pytest.mark.parametrize("asynchronous", [True, False])
async def test_a_dangerous_tool_runs_when_it_is_confirmed(model, confirmed, asynchronous):
    asked, bomb = [], Bomb()

    def confirm(*shown):
        asked.append(shown)
        return confirmed

    async def confirm_later(*shown):
        return confirm(*shown)

    text = await outcome(model, WIPE, bomb.tool, confirm_callback=confirm_later if asynchronous else confirm)
    assert asked == [("wipe", "Remove all.", {"path": "/x"})]
    assert (text == "gone", bomb.ran) == ((True, ["/x"]) if confirmed else (False, []))
    assert confirmed or text.startswith("[CANCELLED]")


async def test_a_failing_confirmation_counts_as_a_refusal(model):
    bomb = Bomb()

    def confirm(*shown):
        raise EOFError

    assert (await outcome(model, WIPE, bomb.tool, confirm_callback=confirm)).startswith("[CANCELLED]")
    assert bomb.ran == []


async def test_no_confirmation_is_requested_for_a_call_that_cannot_run(model):
    asked = []
    text = await outcome(model, ("wipe", {"where": 1}), Bomb().tool, confirm_callback=lambda *s: asked.append(s))
    assert text.startswith("Error: wrong arguments")
    assert asked == []


async def test_confirmation_can_be_switched_off(model):
    assert await outcome(model, WIPE, Bomb().tool, confirm_dangerous=False) == "gone"


@pytest.mark.parametrize("name", ["", "a b", "a" * 65, "läuft", "x\n"])
def test_a_name_that_providers_refuse_is_refused_here(name):
    with pytest.raises(SettingsError, match="cannot be named"):
        Tool(name=name, description="", parameters={}, function=print)
