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
_OTHER_NAMES: Mapping[str, str] = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}
"""Names of the same limit: one is sent where the other is refused."""
_ALWAYS_KNOWN = ("max_tokens",)  # by the servers that refuse its newer name without saying what they want
_ADDED = ("stream_options", "store", "max_completion_tokens", "reasoning_effort", "chat_template_kwargs")
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "response_format": ("response_format", "format", "text"),
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens"),
}
"""Members that only Mnemoir's own calls add: their names in the bodies of the protocols."""
_WORDS: Mapping[str, str] = {
    "response_format": "response_format|json_schema|json_object",
    "text": r"text\.format",
}
"""What a refusal names, where that is not the member itself."""

_Refused = dict[str, str | None]  # names, with those to send in their place
_Known = dict[tuple[str, str | None], _Refused]
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
        param = exc.names.param or ""
        told = f"{exc.message} {param}"
        ours = (name for name in _ours(body, request) if name == param or _names(told, name))
        named = {name: _instead(name, told) for name in ours}
        if not named:
            return None
        refused = self._known.setdefault((self._address, request.model), {})
        refused.update(named)
        return _without(body, request, refused)


def _names(told: str, member: str) -> bool:
    return re.search(rf"(?<!\w)(?:{_WORDS.get(member, member)})(?!\w)", told) is not None


def _instead(member: str, told: str) -> str | None:
    """The name by which a refused member is sent again; None where it is left out."""
    other = _OTHER_NAMES.get(member)
    return other if other in _ALWAYS_KNOWN or (other is not None and _names(told, other)) else None


def _ours(body: Mapping[str, Any], request: ModelRequest) -> Iterator[str]:
    """The members of a body that neither the client nor a config tree wrote."""
    theirs = {**(request.extra.members if request.extra is not None else {}), **(request.options or {})}
    if request.reasoning_effort is not None:
        theirs["reasoning_effort"] = request.reasoning_effort
    added = {spelling for name in request.added for spelling in _SPELLINGS.get(name, (name,))}
    yield from (name for name in _ADDED if name in body and (name not in theirs or name in added))
    yield from (name for name in added.difference(_ADDED) if name in body)


def _without(body: dict[str, Any], request: ModelRequest, refused: _Refused) -> dict[str, Any]:
    leaving = refused.keys() & set(_ours(body, request))
    kept = {name: value for name, value in body.items() if name not in leaving}
    instead = {other: body[name] for name in leaving if (other := refused[name]) is not None and other not in refused}
    return {**instead, **kept}
