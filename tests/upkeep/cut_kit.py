"""Erasures and adoptions that are cut in front of a holding or behind it, and what is seen then."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mnemoir.app.parts import Parts, open_parts
from mnemoir.core.conversations import MessageRecord
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.core.users import Grant, User
from mnemoir.memory.facts.holding import FACT
from mnemoir.ports.holdings import Amounts
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import Settings, load_settings
from mnemoir.upkeep.subjects import Person
from tests.narrowing import present
from tests.server.server_kit import Server
from tests.upkeep.toy_holding import make_table, notes_of

WORD = "Zanzibarquince"
MIRA, ANNA = "mira.zanzibar", "anna"
GIVING = ("note", "fact", "conversation")
ERASING = ("import", "job", "run", "note", "fact", "proposal", "discussion", "lock", "personal", "conversation")
ERASING_PEOPLE = ("lock", "access", "usage")
NOTHING = ((), (), ())
ALL = ((f"Owns a {WORD}",), ("talk",), (f"{WORD} note",))


class Cut(Exception):
    """The program ended here."""


@dataclass(frozen=True)
class Point:
    """Where an operation is cut: in front of what a holding does, behind it, or behind its whole context."""

    name: str
    does: str
    side: str

    def __str__(self) -> str:
        return f"{self.side} {self.does} of {self.name}"


ERASURES = [
    Point(name, does, side)
    for names, does in ((ERASING, "erase"), (ERASING_PEOPLE, "erase_person"))
    for name in names
    for side in ("before", "behind")
]
ADOPTIONS = [Point(name, "giving", side) for name in GIVING for side in ("before", "behind", "after")]


def settings_of(data_dir: Path, **more: object) -> Settings:
    return load_settings(None, {"storage.data_dir": str(data_dir), "llm.provider": "offline"} | more, environ={})


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Parts]:
    parts = await open_parts(settings)
    try:
        yield parts
    finally:
        await parts.aclose()


async def tell(settings: Settings) -> None:
    """A person with a memory, a conversation, a note, a run and a key; and another one, who signs in."""
    await make_table(settings.storage.data_dir)
    async with opened(settings) as parts:
        server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
        said = {"messages": [{"role": "user", "content": f"Owns a {WORD}"}], "user_id": MIRA, "infer": False}
        await server.post("/api/memories", said)
        scope = Scope(project="default", user=MIRA)
        async with parts.chats.conversations.of(scope) as own:
            own.log.open_session("talk")
            own.log.save_messages([MessageRecord(session_id="talk", role="user", content=WORD)])
        await notes_of(parts).write(scope, f"{WORD} note")
        parts.access.api_keys.create(role="write", user=MIRA, by="test")
        token = parts.access.users.invite(Grant(role="write", memory_user=ANNA), by="test")[1]
        parts.access.users.join(token, ANNA, password_hash="made up")


async def seen(parts: Parts, user: str) -> tuple[tuple[str, ...], ...]:
    """The memories, conversations and notes of a user."""
    scope = Scope(project="default", user=user)
    facts = present(next(holding.exchange for holding in parts.upkeep.holdings if holding.name == FACT))
    told = [one.memory.text async for page in facts.pages(scope) for one in page]
    try:
        talks = await parts.chats.conversations.ids(scope)
    except StorageUnavailable:  # hidden
        talks = []
    return tuple(told), tuple(talks), tuple(await notes_of(parts).texts(scope))


def anna_of(parts: Parts) -> User:
    anna = parts.access.users.user_by_name(ANNA)
    assert anna is not None
    return anna


async def erase(parts: Parts) -> None:
    await parts.upkeep.subjects.erase(Person(tenant="default", user=MIRA))


async def adopt(parts: Parts) -> None:
    await parts.upkeep.adoption.adopt(anna_of(parts), MIRA)


def cut(parts: Parts, point: Point, end: Callable[[], None]) -> None:
    """Let the next operation of the holding, and no later one, end at the point."""
    at = next(at for at, holding in enumerate(parts.upkeep.holdings) if holding.name == point.name)
    holding = parts.upkeep.holdings[at]
    work: Any = getattr(holding, point.does) or holding.forget
    assert work is not None
    left = iter([point.side])

    def end_at(side: str) -> None:
        if side == point.side and next(left, None) is not None:
            end()

    async def cut_work(*given: object) -> Amounts:
        end_at("before")
        done: Amounts = await work(*given)
        end_at("behind")
        return done

    @asynccontextmanager
    async def cut_giving(scope: Scope, user: str) -> AsyncIterator[bool]:
        context: AbstractAsyncContextManager[bool] = work(scope, user)
        end_at("before")
        async with context as found:
            end_at("behind")
            yield found
        end_at("after")

    changed: dict[str, Any] = {point.does: cut_giving if point.does == "giving" else cut_work}
    parts.upkeep.holdings[at] = replace(holding, **changed)


def holding_words(folder: Path, *words: str) -> dict[str, list[str]]:
    """The files with any of the words in their bytes or their paths, by word."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = {
        word: [str(file) for file in files if word in str(file) or word.encode() in file.read_bytes()]
        for word in words
    }
    return {word: places for word, places in found.items() if places}
