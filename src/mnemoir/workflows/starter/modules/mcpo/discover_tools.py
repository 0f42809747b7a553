"""Step 2: get the tools of the chosen services, and describe them to the model.

`messages` is the variable of that name, `chat_system_prompt` the client's system prompt, `services` a model's answer:
names separated by commas, or `none`. The result is an object:

- `messages`: the conversation, as a list;
- `chat_system_prompt`: the system prompt, followed by the tools if there are any;
- `discovered_tools_map`: the call of each tool, for the step that calls them;
- `problems`: services that could not be asked, with the reasons.
"""

import ast
import json
from pathlib import Path
from typing import Any

from mcpo_operations import Tool, tools_in  # type: ignore[import-not-found]
from mcpo_services import ServiceError, fetch, service_url  # type: ignore[import-not-found]
from Middleware.utilities.config_utils import get_default_tool_prompt_path  # type: ignore[import-not-found]

TIMEOUT_S = 30
MOST_BYTES = 4 * 1024 * 1024  # of a service's description
MOST_SERVICES = 16
HOW_TO_CALL = """\
To use tools, answer with nothing but one JSON object of this form:
{"tool_calls": [{"name": "<a name from the list>", "parameters": {"<parameter>": "<value>"}}]}
Name only tools from the list, and give every parameter that is required. If no tool is of use, answer with
{"tool_calls": []}"""


def Invoke(messages: str, chat_system_prompt: str, services: str) -> dict[str, Any]:
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    for service in _service_names(services):
        try:
            _add(tools, service)
        except ServiceError as exc:
            problems.append(str(exc))
    return {
        "messages": _read_messages(messages),
        "chat_system_prompt": _with_tools(chat_system_prompt, tools),
        "discovered_tools_map": {name: tool["call"] for name, tool in tools.items()},
        "problems": problems,
    }


def _service_names(services: str) -> list[str]:
    """The names in their order, each once."""
    names = (name.strip(" \t\r`'\"*.[]()") for name in services.replace("\n", ",").split(","))
    return list(dict.fromkeys(name for name in names if name and name.lower() != "none"))[:MOST_SERVICES]


def _add(tools: dict[str, Tool], service: str) -> None:
    """Add the tools of a service. A tool with a name already in use gets the service's name in front."""
    for name, tool in tools_in(_description(service), service):
        tools[name if name not in tools else f"{service}_{name}"] = tool


def _description(service: str) -> dict[str, Any]:
    url = service_url(service, "/openapi.json")
    status, body = fetch("GET", url, timeout_s=TIMEOUT_S, most_bytes=MOST_BYTES)
    if status != 200:
        raise ServiceError(f"{url} answered with HTTP {status}")
    try:
        description = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise ServiceError(f"{url} is not JSON") from exc
    if not isinstance(description, dict):
        raise ServiceError(f"{url} describes no tools")
    return description


def _with_tools(system_prompt: str, tools: dict[str, Tool]) -> str:
    if not tools:
        return system_prompt
    lines = [json.dumps({"name": name} | tool["shown"], ensure_ascii=False) for name, tool in tools.items()]
    parts = (system_prompt, "\n".join(["Available Tools:", *lines]), _how_to_call())
    return "\n\n".join(part for part in parts if part)


def _how_to_call() -> str:
    """The instructions from the operator's file, if there is one, else the built-in ones."""
    file = Path(get_default_tool_prompt_path())
    return file.read_text(encoding="utf-8-sig").strip() if file.is_file() else HOW_TO_CALL


def _read_messages(messages: str) -> Any:
    """The list in the text of `{messages}`; the text itself if it is no list."""
    try:
        return ast.literal_eval(messages)
    except (ValueError, SyntaxError):
        return messages
