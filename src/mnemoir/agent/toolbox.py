"""Execution of a model's tool calls: every result or error becomes a text for the model, and the run goes on."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import structlog
from pydantic_core import to_json

from mnemoir.agent.llm import ToolSpec
from mnemoir.agent.tools import Tool, tool
from mnemoir.core.conversations import ToolCall
from mnemoir.core.errors import InvalidRequest, SettingsError

ConfirmCallback = Callable[[str, str, dict[str, Any]], bool | Awaitable[bool]]

_log = structlog.get_logger(__name__)


def tools_by_name(given: Iterable[Tool | Callable[..., Any]]) -> dict[str, Tool]:
    """Tools by name; functions are converted to tools. Raises SettingsError when two have the same name."""
    named: dict[str, Tool] = {}
    for each in given:
        made = each if isinstance(each, Tool) else tool(each)
        if made.name in named:
            raise SettingsError(f"Two tools are named {made.name!r}; give one of them another name.")
        named[made.name] = made
    return named


class Toolbox:
    """The tools of one run. `confirm` is called before a dangerous tool; without it no dangerous tool runs.

    `confirm` gets the tool's name, its description and the arguments as the model sent them. It may be a coroutine
    function; a plain function is called in a thread, so that it may wait for a person.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        confirms_dangerous: bool,
        confirm: ConfirmCallback | None,
        most_characters: int,
    ) -> None:
        self._tools = {each.name: each for each in tools}
        self._confirms_dangerous = confirms_dangerous
        self._confirm = confirm
        self._most_characters = most_characters

    @property
    def specs(self) -> list[ToolSpec]:
        """The tools in the JSON form that a model gets."""
        return [each.spec for each in self._tools.values()]

    def is_stored(self, call: ToolCall) -> bool:
        """True when a call and its result belong to the stored conversation."""
        found = self._tools.get(call.name)
        return found is None or found.memory_policy == "store"

    async def outcome(self, call: ToolCall) -> str:
        """The result as a text, or the reason of a failure, which begins with `Error` or `[CANCELLED]`."""
        found = self._tools.get(call.name)
        if found is None:
            known = ", ".join(self._tools) or "none"
            return self._shortened_text(f"Error: there is no tool named {call.name!r:.80}. Tools: {known}.")
        try:
            arguments = found.read(call.arguments)
        except InvalidRequest as exc:
            return self._shortened_text(f"Error: wrong arguments for {call.name}: {exc.message}")
        refusal = await self._refusal(found, call)
        return self._shortened_text(refusal or await self._execute(found, arguments))

    async def _refusal(self, asked: Tool, call: ToolCall) -> str:
        if not (self._confirms_dangerous and asked.dangerous):
            return ""
        if self._confirm is None:
            return f"[CANCELLED] {asked.name} needs a confirmation, and there is no confirm_callback to give it."
        try:
            confirmed = await _ask_to_confirm(self._confirm, asked, call)
        except Exception as exc:  # noqa: BLE001  # the caller's code; a failed confirmation is a refusal
            _log.warning("confirmation failed", tool=asked.name, error=type(exc).__name__)
            confirmed = False
        return "" if confirmed else f"[CANCELLED] {asked.name} was not confirmed."

    async def _execute(self, asked: Tool, arguments: dict[str, Any]) -> str:
        try:
            return _as_text(await asked.execute(**arguments))
        except TimeoutError as exc:
            limit = f" It may take {asked.timeout_s:g} s." if asked.timeout_s else ""
            return f"Error: {asked.name} ran out of time.{limit} {exc}".rstrip()
        except (Exception, SystemExit) as exc:  # noqa: BLE001  # the model reads the tool's failure
            _log.info("tool failed", tool=asked.name, error=type(exc).__name__)
            return f"Error in {asked.name}: {type(exc).__name__}: {exc}"

    def _shortened_text(self, text: str) -> str:
        over = len(text) - self._most_characters
        return text if over <= 0 else f"{text[: self._most_characters]}\n[{over} more characters were cut off]"


async def _ask_to_confirm(confirm: ConfirmCallback, asked: Tool, call: ToolCall) -> bool:
    """Ask the callback whether the tool may run. A plain function is called in a thread."""
    arguments = dict(call.arguments)
    if inspect.iscoroutinefunction(confirm):
        return bool(await confirm(asked.name, asked.description, arguments))
    answer = await asyncio.to_thread(confirm, asked.name, asked.description, arguments)
    return bool(await answer if inspect.isawaitable(answer) else answer)


def _as_text(result: object) -> str:
    """The result as text: a string with lone surrogates replaced, "Done." for None, anything else as JSON."""
    if result is None:
        return "Done."
    if isinstance(result, str):
        return result.encode("utf-8", "replace").decode()
    return to_json(result, fallback=str).decode()
