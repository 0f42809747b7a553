"""The documented names, parameters and defaults of the agent, usable without a server."""

import inspect
import subprocess
import sys

import pytest

import mnemoir.agent
from mnemoir.agent import Agent, CompletionResponse, Tool, tool
from mnemoir.core.conversations import ToolCall
from tests.narrowing import present

NAMES = [
    *("DEFAULT_SYSTEM_PROMPT", "LLM", "Agent", "AgentEvent", "AgentLimits", "AgentMemory", "Answered"),
    *("ChatModelLLM", "ClusterManager", "CompletionResponse", "ContextRecalled", "ModelChooser", "ScopedSearch"),
    *("StreamingLLM", "Text", "Tool", "ToolFinished", "ToolSource", "ToolSpec", "ToolStarted", "Usage", "tool"),
]


def test_the_public_names_are_these():
    assert vars(mnemoir.agent)["__all__"] == sorted(NAMES)  # the stub does not have it
    assert all(hasattr(mnemoir.agent, name) for name in NAMES)


def test_the_constructor_is_as_documented():
    parameters = list(inspect.signature(Agent).parameters.values())
    given = {each.name: each.default for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD}
    assert list(given.items()) == [
        ("llm", inspect.Parameter.empty),
        ("tools", inspect.Parameter.empty),
        ("max_steps", 10),
        ("system_prompt", mnemoir.agent.DEFAULT_SYSTEM_PROMPT),
        ("confirm_dangerous", True),
        ("confirm_callback", None),
        ("cluster_manager", None),
        ("memory_manager", None),
        ("mcp_manager", None),
        ("session_id", None),
        ("enable_rag", False),
        ("rag_top_k", 5),
        ("rag_min_similarity", 0.7),
    ]


def test_undocumented_parameters_are_keyword_only_with_a_default():
    own = [each for each in inspect.signature(Agent).parameters.values() if each.kind is each.KEYWORD_ONLY]
    assert [(each.name, each.default) for each in own] == [("limits", None)]


def test_run_is_a_coroutine_function_of_the_message():
    assert inspect.iscoroutinefunction(Agent.run)
    assert list(inspect.signature(Agent.run).parameters) == ["self", "user_message"]


def test_a_response_is_a_text_by_default():
    response = CompletionResponse("Hi")
    assert (response.content, response.tool_calls, response.finish_reason) == ("Hi", None, "stop")
    assert present(CompletionResponse(None, [ToolCall("1", "now")], "tool_calls").tool_calls)[0].arguments == {}


def test_the_decorator_makes_tools_with_and_without_options():
    @tool
    def plain() -> None: ...

    @tool(dangerous=True)
    def dangerous() -> None: ...

    assert [(type(each), each.name, each.dangerous) for each in (plain, dangerous)] == [
        (Tool, "plain", False),
        (Tool, "dangerous", True),
    ]


@pytest.mark.slow
def test_an_agent_loads_neither_a_server_nor_a_provider():
    code = (
        "import sys, mnemoir.agent\n"
        "heavy = ('mnemoir.server', 'mnemoir.providers', 'mnemoir.storage', 'onnxruntime', 'fastapi')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
