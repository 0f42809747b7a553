"""Requests of a run as `curl` commands: a client's to this server, and a node's to its model.

A command holds no key: it names `$API_KEY`, a variable of the shell in which it is run.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast, get_args

import orjson

from mnemoir.core.errors import NotFound
from mnemoir.core.messages import Message, ModelRequest, Role, text_message
from mnemoir.core.runs import RunTrace, TracedMessage
from mnemoir.server.answer import JsonObject
from mnemoir.wire import koboldcpp, ollama_chat, ollama_generate, openai_chat, openai_completions, openai_responses

_ROLES = frozenset(get_args(Role))
_LINE = " \\\n  "


class RunCommand(JsonObject):
    """A request as a command line; `left_out` lists the parts of the original request that it lacks."""

    url: str
    body: dict[str, Any]
    curl: str
    left_out: Sequence[str]


def node_command(run: RunTrace, place: int) -> RunCommand:
    """The request of the node at `place` among all of the run. Raises NotFound for one that called no server."""
    _check_kept(run)
    nodes = list(run.nodes())
    node = nodes[place] if 0 <= place < len(nodes) else None
    if node is None:
        raise NotFound(f"Run {run.id[:128]!r} has {len(nodes)} nodes, and none at {place}.", code="node_not_found")
    call, write = node.call, WRITERS.get(node.call.protocol) if node.call else None
    if call is None or write is None or node.prompt is None:
        raise NotFound(f"Node {node.title!r} asked no model over HTTP.", code="no_request")
    prompt, left_out = _messages(node.prompt)
    request = ModelRequest(messages=prompt, model=call.model, sampling=call.sampling, options=call.options)
    if call.has_tools:
        left_out.append("The tools the model was offered are left out.")
    if call.passed:
        left_out.append(f"The client's own members are left out: {', '.join(call.passed)}.")
    return _command(call.url, write(request, stream=call.stream), left_out, needs_key=call.needs_key)


def run_command(run: RunTrace, origin: str, *, needs_key: bool) -> RunCommand:
    """The request of the client to the server at `origin`, as a chat in OpenAI's protocol. Raises NotFound."""
    _check_kept(run)
    messages, left_out = _messages(run.asked)
    request = ModelRequest(messages=messages, model=run.model)
    body = WRITERS["openai-chat"](request, stream=run.stream) | {"user": run.scope.user}
    left_out.append("What else the client sent is left out, such as settings of sampling and the id of the chat.")
    header = {"X-Mnemoir-Project": run.scope.project}
    return _command(f"{origin}/v1/chat/completions", body, left_out, needs_key=needs_key, headers=header)


def _check_kept(run: RunTrace) -> None:
    if run.is_temporary:
        raise NotFound(
            f"Run {run.id[:128]!r} answered a temporary chat, of which no texts are kept.", code="no_request"
        )


def _command(
    url: str, body: Mapping[str, Any], left_out: Sequence[str], *, needs_key: bool, headers: Mapping[str, str] = {}
) -> RunCommand:
    sent = {"Content-Type": "application/json", **headers}
    words = [f"curl {shlex.quote(url)}", *(f"-H {shlex.quote(f'{name}: {value}')}" for name, value in sent.items())]
    if needs_key:
        words.append('-H "Authorization: Bearer $API_KEY"')
    text = orjson.dumps(body, option=orjson.OPT_INDENT_2, default=str).decode()
    words.append(f"--data-raw {shlex.quote(text)}")
    return {"url": url, "body": dict(body), "curl": _LINE.join(words), "left_out": list(left_out)}


def _messages(prompt: str | Sequence[TracedMessage]) -> tuple[list[Message], list[str]]:
    """A traced prompt as messages, and the parts of it that the trace lacks."""
    if isinstance(prompt, str):
        is_cut = prompt.startswith("[") and " earlier characters are not shown.]\n" in prompt[:80]
        return [text_message("user", prompt)], ["The prompt begins later than it did."] if is_cut else []
    left_out = [message["content"] for message in prompt if message["role"] == "note"]
    spoken = [message for message in prompt if message["role"] in _ROLES]
    if any(message.get("images") for message in spoken):
        left_out.append("Pictures are left out.")
    if any(message.get("tool_calls") or message["role"] == "tool" for message in spoken):
        left_out.append("Calls of tools and their results are left out.")
    plain = [message for message in spoken if message["role"] != "tool"]
    return [text_message(cast(Role, message["role"]), message["content"]) for message in plain], left_out


class RequestWriter(Protocol):
    """A `write_request`."""

    def __call__(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The body to send."""


WRITERS: Mapping[str, RequestWriter] = {
    "openai-chat": openai_chat.write_request,
    "openai-completions": openai_completions.write_request,
    "openai-responses": openai_responses.write_request,
    "koboldcpp": koboldcpp.write_request,
    "ollama": ollama_chat.write_request,
    "ollama-chat": ollama_chat.write_request,
    "ollama-generate": ollama_generate.write_request,
}
