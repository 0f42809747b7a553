"""The requests of a chat to the server: answers, and the conversations and memories of one user."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mnemoir.cli.chat.conversation import Answer, Conversation, pieces
from mnemoir.cli.conversation_routes import (
    CONVERSATIONS,
    all_conversations,
    conversation_path,
    conversations_by_id,
    text_of,
)
from mnemoir.cli.session import Session

if TYPE_CHECKING:
    from mnemoir.cli.connection import Connection

Json = Mapping[str, Any]

_PAGE = 200
_SHORTEST = 4  # characters of an abbreviated id


class Server:
    """The server's routes for one user; without a `model` the server chooses one, if it can.

    All methods raise MnemoirError.
    """

    def __init__(self, connection: "Connection", session: Session, *, user: str, model: str | None) -> None:
        self._connection = connection
        self._session = session
        self._user = user
        self.model = model

    @property
    def place(self) -> str:
        """Where the server is."""
        return self._connection.place

    async def answer(
        self, conversation: Conversation, text: str, answer: Answer, parent_id: int | None = None
    ) -> AsyncIterator[str]:
        """Send a message; the pieces of the answer's text as they arrive. `answer` is filled meanwhile.

        With `parent_id` the message stands behind that one, else at the end.
        """
        body, headers = conversation.request(text)
        who = {"model": self.model, "user": self._user, "parent_id": parent_id}
        body |= {"stream": True, **{name: value for name, value in who.items() if value is not None}}
        target = self._session.target("/v1/chat/completions", {})
        async for piece in pieces(self._connection.lines(target, "POST", body, headers), answer):
            yield piece

    async def models(self) -> list[str]:
        """The names of the models that the server offers."""
        listed = await self._look_at("/v1/models")
        return [str(one["id"]) for one in listed["data"]]

    async def newest(self, count: int) -> list[Json]:
        """At most `count` conversations, newest activity first."""
        found: list[Json] = []
        async for conversation in self.conversations():
            found.append(conversation)
            if len(found) == count:
                break
        return found

    def conversations(self) -> AsyncIterator[Json]:
        """All conversations, newest activity first."""
        return all_conversations(self._connection, self._session, self._user)

    async def conversation(self, id: str) -> Json:
        """The conversation with that id. Raises NotFound."""
        return dict(await self._ask("GET", conversation_path(id)))

    async def find_conversations(self, name: str) -> list[Json]:
        """The conversation with the id `name`, else all whose ids begin with it."""
        return await conversations_by_id(self._connection, self._session, self._user, name, shortest=_SHORTEST)

    async def last_messages(self, id: str, count: int) -> list[Json]:
        """The last `count` messages of a conversation's thread, oldest first."""
        found: list[Json] = []
        async for page in self._pages(id, "thread", min(count, _PAGE)):
            found = [*page, *found]
            if len(found) >= count:
                break
        return found[-count:]

    async def user_texts(self, id: str) -> set[str]:
        """All texts of the user in a conversation, including its branches."""
        pages = self._pages(id, "tree", _PAGE)
        return {text_of(one["content"]) async for page in pages for one in page if one["role"] == "user"}

    async def search(self, words: str) -> list[Json]:
        """Search hits in all conversations, best first."""
        return list((await self._ask("GET", f"{CONVERSATIONS}/search", q=words))["results"])

    async def memories(self, count: int) -> list[Json]:
        """At most `count` memories of the user, newest first."""
        return list((await self._ask("GET", "/api/memories", limit=count))["results"])

    async def memories_of_turn(self, id: str, message_id: int) -> Json:
        """What was learned from the turn that ends with a message."""
        return dict(await self._ask("GET", conversation_path(id, f"messages/{message_id}/learned")))

    async def undo(self, change_id: str) -> Json:
        """Take back a change of memories; what that changed."""
        return dict(await self._ask("POST", f"/api/memories/changes/{quote(change_id, safe='')}/undo"))

    async def remembers(self) -> bool:
        """True unless memory is switched off for the project."""
        settings = await self._connection.ask("GET", self._session.target("/api/memories/settings", {}))
        return settings["memoryEnabled"] is not False

    async def answering_model(self) -> str:
        """The name of the model that answers; "" where the server chooses among workflows."""
        if self.model:
            return self.model
        names = [one["id"] for one in (await self._look_at("/v1/models"))["data"]]
        has_own = (await self._look_at("/api/workflows"))["root"] is None  # its own model is listed last
        return str(names[-1]) if has_own or len(names) == 1 else ""

    async def choose_model(self) -> bool:
        """Choose the first model where none is named and the server cannot choose: it serves several tree users.

        Returns whether one was chosen.
        """
        if self.model is not None or (await self._look_at("/api/workflows"))["root"] is None:
            return False
        names = await self.models()
        if len({name.partition(":")[0] for name in names}) < 2:
            return False
        self.model = names[0]
        return True

    async def change(self, id: str, below: str = "", **members: object) -> Json:
        """Change members of a conversation, or of the object at the path `below` it; the changed object."""
        return dict(await self._ask("PATCH", conversation_path(id, below), body=members))

    async def begin(self, id: str, **members: object) -> Json:
        """Begin a conversation with these members."""
        return dict(await self._ask("POST", CONVERSATIONS, body={"id": id, **members}))

    async def flush(self, id: str) -> Json:
        """Wait until the vectors and summaries of a conversation are complete."""
        return dict(await self._ask("POST", conversation_path(id, "flush")))

    async def delete(self, id: str) -> Json:
        """Delete a conversation; the counts of deleted rows."""
        return dict(await self._ask("DELETE", conversation_path(id)))

    def export(self, id: str, format: str) -> AsyncGenerator[bytes, None]:
        """A conversation as the bytes of a file in the given format."""
        return self._connection.pieces(self._target(conversation_path(id, "export"), format=format))

    async def take_in(self, file: bytes) -> Json:
        """Import the conversations of a file."""
        return dict(await self._ask("POST", f"{CONVERSATIONS}/import", body=file))

    async def _pages(self, id: str, view: str, limit: int) -> AsyncIterator[list[Json]]:
        cursor = None
        while True:
            path = conversation_path(id, "messages")
            page = await self._ask("GET", path, view=view, limit=limit, cursor=cursor)
            yield page["results"]
            cursor = page["next"]
            if cursor is None:
                return

    async def _look_at(self, path: str) -> Any:
        """What the server tells about no user and no project."""
        return await self._connection.ask("GET", path)

    async def _ask(self, method: str, path: str, *, body: object = None, **query: object) -> Any:
        return await self._connection.ask(method, self._target(path, **query), body)

    def _target(self, path: str, **query: object) -> str:
        return self._session.target(path, {"user_id": self._user, **query})
