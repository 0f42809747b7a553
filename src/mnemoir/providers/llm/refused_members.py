"""Members that Mnemoir adds to requests by itself, and the models whose servers refuse them.

A server that answers 400 or 422 and says that it does not know such a member is asked once more without it, and the
trace tells it. That is remembered by address and model for as long as the shared session lives, until the restart.
A member that the client wrote itself stays, and its refusal is told to the client. So is every other refusal: of a
value, or of a request whose texts, tools and names only look like a member.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.events import Note
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

_BY_VALUE = frozenset({"reasoning_effort", "chat_template_kwargs", "think", "response_format", "format", "text"})
"""Members whose values Mnemoir chooses too: a refused value is theirs. Of all others it is the client's."""
_OF_VALUES = frozenset({"unsupported_value", "invalid_value"})
_OF_MEMBERS = re.compile(
    "(?:unknown|unsupported|unrecogni[sz]ed|unexpected|extra|invalid)_?(?:parameter|param|argument|field|member|name"
    "|property|key|forbidden|request_argument)s?"
)
"""Codes that say of `param` that it is not known."""
_NOUNS = (
    r"(?:parameter|param|argument|arg|field|member|key|property|option|name|input|attribute|setting|kwarg)(?:s|\(s\))?"
    "|properties"
)
_UNKNOWN = (
    r"unknown|unsupported|unrecogni[sz]ed|unexpected|forbidden|extra_forbidden|extra (?:inputs|fields?)|no such"
    r"|not (?:yet |currently )?(?:a )?(?:supported|permitted|allowed|recogni[sz]ed|known|accepted|expected|valid)"
    r"|(?:does not|doesn't|do not|don't|cannot) (?:support|accept|allow|recogni[sz]e|know|take)"
    rf"|invalid(?= (?:{_NOUNS})\b)"
)
_BETWEEN = (
    rf"(?:{_NOUNS}|is|are|was|were|be|got|an?|the|this|that|in|on|of|by|request|keyword|json|body|object|supplied"
    r"|model|server|msg|message)\b"
)
_QUOTES = "\"'`\u2018\u2019\u201c\u201d"
_LISTED = rf"(?:[{_QUOTES}]?[\w.]+[{_QUOTES}]?,\s*)*"  # other names of one list
_MOST_WORDS = 2_000

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
        named = {name: _instead(name, exc.message) for name in _ours(body, request) if _is_unknown(name, exc)}
        if not named:
            return None
        refused = self._known.setdefault((self._address, request.model), {})
        refused.update(named)
        return _without(body, request, refused)


def left_out(written: Mapping[str, Any], sent: Mapping[str, Any]) -> Note:
    """What to tell about a request that was sent without members that the server does not know."""
    names = " and ".join(map(repr, sorted(written.keys() - sent.keys())))
    instead = " and ".join(map(repr, sorted(sent.keys() - written.keys())))
    return Note(
        f"The model's server does not know {names}, so it was asked with {instead} in its place."
        if instead
        else f"The model's server does not know {names}, so it was asked without."
    )


def _is_unknown(member: str, exc: ProviderRefused) -> bool:
    """True where a refusal says of this member that the server does not know it, and of nothing else."""
    code, param = (exc.names.code or "").lower(), exc.names.param
    if param is not None and not re.fullmatch(rf"(?:body\.)?(?:{_pattern_of(member)})(?:[.\[].*)?", param):
        return False
    if code in _OF_VALUES and member not in _BY_VALUE:
        return False
    if param is not None and (_OF_MEMBERS.fullmatch(code) or code in _OF_VALUES):
        return True
    return _words_of(member).search(exc.message[:_MOST_WORDS]) is not None


def _pattern_of(member: str) -> str:
    return _WORDS.get(member, re.escape(member))


@cache
def _words_of(member: str) -> re.Pattern[str]:
    """The words for an unknown member, with nothing but such words between them and its name.

    A name that is a word of the language has to stand in quotes, behind a mark, or beside a noun such as `field`.
    """
    begun = "" if "_" in member else rf"(?:(?<=[{_QUOTES}:(\[./])|(?<=[:(\[] )|(?:(?<=^)|(?:{_NOUNS})[ :]+))"
    name = rf"(?<!\w){begun}[{_QUOTES}]?(?<!\w)(?:{_pattern_of(member)})(?!\w)"
    gap = rf"(?:[^\w]|{_BETWEEN}){{0,12}}?"
    return re.compile(
        rf"\b(?:{_UNKNOWN})\b{gap}{_LISTED}{name}|{name}(?:\.\w+)*{gap}\b(?:{_UNKNOWN})\b", re.IGNORECASE
    )


def _names(told: str, member: str) -> bool:
    return re.search(rf"(?<!\w)(?:{_pattern_of(member)})(?!\w)", told) is not None


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
