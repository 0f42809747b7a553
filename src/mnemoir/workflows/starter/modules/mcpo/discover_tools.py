"""Step 2: ask the chosen services what tools they have, and tell the model of them.

`messages` and `chat_system_prompt` are the variables of those names, `services` what a model answered: names with
commas between them, or `none`. The result is an object:

- `messages`: the conversation, as a list;
- `chat_system_prompt`: the system prompt, with the tools behind it if there are any;
- `discovered_tools_map`: how each tool is called, for the step that calls them;
- `problems`: what could not be asked, and why.
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
    for service in _chosen(services):
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


def _chosen(services: str) -> list[str]:
    """The names in the order given, each once."""
    names = (name.strip(" \t\r`'\"*.[]()") for name in services.replace("\n", ",").split(","))
    return list(dict.fromkeys(name for name in names if name and name.lower() != "none"))[:MOST_SERVICES]


def _add(tools: dict[str, Tool], service: str) -> None:
    """Two services may have a tool of the same name; the second gets its service's in front."""
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
    """The operator's own words, where there is a file of them."""
    file = Path(get_default_tool_prompt_path())
    return file.read_text(encoding="utf-8-sig").strip() if file.is_file() else HOW_TO_CALL


def _read_messages(messages: str) -> Any:
    """The list that `{messages}` shows; the text itself if it is none."""
    try:
        return ast.literal_eval(messages)
    except (ValueError, SyntaxError):
        return messages
