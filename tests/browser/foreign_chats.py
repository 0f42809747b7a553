"""Small files of chats as ChatGPT and Open WebUI export them: two conversations with five messages each."""

import json
import zipfile
from io import BytesIO
from typing import Any

_AT = 1_772_625_600  # 2026-03-04T12:00:00Z
_LISBON = (("user", "Where to go near Lisbon?"), ("assistant", "Take the tram to Sintra."), ("user", "How long?"))
_BREAD = (("user", "A bread without yeast?"), ("assistant", "Soda bread."))
_TALKS = {"Weekend in Lisbon": _LISBON, "Bread": _BREAD}


def _of_chatgpt(title: str, said: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
    for place, (role, text) in enumerate(said):
        message = {
            "id": str(place),
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": _AT + place,
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {},
            "recipient": "all",
        }
        parent = str(place - 1) if place else "root"
        nodes[str(place)] = {"id": str(place), "message": message, "parent": parent, "children": [str(place + 1)]}
    nodes[str(len(said) - 1)]["children"] = []
    about = {"title": title, "create_time": _AT, "update_time": _AT + 600, "conversation_id": title, "id": title}
    return {**about, "mapping": nodes, "current_node": str(len(said) - 1)}


def _of_open_webui(title: str, said: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    messages = {
        str(place): {
            "id": str(place),
            "parentId": str(place - 1) if place else None,
            "childrenIds": [str(place + 1)] if place + 1 < len(said) else [],
            "role": role,
            "content": text,
            "timestamp": _AT + place,
        }
        for place, (role, text) in enumerate(said)
    }
    history = {"messages": messages, "currentId": str(len(said) - 1)}
    chat = {"id": "", "title": title, "models": ["llama3"], "params": {}, "history": history}
    about = {"id": title, "user_id": "someone", "title": title, "created_at": _AT, "updated_at": _AT + 600}
    return {**about, "chat": chat, "meta": {"tags": []}, "archived": False}


def _zipped(content: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("conversations.json", content)
        archive.writestr("user.json", b"{}")
    return file.getvalue()


CHATGPT = json.dumps([_of_chatgpt(*talk) for talk in _TALKS.items()]).encode()
CHATGPT_ZIP = _zipped(CHATGPT)
OPEN_WEBUI = json.dumps([_of_open_webui(*talk) for talk in _TALKS.items()]).encode()
