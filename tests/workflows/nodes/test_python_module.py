"""PythonModule, over real modules in processes of their own."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from mnemoir.core.errors import ModuleFailed, SettingsError
from mnemoir.core.messages import text_message
from mnemoir.ports.node_services import ModuleRunner
from mnemoir.providers.http import new_session
from mnemoir.providers.python_modules.runner import NoModules, ProcessModuleRunner
from mnemoir.workflows.nodes.python_module import PythonModule
from mnemoir.workflows.nodes.static_response import StaticResponse
from mnemoir.workflows.services import Services
from tests.workflows.nodes.node_kit import Bench

ECHO = "def Invoke(*args, **kwargs): return {'args': args, 'kwargs': kwargs}"


@dataclass(kw_only=True)
class ModuleBench(Bench):
    """A bench whose nodes may run modules."""

    modules: ModuleRunner = field(default_factory=NoModules)

    def module(self, source: str, name: str = "tool") -> str:
        """Write a module, and give its path as a node names it."""
        file = self.public / "modules" / f"{name}.py"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(source)
        return f"modules/{name}.py"

    def _services(self) -> Services:
        return replace(super()._services(), modules=self.modules)


@pytest.fixture
async def bench(tmp_path) -> AsyncIterator[ModuleBench]:
    public = tmp_path / "Public"
    runner = ProcessModuleRunner([public], public)
    async with new_session() as session:
        yield ModuleBench(public=public, session=session, modules=runner)
    await runner.aclose()


async def run(bench: ModuleBench, source: str, **said: Any) -> Any:
    return await bench.run(PythonModule, module_path=bench.module(source), **said)


async def test_arguments_are_texts_with_the_variables_in_them(bench):
    bench.outputs = {1: "blue"}
    given = await run(
        bench, ECHO, args=["{agent1Output}", 3, True, None, {"a": 1}], kwargs={"sky": "is {agent1Output}"}
    )
    assert given == {"args": ["blue", "3", "True", "None", "{'a': 1}"], "kwargs": {"sky": "is blue"}}


async def test_a_node_may_give_no_arguments_at_all(bench):
    assert await run(bench, ECHO, args=None) == {"args": [], "kwargs": {}}


async def test_the_path_may_hold_variables(bench):
    bench.module("def Invoke(): return 'found'", name="chosen")
    bench.variables = {"which": "chosen"}
    assert await bench.run(PythonModule, module_path="modules/{which}.py") == "found"


async def test_a_path_from_a_variable_stays_within_the_allowed_directories(bench, tmp_path):
    (tmp_path / "outside.py").write_text("def Invoke(): return 'ran'")
    bench.inputs = ["../outside.py"]
    with pytest.raises(SettingsError, match="outside the directories"):
        await bench.run(PythonModule, module_path="{agent1Input}")


async def test_text_of_a_person_reaches_a_module_unchanged(bench):
    bench.messages = [text_message("user", "{agent1Output} {{x}} \"'")]
    given = await run(bench, "def Invoke(text): return text", args=["{chat_user_prompt_last_one}"])
    assert given == "{agent1Output} {{x}} \"'"


async def test_a_module_can_read_the_messages_as_a_python_literal(bench):
    source = "import ast\ndef Invoke(messages): return [m['content'] for m in ast.literal_eval(messages)]"
    assert await run(bench, source, args=["{messages}"]) == ["Be kind.", "Hello."]


async def test_later_nodes_can_look_into_a_returned_object(bench):
    bench.outputs = {1: await run(bench, "def Invoke(): return {'sky': 'blue'}")}
    assert await bench.run(StaticResponse, content="{agent1Output[sky]}") == "blue"
    assert await bench.run(StaticResponse, content="{{ agent1Output.sky | tojson }}", jinja2=True) == '"blue"'


async def test_a_module_knows_for_which_user_it_runs(bench):
    bench.settings = {"MCPO_URL": "http://tools:8889"}
    source = (
        "from Middleware.utilities.config_utils import get_config_value, get_current_username\n"
        "def Invoke(): return [get_current_username(), get_config_value('MCPO_URL')]"
    )
    assert await run(bench, source) == ["someone", "http://tools:8889"]


async def test_an_exception_in_the_module_is_a_text(bench):
    assert await run(bench, "def Invoke(): return 1 / 0") == (
        "Error: An unexpected error occurred while processing your request. Please check system logs."
    )


@pytest.mark.real_time
async def test_the_node_may_limit_the_time(bench):
    with pytest.raises(ModuleFailed, match=r"did not return within 0\.5 s"):
        await run(bench, "def Invoke():\n  while True: pass", timeoutSeconds=0.5)


async def test_modules_that_are_switched_off_do_not_run(bench):
    bench.modules = NoModules()
    with pytest.raises(SettingsError, match=r"workflows\.python_modules"):
        await run(bench, ECHO)
