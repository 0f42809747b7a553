"""What one message of another program says, as the messages that models take.

Other programs keep text, thinking, calls of tools, their results and files of a whole turn in one message. Here calls
stand in the assistant's message, each result in one of its own, and what is said behind it in a further one. Thinking
is nobody's words to anybody; it is left out and counted.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from mnemoir.conversations.transfer.bounded_json import read_value
from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.transfer.programs.left_out import LeftOut
from mnemoir.conversations.transfer.programs.loose import Loose, words_in
from mnemoir.core.conversations import Content, MediaPart, Message, Part, Role, TextPart, ToolCall

ROLES: Mapping[str, Role] = {
    **{role: role for role in get_args(Role)},
    **dict.fromkeys(("human", "request"), "user"),
    **dict.fromkeys(("ai", "model", "bot", "gpt", "character", "response"), "assistant"),
    **dict.fromkeys(("developer",), "system"),
    **dict.fromkeys(("function", "ipython"), "tool"),
}
_WEB = ("http://", "https://")
_DATA = re.compile(r"data:(image/[\w.+-]{1,40})?(?:;[\w=.+-]{1,40})*;base64,", re.ASCII)
_THOUGHT = re.compile(r"\s*<(think|thinking)>(.*?)</\1>\s*", re.DOTALL)
_LONGEST_NAME = 200


def role_of(told: object) -> Role | None:
    """The role with that name, in the words of any program; None for none."""
    return ROLES.get(told.lower()) if isinstance(told, str) else None


class Said:
    """Gathers what one message says, in its order. `left_out` counts what has no place in a conversation."""

    def __init__(self, role: Role, left_out: LeftOut, name: str | None = None) -> None:
        self._role = role
        self._left_out = left_out
        self._name = name
        self._done: list[Message] = []
        self._texts: list[str] = []
        self._files: list[Part] = []
        self._calls: list[ToolCall] = []

    def text(self, words: str) -> None:
        if self._role == "assistant" and not self._texts and (found := _THOUGHT.match(words)) is not None:
            self.see(found[0])
            self.think(found[2])
            words = words[found.end() :]
        if words:
            self._begin()
            self._texts.append(words)

    def think(self, words: str) -> None:
        self._left_out.note("thinking", words)

    def see(self, words: str) -> None:
        """Note words that are read in another form."""
        self._left_out.see(words)

    def leave_out(self, kind: str, value: object) -> None:
        self._left_out.note(kind, value)

    def file(self, name: str | None, content: str = "") -> None:
        """A file: its text as a document, where there is one, else only its name."""
        if not content:
            self.text(f"[file: {(name or 'without a name')[:_LONGEST_NAME]}]")
            return
        self._begin()
        encoded = base64.b64encode(content.encode("utf-8", "replace")).decode("ascii")
        document = MediaPart(type="document", mime_type="text/plain", base64_data=encoded, filename=name or "")
        self._files.append(document)

    def picture(self, url: str, name: str = "") -> None:
        """A picture of the web or with its bytes; of any other one, which nobody can see, the address."""
        if url.startswith(_WEB) or _is_picture(url):
            self._begin()
            self._files.append(MediaPart(type="image", url=url, filename=name))
        else:
            shown = "" if url.startswith("data:") else url
            self._left_out.counts["pictures"] += not shown
            self.text(f"[image: {(shown or name or 'without a name')[:_LONGEST_NAME]}]")

    def call(self, id: str | None, name: str | None, arguments: object) -> str:
        """A call of a tool; its id, which is made where there is none."""
        if isinstance(arguments, str):
            self.see(arguments)
        call = ToolCall(id or f"call_{len(self._done)}_{len(self._calls)}", name or "tool", arguments_of(arguments))
        if self._role != "assistant":
            self.leave_out("calls of tools", [name, arguments])
        else:
            self._calls.append(call)
        return call.id

    def result(self, call_id: str | None, words: str, name: str | None = None) -> None:
        self._end()
        self._done.append(Message("tool", words, tool_call_id=call_id, name=name))

    def messages(self) -> list[Message]:
        """The messages; [] where nothing was said."""
        self._end()
        return self._done

    def _begin(self) -> None:
        if self._calls:
            self._end()

    def _end(self) -> None:
        content = self._content()
        if self._calls or content:
            self._done.append(Message(self._role, content or None, self._calls or None, name=self._name))
        self._texts, self._files, self._calls = [], [], []

    def _content(self) -> Content:
        text = "\n".join(self._texts)
        if not self._files:
            return text
        if not text and all(part.type == "document" for part in self._files):  # models are shown pictures alone
            text = "\n".join(f"[file: {part.filename or 'without a name'}]" for part in _media(self._files))
        return [*self._files, TextPart(text)] if text else list(self._files)


def _media(parts: Sequence[Part]) -> list[MediaPart]:
    return [part for part in parts if isinstance(part, MediaPart)]


def _is_picture(url: str) -> bool:
    found = _DATA.match(url)
    if found is None:
        return False
    try:
        return bool(base64.b64decode(url[found.end() :], validate=True))
    except (binascii.Error, ValueError):
        return False


def arguments_of(told: object) -> Mapping[str, Any]:
    """The arguments of a call: its object or the object in its text, else the words as the member `input`."""
    value = told
    for _ in range(3):  # some programs write the text of a text
        if not isinstance(value, str):
            break
        try:
            value = read_value(value.encode("utf-8", "replace"), "A call")
        except InvalidImport:
            break
    if isinstance(value, dict):
        return value
    return {} if told in (None, "") else {"input": value if isinstance(value, str) else words_in(value)}


def text_of_json(told: object) -> str:
    """The text of a result: of a text that holds JSON the words, where that is a text again."""
    if not isinstance(told, str):
        return words_in(told) if not isinstance(told, dict | list) else json.dumps(told, ensure_ascii=False)
    try:
        value = read_value(told.encode("utf-8", "replace"), "A result")
    except InvalidImport:
        return told
    return value if isinstance(value, str) else told


def add_content(said: Said, content: object) -> None:
    """Add the content of a message: a text, or parts in the forms of OpenAI, Anthropic and their like."""
    if isinstance(content, str):
        said.text(content)
    elif isinstance(content, list):
        for each in content:
            if isinstance(each, str | list):
                add_content(said, each)
            else:
                _add_part(said, Loose(each), each)
    elif content is not None:
        _add_part(said, Loose(content), content)


def _add_part(said: Said, part: Loose, value: object) -> None:
    kind = part.text("type").lower()
    add = _PARTS.get(kind)
    if add is not None:
        add(said, part)
    elif words := part.words("text", "content", "value", "parts"):
        said.text(words)
    elif kind:
        said.leave_out(kind, value)
    else:
        said.text(words_in(value))


def _add_text(said: Said, part: Loose) -> None:
    text = part.raw("text")
    said.text(Loose(text).words("value") if isinstance(text, dict) and "value" in text else part.words("text"))


def _add_picture(said: Said, part: Loose) -> None:
    source = part.object("source")
    if data := source.text("data"):
        said.picture(f"data:{source.text('media_type') or 'image/png'};base64,{data}")
        return
    url = part.object("image_url").text("url") or part.text("image_url", "url") or source.text("url")
    said.picture(url or words_in(part.raw("image_url")) or part.name("file_id", "id") or "", part.text("filename"))


def _add_call(said: Said, part: Loose) -> None:
    inner = part.object("tool_call") or part.object("function") or part  # LibreChat's, OpenAI's
    id = said.call(part.name("id", "call_id") or inner.name("id"), _name(inner), _arguments(inner))
    if "output" in inner:
        said.result(id, text_of_json(inner.raw("output")), inner.name("name"))


def _name(call: Loose) -> str | None:
    return call.name("name") or call.words("name") or None


def _arguments(call: Loose) -> object:
    return next((call.raw(name) for name in ("input", "arguments", "args", "parameters") if name in call), None)


def _add_result(said: Said, part: Loose) -> None:
    told = next((part.raw(name) for name in ("content", "output", "result") if name in part), None)
    words = text_of_content(told)
    said.result(part.name("tool_use_id", "call_id", "tool_call_id", "toolCallId"), words, part.name("name"))


def _add_file(said: Said, part: Loose) -> None:
    if words := part.words("transcript") or part.object("input_audio").words("transcript"):
        said.text(words)
        return
    inner = part.object("file") or part
    said.file(inner.name("filename", "file_name", "name", "title", "file_id", "id", "fileIdentifier"))


def _add_thinking(said: Said, part: Loose) -> None:
    said.think(part.words("thinking", "think", "reasoning", "text", "content", "summary"))


_Add = Callable[[Said, Loose], None]
_PARTS: Mapping[str, _Add] = {
    **dict.fromkeys(("text", "input_text", "output_text"), _add_text),
    **dict.fromkeys(("image_url", "input_image", "image", "image_file"), _add_picture),
    **dict.fromkeys(("tool_use", "tool_call", "function_call", "function", "server_tool_use"), _add_call),
    **dict.fromkeys(("tool_result", "function_call_output", "web_search_tool_result"), _add_result),
    **dict.fromkeys(("file", "document", "input_file", "audio", "input_audio", "video"), _add_file),
    **dict.fromkeys(("thinking", "reasoning", "think", "redacted_thinking"), _add_thinking),
}


def text_of_content(content: object) -> str:
    """The text of a content, pictures and files by their names."""
    inner = Said("user", LeftOut())
    add_content(inner, content)
    return "\n".join(filter(None, (message.text for message in inner.messages())))


def calls_beside(said: Said, calls: Sequence[Loose]) -> None:
    """Add the calls that stand beside the content of a message, in the form of OpenAI."""
    for each in calls:
        function = each.object("function") or each
        said.call(each.name("id", "call_id"), _name(function), _arguments(function))


def add_missing_words(said: Said, words: str, content: str) -> None:
    """Add a text that stands beside the content, where it has words that the content has not."""
    if set(words.split()) - set(content.split()):
        said.text(words)
