"""Reader of Open WebUI's exports: a tree of messages by id, or in older versions without branches a list.

It writes calls of tools and thinking into the text, as `<details>` elements, or into a list `output` beside it. It
begins a line with each, and gives it a summary or a mark `done`; in code and within a line they are somebody's words.
"""

import html
import re
from collections.abc import Iterator, Mapping

from mnemoir.conversations.transfer.programs.chats import INCOMPLETE, ForeignChat, told_flags
from mnemoir.conversations.transfer.programs.loose import Loose, words_in
from mnemoir.conversations.transfer.programs.said import Said, add_content, role_of, text_of_json
from mnemoir.core.conversations import Message

_CODE = (
    r"^[ \t]*(?P<fence>```+|~~~+)[^`\n]*\n(?:.*?\n)??[ \t]*(?P=fence)[`~]*[ \t\r]*$"  # a block of lines
    r"|(?<!`)(?P<ticks>```+)(?!`).*?(?<!`)(?P=ticks)(?!`)"  # a block that begins within a line
    r"|^[ \t]*(?:```|~~~)[^`\n]*\n.*"  # one without an end
)
_ELEMENT = (
    r"(?:^[ ]{0,3}|(?<=</details>))<details\s+type=\"(?P<kind>reasoning|tool_calls|code_interpreter)\""
    r"(?=[^<>]*(?:\sdone=|>\s*<summary>))(?P<attributes>[^<>]*)>(?P<inner>.*?)</details>\s*"
)
_CODE_OR_ELEMENT = re.compile(f"{_ELEMENT}|{_CODE}", re.DOTALL | re.MULTILINE)
_END = "</details>"
_SUMMARY = re.compile(r"<summary>.*?</summary>\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"]*)\"")


def read_open_webui(item: Loose) -> ForeignChat:
    inner = item.object("chat") or item
    chat = ForeignChat(
        id=item.name("id") or inner.name("id"),
        title=item.title("title") or inner.title("title"),
        system_prompt=inner.object("params").text("system") or inner.text("system"),
        tags=_tags(item, inner),
        created_at=item.instant("created_at") or inner.instant("timestamp"),
        updated_at=item.instant("updated_at"),
    )
    chat.custom |= told_flags(item, "pinned", "archived")
    for model in inner.values("models"):
        chat.model(model if isinstance(model, str) else "")
    if folder := item.name("folder_id") or item.words("folder_id"):
        chat.custom["folder"] = folder
    history = inner.object("history")
    tree = dict(history.named_objects("messages"))
    for name, one in tree.items():
        children = [each for each in one.values("childrenIds") if isinstance(each, str)]
        _add(chat, name, one, one.name("parentId"), children)
    if tree:
        chat.head = history.name("currentId")
        return chat
    before: str | None = None
    for number, one in enumerate(chat.objects(inner, "messages")):
        _add(chat, f"{number}", one, before, ())
        before = f"{number}"
    return chat


def _add(chat: ForeignChat, name: str, one: Loose, parent: str | None, children: list[str] | tuple[()]) -> None:
    has_error = bool(one.raw("error"))
    is_broken = has_error or one.raw("done") is False
    chat.add(
        name,
        parent,
        _messages_of(chat, one, has_error=has_error),
        created_at=one.instant("timestamp"),
        finish_reason=INCOMPLETE if is_broken else None,
        children=children,
    )


def _messages_of(chat: ForeignChat, one: Loose, *, has_error: bool) -> list[Message]:
    role = role_of(one.raw("role"))
    if role is None:
        chat.leave_out(one.words("content", "output"))
        return []
    said = Said(role, chat.left_out)
    content = one.raw("content")
    said.leave_out("errors", one.raw("error"))
    if role == "assistant":
        chat.model(one.text("model"))
        _note_rating(chat, one.object("annotation"))
        has_text = _add_output(said, one)
        if isinstance(content, str):
            content = _without_details(said, content, has_output=bool(one.values("output")))
        content = None if has_text else content
        said.leave_out("sources", one.words("sources", "citations"))
    add_content(said, content)
    for file in one.objects("files"):
        _add_file(said, file)
    messages = said.messages()
    if not messages and has_error and role == "assistant":
        return [Message("assistant", "")]
    return messages


def _add_output(said: Said, one: Loose) -> bool:
    """Add the list `output`; whether it has the text of the answer."""
    has_text = False
    for item in one.objects("output"):
        match item.text("type"):
            case "message":
                has_text = has_text or bool(item.words("content"))
                add_content(said, item.raw("content"))
            case "reasoning":
                said.think(words_in([item.raw("content"), item.raw("summary")]))
            case "function_call":
                said.call(item.name("call_id", "id"), item.name("name"), item.raw("arguments"))
            case "function_call_output":
                add_content(said, [{**_members(item), "type": "tool_result"}])
            case kind:
                said.leave_out(kind, item.words("content", "code"))
    return has_text


def _members(item: Loose) -> Mapping[str, object]:
    return {"call_id": item.raw("call_id"), "output": item.raw("output")}


def _without_details(said: Said, text: str, *, has_output: bool) -> str:
    """Add the calls and the thinking that stand in the text, each behind what is said before it; the rest of it.

    With a list `output`, which has them too, they are only cut out.
    """
    at, kept = 0, []
    for found in _elements(text):
        said.see(found[0])
        kept.append(text[at : found.start()])
        at = found.end()
        if not has_output:
            said.text(kept[-1].strip())
            _add_details(said, found["kind"], found["attributes"], found["inner"])
    if not at:
        return text
    return "".join([*kept, text[at:]]).strip() if has_output else text[at:].lstrip()


def _elements(text: str) -> Iterator[re.Match[str]]:
    """The elements that the program wrote into a text, none of code."""
    end = max(0, text.rfind(_END))
    closed = text[:end] + text[end:].replace("<details", "(details")  # no search goes on to an end that is not there
    return (found for found in _CODE_OR_ELEMENT.finditer(closed) if found["kind"])


def _add_details(said: Said, kind: str, attributes: str, inner: str) -> None:
    told = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
    body = html.unescape(_SUMMARY.sub("", inner).strip())
    if kind == "reasoning":
        said.think(body)
    elif kind == "code_interpreter":
        id = said.call(told.get("id"), "code_interpreter", {"code": body})
        if output := told.get("output"):
            said.result(id, text_of_json(output), "code_interpreter")
    else:
        id = said.call(told.get("id"), told.get("name"), told.get("arguments"))
        if "result" in told:
            said.result(id, text_of_json(told["result"]), told.get("name"))


def _add_file(said: Said, file: Loose) -> None:
    if file.raw("type") == "image":
        said.picture(file.text("url"), file.text("name"))
        return
    data = file.object("file").object("data")
    said.file(file.name("name", "id") or file.object("file").name("filename"), data.text("content"))


def _note_rating(chat: ForeignChat, annotation: Loose) -> None:
    if told := annotation.words("rating", "reason", "comment", "tags"):
        chat.custom.setdefault("ratings", []).append(told)


def _tags(item: Loose, inner: Loose) -> list[str]:
    tags = [*item.object("meta").values("tags"), *inner.values("tags")]
    names = [tag.get("name") if isinstance(tag, dict) else tag for tag in tags]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))
