"""The script of the sample memory, with the times that its days have as of today."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

from mnemoir.core.clock import to_text
from mnemoir.core.conversations import Role
from mnemoir.core.ids import new_message_uid
from mnemoir.core.memories import ChangeEvent, Origin, SourceTurn

_ROLES: tuple[Role, Role] = ("user", "assistant")
_BETWEEN = timedelta(minutes=2)  # two messages of a chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was learned at one time: new facts, facts that got other words, and facts that another one ended.

    `turns` are the messages of the chat `session` it came from, oldest first; none for what came from elsewhere.
    `recalls` are the facts that the first answer of the chat was given.
    """

    at: datetime
    origin: Origin = "user"
    app: str | None = None
    session: str | None = None
    title: str | None = None
    turns: Sequence[SourceTurn] = ()
    facts: Sequence[str] = ()
    changes: Mapping[str, str]
    closes: Mapping[str, str]
    recalls: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A change that waits for a review: of the text `fact`, or a new one."""

    session: str
    at: datetime
    event: ChangeEvent
    text: str
    fact: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The steps in order of time, and what waits behind the last of them."""

    steps: Sequence[Step]
    waiting: Sequence[Waiting]


def read_script(now: datetime) -> Script:
    """The script as of `now`."""
    told = tomllib.loads(files(__package__).joinpath("sample.toml").read_text("utf-8"))
    chats = [_chat_step(chat, number, now) for number, chat in enumerate(told["chats"], start=1)]
    listed = [_listed_step(each, days, fact, now) for each in told["lists"] for days, fact in each["facts"]]
    by_title = {step.title: step for step in chats}
    waiting = [
        Waiting(
            session=chat.session or "",
            at=chat.at,
            event=each["event"],
            text=each["text"],
            fact=each.get("fact"),
            reason=each["reason"],
        )
        for each in told["waits"]
        for chat in [by_title[each["chat"]]]
    ]
    return Script(steps=sorted([*chats, *listed], key=lambda step: step.at), waiting=waiting)


def _chat_step(chat: Mapping[str, Any], number: int, now: datetime) -> Step:
    at = _time(chat["days"], number, now)
    turns = [
        SourceTurn(
            role=_ROLES[place % 2],
            text=text,
            said_at=to_text(at + place * _BETWEEN),
            message_uid=new_message_uid(),
        )
        for place, text in enumerate(chat["turns"])
    ]
    return Step(
        at=at,
        session=f"sample-{number:02}",
        title=chat["title"],
        turns=turns,
        facts=chat["facts"],
        changes=chat.get("changes", {}),
        closes=chat.get("closes", {}),
        recalls=chat.get("recalls", ()),
    )


def _listed_step(listed: Mapping[str, Any], days: int, fact: str, now: datetime) -> Step:
    at = _time(days, len(fact), now)
    return Step(at=at, origin=listed["origin"], app=listed.get("app"), facts=[fact], changes={}, closes={})


def _time(days: int, number: int, now: datetime) -> datetime:
    """Some time of the day so many days before: another one for each number, and never before today's hour."""
    return now.astimezone(UTC).replace(microsecond=0) - timedelta(days=days, minutes=17 * number % 480)
