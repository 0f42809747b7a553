"""Which conversation a chat belongs to: its session id, from the fields and headers that the settings name.

A temporary chat belongs to none.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.types import Scope

from mnemoir.core.scope import entity_name
from mnemoir.server.options import ServerOptions
from mnemoir.server.visit import header
from mnemoir.wire.session import asks_to_store, session_name

_LOCAL_CHAT = "local:"  # how Open WebUI names a temporary chat, by the connection of its page


def session_id(scope: Scope, body: Mapping[str, Any], options: ServerOptions) -> str | None:
    """The first id that is not blank, of the fields and then of the headers; None when there is none.

    It is data and may look like a path. Raises InvalidRequest, naming the field or header, for what can be no name.
    """
    named = session_name(body, options.session_fields)
    if named is None:
        sent = ((name, value) for name in options.session_headers for value in _values(scope, name))
        named = next(((name, value) for name, value in sent if value.strip()), None)
    return None if named is None else entity_name(named[1], field=named[0])


def is_temporary(scope: Scope, body: Mapping[str, Any]) -> bool:
    """Whether nothing of the chat may outlive its answer: the client says so, or Open WebUI calls it temporary."""
    chat_id = header(scope, b"x-openwebui-chat-id") or ""
    return chat_id.startswith(_LOCAL_CHAT) or asks_to_store(body) is False


def _values(scope: Scope, name: str) -> Iterator[str]:
    """All values of a header. As UTF-8 where they are that, so that an id is the same in a header as in a body."""
    wanted = name.lower().encode("latin-1")
    for key, value in scope["headers"]:
        if key == wanted:
            try:
                yield value.decode()
            except UnicodeDecodeError:
                yield value.decode("latin-1")
