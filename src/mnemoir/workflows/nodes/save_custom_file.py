"""SaveCustomFile: writes a text to a file, appends it, or changes the file's text."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal
from weakref import WeakValueDictionary

from pydantic import BeforeValidator, Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.file_edits import without_lines
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step

Mode = Literal["overwrite", "append", "replace", "remove", "trim"]
_NEED_CONTENT = ("overwrite", "append", "replace")
_NEED_FIND = ("replace", "remove")

# locks by path as given by nodes: one change of a file at a time, so that none is lost between the reading and the
# writing of another; a lock exists only while it is used
_changing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


def _lower(raw: Any) -> Any:  # any JSON
    return raw.strip().lower() if isinstance(raw, str) else raw


class Properties(NodeProperties):
    """Properties of a SaveCustomFile node."""

    filepath: Line = Field("", description="The file, with variables; its directories are made.")
    content: Line | None = Field(None, description="The text, with variables.")
    mode: Annotated[Mode, BeforeValidator(_lower)] = Field(
        "overwrite",
        description="Write the whole file, append to it, replace a text in it, remove the lines that hold a text, "
        "or trim blank lines.",
    )
    find: Line = Field("", description="The text to replace, or that lines to remove hold; with variables.")


class SaveCustomFile(ValueNode[Properties]):
    """Writes below the allowed directories. Errors of the operating system become the output; the run continues."""

    kind = "SaveCustomFile"
    properties_type = Properties
    filled = ("filepath", "content", "find")

    async def value(self, step: Step) -> str:
        """The result, in a sentence. Raises SettingsError for a path that is not allowed."""
        path = step.fill(self.properties.filepath).strip()
        missing = self._missing(path)
        if missing:
            return missing
        if step.run.turn.caller.is_temporary:
            return "File unchanged: the chat is temporary"
        content, find = step.fill(self.properties.content or ""), step.fill(self.properties.find)
        try:
            async with _changing.setdefault(path, asyncio.Lock()):
                return await self._modes[self.properties.mode](self, path, content, find)
        except OSError as exc:
            step.note(f"{path} was not saved: {exc}")
            return f"Error saving file: {exc}"

    def _missing(self, path: str) -> str:
        said = self.properties
        if not path:
            return "No filepath specified"
        if said.content is None and said.mode in _NEED_CONTENT:
            return "No content specified"
        if not said.find and said.mode in _NEED_FIND:
            return "File unchanged: no text to find was specified"
        return ""

    async def _overwrite(self, path: str, content: str, find: str) -> str:
        return f"File successfully saved to {await self.services.files.write(path, content)}"

    async def _append(self, path: str, content: str, find: str) -> str:
        return f"File successfully saved to {await self.services.files.append(path, content)}"

    async def _replace(self, path: str, content: str, find: str) -> str:
        text = await self.services.files.read(path)
        count = text.count(find) if text and find else 0
        if not text or not count:
            return _unchanged_notice(path, text, "the text to find is not in it")
        written = await self.services.files.write(path, text.replace(find, content))
        return f"File successfully updated: replaced {count} occurrence(s) in {written}"

    async def _remove(self, path: str, content: str, find: str) -> str:
        text = await self.services.files.read(path)
        rest, count = without_lines(text or "", lambda line: bool(find) and find in line)
        if not count:
            return _unchanged_notice(path, text, "no line holds the text to find")
        written = await self.services.files.write(path, rest)
        return f"File successfully updated: removed {count} line(s) from {written}"

    async def _trim(self, path: str, content: str, find: str) -> str:
        text = await self.services.files.read(path)
        rest, count = without_lines(text or "", lambda line: not line.strip())
        if not count:
            return _unchanged_notice(path, text, "it has no blank lines")
        written = await self.services.files.write(path, rest)
        return f"File successfully updated: removed {count} blank line(s) from {written}"

    _modes: ClassVar[Mapping[Mode, Callable[["SaveCustomFile", str, str, str], Awaitable[str]]]] = {
        "overwrite": _overwrite,
        "append": _append,
        "replace": _replace,
        "remove": _remove,
        "trim": _trim,
    }


def _unchanged_notice(path: str, text: str | None, reason: str) -> str:
    return f"File unchanged: {path}: {'there is no such file' if text is None else reason}"
