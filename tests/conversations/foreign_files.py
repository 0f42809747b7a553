"""Small files of other programs: each member that holds somebody's words has one of its own, as `wQuestion`."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

AT = 1_740_000_000
CLAUDE = {
    "uuid": "c1",
    "name": "wTitle",
    "summary": "wSummary",
    "created_at": "2025-03-01T10:00:00.123456Z",
    "chat_messages": [
        {
            "uuid": "m1",
            "text": "wQuestion",
            "content": [{"type": "text", "text": "wQuestion", "citations": []}],
            "sender": "human",
            "created_at": "2025-03-01T10:00:00Z",
            "attachments": [{"file_name": "wFile.txt", "file_type": "txt", "extracted_content": "wExtract"}],
            "files": [{"file_name": "wPicture.png"}],
        },
        {
            "uuid": "m2",
            "text": "wAnswer",
            "content": [
                {"type": "thinking", "thinking": "wThought"},
                {"type": "tool_use", "id": "t1", "name": "wTool", "input": {"q": "wArgument"}},
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "wResult"}]},
                {"type": "text", "text": "wAnswer"},
            ],
            "sender": "assistant",
            "attachments": [],
            "files": [],
        },
    ],
}
DEEPSEEK = {
    "id": "d1",
    "title": "wTitle",
    "inserted_at": "2025-03-01T10:00:00.000000+08:00",
    "mapping": {
        "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
        "1": {
            "id": "1",
            "parent": "root",
            "children": ["2"],
            "message": {
                "files": [{"file_name": "wFile.pdf"}],
                "fragments": [{"type": "REQUEST", "content": "wQuestion"}],
            },
        },
        "2": {
            "id": "2",
            "parent": "1",
            "children": [],
            "message": {
                "model": "deepseek-chat",
                "fragments": [{"type": "THINK", "content": "wThought"}, {"type": "RESPONSE", "content": "wAnswer"}],
            },
        },
    },
}


def libre(id: str, above: str | None, text: str, *, user: bool, **more: Any) -> dict[str, Any]:
    said = {"messageId": id, "parentMessageId": above, "text": text, "sender": "User" if user else "GPT"}
    return {**said, "isCreatedByUser": user, "createdAt": "2025-06-01T08:00:00.000Z", "error": False, **more}


LIBRECHAT = {
    "conversationId": "l1",
    "title": "wTitle",
    "recursive": False,
    "options": {"model": "gpt-4o", "promptPrefix": "wPrompt"},
    "messages": [
        libre("q", "00000000-0000-0000-0000-000000000000", "wQuestion", user=True, files=[{"filename": "wFile.pdf"}]),
        libre("a", "q", "wAnswer", user=False, createdAt="2025-06-01T08:00:05.000Z"),
        libre(
            "b",
            "q",
            "",
            user=False,
            createdAt="2025-06-01T08:01:00.000Z",
            content=[
                {"type": "think", "think": "wThought"},
                {
                    "type": "tool_call",
                    "tool_call": {"id": "t", "name": "wTool", "args": '{"q":"wArgument"}', "output": "wResult"},
                },
                {"type": "text", "text": {"value": "wOther"}},
            ],
        ),
    ],
}
BIG_AGI = {
    "id": "b1",
    "systemPurposeId": "Generic",
    "userTitle": "wTitle",
    "created": AT * 1000,
    "messages": [
        {"id": "0", "role": "system", "fragments": [{"ft": "content", "part": {"pt": "text", "text": "wPrompt"}}]},
        {
            "id": "1",
            "role": "user",
            "fragments": [
                {"ft": "content", "part": {"pt": "text", "text": "wQuestion"}},
                {
                    "ft": "attachment",
                    "title": "wFile.txt",
                    "part": {"pt": "doc", "data": {"idt": "text", "text": "wExtract"}},
                },
            ],
            "created": AT * 1000,
        },
        {
            "id": "2",
            "role": "assistant",
            "fragments": [
                {"ft": "content", "part": {"pt": "ma", "aText": "wThought"}},
                {
                    "ft": "content",
                    "part": {
                        "pt": "tool_invocation",
                        "id": "t",
                        "invocation": {"type": "function_call", "name": "wTool", "args": '{"q":"wArgument"}'},
                    },
                },
                {
                    "ft": "content",
                    "part": {"pt": "tool_response", "id": "t", "response": {"name": "wTool", "result": "wResult"}},
                },
                {"ft": "content", "part": {"pt": "text", "text": "wAnswer"}},
            ],
            "created": AT * 1000 + 5000,
            "generator": {"mgt": "named", "name": "gpt-4o"},
        },
    ],
}
LM_STUDIO = {
    "name": "wTitle",
    "pinned": True,
    "createdAt": AT * 1000,
    "systemPrompt": "wPrompt",
    "messages": [
        {
            "versions": [{"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "wQuestion"}]}],
            "currentlySelected": 0,
        },
        {
            "versions": [
                {
                    "type": "multiStep",
                    "role": "assistant",
                    "steps": [
                        {
                            "type": "contentBlock",
                            "style": {"type": "thinking"},
                            "content": [{"type": "text", "text": "wThought"}],
                        },
                        {"type": "contentBlock", "content": [{"type": "text", "text": "wAnswer"}]},
                        {"type": "debugInfoBlock", "debugInfo": "…"},
                    ],
                },
                {"type": "singleStep", "role": "assistant", "content": [{"type": "text", "text": "wOther"}]},
            ],
            "currentlySelected": 0,
        },
    ],
}
OPENAI = {
    "title": "wTitle",
    "messages": [
        {"role": "system", "content": "wPrompt"},
        {"role": "user", "content": [{"type": "text", "text": "wQuestion"}]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "wThought",
            "tool_calls": [
                {"id": "t", "type": "function", "function": {"name": "wTool", "arguments": '{"q":"wArgument"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "t", "content": "wResult"},
        {"role": "assistant", "content": "wAnswer"},
    ],
}
JAN = [
    {
        "id": "01",
        "object": "thread.message",
        "thread_id": "01JAN",
        "role": "user",
        "content": [{"type": "text", "text": {"value": "wQuestion", "annotations": []}}],
        "created_at": AT,
    },
    {
        "id": "02",
        "object": "thread.message",
        "thread_id": "01JAN",
        "role": "assistant",
        "content": [{"type": "text", "text": {"value": "<think>wThought</think>wAnswer", "annotations": []}}],
        "created_at": AT + 4,
    },
]
SILLY = [
    {"user_name": "Eddy", "character_name": "Alice", "create_date": "2026-08-24@01h00m00s",
     "chat_metadata": {"note_prompt": "wNote"}},
    {
        "name": "Alice",
        "is_user": False,
        "send_date": "August 24, 2026 1:00am",
        "mes": "wGreeting {{user}}.",
        "swipes": ["wGreeting {{user}}.", "wSecond"],
        "swipe_id": 0,
        "extra": {},
    },
    {"name": "Eddy", "is_user": True, "send_date": "2026-8-24 @13h 1m 2s 5ms", "mes": "wQuestion", "extra": {}},
    {
        "name": "Alice",
        "is_user": False,
        "mes": "wAnswer",
        "send_date": "2026-08-24T13:02:00.000Z",
        "swipes": ["wOther", "wAnswer"],
        "swipe_id": 1,
        "swipe_info": [],
        "extra": {"model": "x", "reasoning": "wThought"},
    },
    {"name": "Narrator", "is_system": True, "is_user": False, "mes": "wRain", "extra": {"type": "narrator"}},
]  # fmt: skip
OPEN_WEBUI = {
    "id": "o1",
    "title": "wTitle",
    "folder_id": "wFolder",
    "pinned": True,
    "chat": {
        "params": {"system": "wPrompt"},
        "history": {
            "currentId": "a",
            "messages": {
                "q": {"id": "q", "parentId": None, "childrenIds": ["a"], "role": "user", "content": "wQuestion"},
                "a": {
                    "id": "a",
                    "parentId": "q",
                    "role": "assistant",
                    "model": "llama3",
                    "content": '<details type="reasoning" done="true"><summary>…</summary>wThought</details>wAnswer',
                    "annotation": {"rating": 1, "comment": "wComment"},
                },
            },
        },
    },
}
CHATGPT = {
    "conversation_id": "g1",
    "title": "wTitle",
    "current_node": "a",
    "mapping": {
        "r": {"id": "r", "message": None, "parent": None, "children": ["q"]},
        "q": {
            "id": "q",
            "parent": "r",
            "children": ["a"],
            "message": {
                "author": {"role": "user"},
                "content": {"content_type": "text", "parts": ["wQuestion"]},
                "metadata": {"attachments": [{"id": "file-1", "name": "wFile.pdf"}]},
            },
        },
        "t": {
            "id": "t",
            "parent": "q",
            "message": {
                "author": {"role": "assistant"},
                "content": {"content_type": "thoughts", "thoughts": [{"content": "wThought"}]},
            },
        },
        "a": {
            "id": "a",
            "parent": "t",
            "message": {
                "author": {"role": "assistant"},
                "content": {"content_type": "text", "parts": ["wAnswer"]},
                "recipient": "all",
                "metadata": {"model_slug": "gpt-4o"},
            },
        },
    },
}


def lines(*values: Any) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


FILES: dict[str, Any] = {
    "chatgpt": [CHATGPT],
    "claude": [CLAUDE],
    "deepseek": [DEEPSEEK],
    "open-webui": [OPEN_WEBUI],
    "librechat": LIBRECHAT,
    "big-agi": BIG_AGI,
    "lm-studio": LM_STUDIO,
    "openai": [OPENAI],
    "jan": JAN,
    "sillytavern": SILLY,
}
IN_LINES = ("jan", "sillytavern")


def written(program: str, value: Any) -> bytes:
    return lines(*value) if program in IN_LINES else json.dumps(value).encode()


def words_of(value: Any) -> list[str]:
    told = json.dumps(value, default=str, ensure_ascii=False).replace("\\n", " ")
    return re.findall(r"\bw[A-Z]\w+", told)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value within a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*way, name)
        yield from places(one, (*way, name))


def broken(value: Any, chance: random.Random) -> Any:
    """The value with one to three of its places as programs and people break them."""
    value = json.loads(json.dumps(value))
    for _ in range(chance.randint(1, 3)):
        *way, last = chance.choice(list(places(value)) or [(0,)])
        if not value:
            break
        holder = value
        for step in way:
            holder = holder[step]
        match chance.randint(0, 5):
            case 0:
                del holder[last]
            case 1:
                holder[last] = None
            case 2:
                holder[last] = [holder[last]]
            case 3:
                holder[last] = {"value": holder[last]}
            case 4:
                holder[last] = chance.choice([7, True, "", "odd", [], {}])
            case 5:  # a circle, or a parent that is not there
                holder[last] = chance.choice(["q", "a", "m1", "m2", "1", "2", "gone"])
    return value
