"""Members that Mnemoir adds to requests by itself, and the models whose servers refuse them.

A server that answers 400 or 422 and names such a member is asked once more without it. That is remembered by address
and model for as long as the shared session lives, which is until the restart. A member that the client wrote itself
stays, and its refusal is told to the client.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.messages import ModelRequest

_STATUSES = (400, 422)
_INSTEAD: Mapping[str, str] = {"max_completion_tokens": "max_tokens"}
"""Older names, by which a member is sent where the newer name is refused."""
_ADDED = ("stream_options", "store", "max_completion_tokens", "reasoning_effort", "chat_template_kwargs")

_Known = dict[tuple[str, str | None], set[str]]
_KNOWN: WeakKeyDictionary[aiohttp.ClientSession, _Known] = WeakKeyDictionary()


class RefusedMembers:
    """What is known of one address; all models of it over one session share that."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._known: _Known = _KNOWN.setdefault(session, {})
        self._address = address

    def trim(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        """The body without the members that this model's server has refused before."""
        refused = self._known.get((self._address, request.model))
        return _without(body, request, refused) if refused else body

    def body_after(self, exc: ProviderRefused, body: dict[str, Any], request: ModelRequest) -> dict[str, Any] | None:
        """The body for one more try, without the members that `exc` names; None where it names none of ours."""
        if exc.status not in _STATUSES:
            return None
        told = f"{exc.message} {exc.names.param or ''}"
        named = {name for name in _ours(body, request) if re.search(rf"(?<!\w){name}(?!\w)", told)}
        if not named:
            return None
        self._known.setdefault((self._address, request.model), set()).update(named)
        return _without(body, request, named)


def _ours(body: Mapping[str, Any], request: ModelRequest) -> Iterator[str]:
    """The members of a body that neither the client nor a config tree wrote."""
    theirs = {**(request.extra.members if request.extra is not None else {}), **(request.options or {})}
    if request.reasoning_effort is not None:
        theirs["reasoning_effort"] = request.reasoning_effort
    return (name for name in _ADDED if name in body and (name not in theirs or name in request.added))


def _without(body: dict[str, Any], request: ModelRequest, names: set[str]) -> dict[str, Any]:
    leaving = names.intersection(_ours(body, request))
    kept = {name: value for name, value in body.items() if name not in leaving}
    return {**{_INSTEAD[name]: body[name] for name in leaving if name in _INSTEAD}, **kept}
