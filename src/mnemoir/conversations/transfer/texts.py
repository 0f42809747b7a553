"""Writers of a thread as text: Markdown for people, and ChatML, a training format of models.

In ChatML marks inside a text are escaped: in every `<|`, and in every one escaped before, one more backslash is put
before the bar.

In every Markdown reader, no HTML is interpreted, no picture is loaded, and links lead only to the web or to mail
addresses. Characters that would begin such elements become entities, which are never markup. Code blocks get a fence
that is longer than any inside, so that all readers agree where they end. Headings in messages move two levels down,
because the first two levels belong to the conversation.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime

from mnemoir.conversations.transfer.copies import MessageCopy, SessionCopy
from mnemoir.core import first_use
from mnemoir.core.conversations import MediaPart, Message, calls_of

# terminal commands: CSI with its parameters, OSC up to its end, two-character sequences
_COMMANDS = first_use.pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_CONTROLS = first_use.pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MARK = first_use.pattern(r"<(\\*)\|")
_NAMES = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
_FENCE = first_use.pattern(r"(?P<indent>[ \t]*)(?:(?P<ticks>`{3,})(?P<info>[^`]*)|(?P<tildes>~{3,})(?P<other>.*))")
_LANGUAGE = first_use.pattern(r"[A-Za-z0-9_+#.-]{1,40}")
_HEADING = first_use.pattern(r"\A( {0,3})(#{1,6})(?=[ \t]|$)")
_UNDERLINE = first_use.pattern(r" {0,3}(?:=+|-+)[ \t]*")
_TICKS = first_use.pattern(r"`+")
_PICTURE = first_use.pattern(r"!(?=\[)")
_LINK = first_use.pattern(r"\](?=\()(?!\((?:https?://|mailto:))")
_DEFINITION = first_use.pattern(r"\](?=:)")
_MARKUP = first_use.pattern(r"[&<>\\`*_{}\[\]()#+!|~$^=-]")


def plain_text(text: str) -> str:
    """The text without terminal commands and control characters; lines end with a line feed."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _COMMANDS.sub("", lines))


def write_chatml(session: SessionCopy) -> Iterator[bytes]:
    """The system prompt and the thread as ChatML."""
    if session.system_prompt:
        yield _turn("system", session.system_prompt)
    for copy in session.messages:
        yield _turn(copy.message.role, _text_of_message(copy.message))


def _turn(role: str, text: str) -> bytes:
    escaped = _MARK.sub(r"<\1\\|", plain_text(text))
    return f"<|im_start|>{role}\n{escaped}<|im_end|>\n".encode("utf-8", "replace")


def _text_of_message(message: Message) -> str:
    """The names of files, the text, and each tool call as a line of JSON."""
    parts = message.content if isinstance(message.content, list) else []
    files = [f"[{part.type}: {part.filename or 'without a name'}]" for part in parts if isinstance(part, MediaPart)]
    calls = [
        json.dumps({"tool_call": {"name": call.name, "arguments": dict(call.arguments)}}, ensure_ascii=False)
        for call in calls_of(message)
    ]
    return "\n".join(line for line in [*files, message.text, *calls] if line)


def write_markdown(session: SessionCopy) -> Iterator[bytes]:
    """The system prompt and the thread as Markdown."""
    yield _utf8_bytes(_beginning(session))
    for copy in session.messages:
        yield _utf8_bytes(_message(copy))


def _utf8_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _beginning(session: SessionCopy) -> str:
    lines = [
        f"# {_in_line(session.metadata.title or '') or 'Conversation'}",
        "",
        f"- Id: {_in_line(session.id or '')}",
    ]
    if session.created_at is not None:
        lines.append(f"- Begun: {_time(session.created_at)}")
    if session.updated_at is not None:
        lines.append(f"- Last used: {_time(session.updated_at)}")
    if session.metadata.tags:
        lines.append(f"- Tags: {', '.join(map(_in_line, session.metadata.tags))}")
    text = "\n".join(lines) + "\n"
    return f"{text}\n## System\n\n{_body(session.system_prompt)}\n" if session.system_prompt else text


def _message(copy: MessageCopy) -> str:
    message = copy.message
    heading = _NAMES[message.role]
    if message.name:
        heading += f" ({_in_line(message.name)})"
    if copy.created_at is not None:
        heading += f", {_time(copy.created_at)}"
    return "\n".join([f"\n## {heading}\n", *_blocks(message)]) + "\n"


def _blocks(message: Message) -> Iterator[str]:
    parts = message.content if isinstance(message.content, list) else []
    for part in parts:
        if isinstance(part, MediaPart):
            yield f"*{part.type}: {_in_line(part.filename) or 'without a name'}*\n"
    if message.role == "tool":
        yield _code(plain_text(message.text), "")
    elif message.text:
        yield _body(message.text)
    for call in calls_of(message):
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, indent=2)
        yield f"\n*calls {_in_line(call.name)}*\n\n{_code(plain_text(arguments), 'json')}"


def _time(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"


def _in_line(text: str) -> str:
    """The text on one line, with all markup escaped."""
    in_one_line = " ".join(plain_text(text).split())
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", in_one_line)


def _body(text: str) -> str:
    """A message's text, with its paragraphs, lists, emphasis and code."""
    written: list[str] = []
    lines = iter(plain_text(text).split("\n"))
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            written += ["", _code_block(fence, lines), ""]
        else:
            if _UNDERLINE.fullmatch(line) and written and written[-1].strip():
                written.append("")  # a line under a text would make a heading of it
            written.append(_harmless(line))
    return "\n".join(written)


def _code_block(fence: re.Match[str], lines: Iterator[str]) -> str:
    """The code block after an opening fence, up to the closing fence or the end."""
    mark = fence["ticks"] or fence["tildes"]
    indent = len(fence["indent"])
    code: list[str] = []
    for line in lines:
        closing = line.strip()
        if len(closing) >= len(mark) and not closing.strip(mark[0]):
            break
        code.append(line[indent:] if not line[:indent].strip() else line)
    info = (fence["info"] or fence["other"] or "").split()
    language = info[0] if info and _LANGUAGE.fullmatch(info[0]) else ""
    return _code("\n".join(code), language)


def _code(text: str, language: str) -> str:
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _harmless(line: str) -> str:
    lowered = _HEADING.sub(lambda found: found[1] + "#" * min(6, len(found[2]) + 2), line)
    without_html = lowered.replace("<", "&lt;")
    return _DEFINITION.sub("&#93;", _LINK.sub("&#93;", _PICTURE.sub("&#33;", without_html)))
