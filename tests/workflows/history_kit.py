"""Stored chats over a config tree with node memories, and clients that send their whole history each time."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from mnemoir.access.spent import Spent
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.expected_folders import ExpectedFolders
from mnemoir.chats.quotas import Quotas
from mnemoir.chats.recording import Recorded, Recorder, RecordingOptions
from mnemoir.chats.remembering import Turns
from mnemoir.chats.titles import Titles
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.events import Event
from mnemoir.core.messages import Message, text_message
from mnemoir.core.runs import NodeTrace
from mnemoir.core.scope import Scope
from mnemoir.memory.background import Background
from mnemoir.ports.run_store import RunStore
from mnemoir.privacy.detection import Rules
from mnemoir.privacy.handling import PersonalData, PersonalDataOptions
from mnemoir.settings import load_settings
from mnemoir.storage.sql import SqlJobQueue, SqlPersonalValues, SqlProjectSettings
from mnemoir.storage.sql.catalogue import Catalogue
from mnemoir.storage.sql.conversation_marks import ConversationMarks
from mnemoir.storage.sql.usage import SqlUsage
from mnemoir.storage.sqlite import SqliteEngine, open_database
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from mnemoir.workflows.run import Caller
from mnemoir.workflows.services import Services
from tests.tree_kit import answers
from tests.workflows.workflow_kit import Desk, chat, events_of, nodes_of, text_of

OWN = {"mode": "node"}
WHOLE: Mapping[str, object] = {}
PREFIXES = {"user": "Human", "assistant": "Assistant"}
TEXT_ENDPOINT = {
    "ApiTypes/Text.json": {
        "type": "openAIV1Completion",
        "presetType": "OpenAiCompatibleApis",
        "maxNewTokensPropertyName": "max_tokens",
        "streamPropertyName": "stream",
    },
    "PromptTemplates/Marks.json": {
        "promptTemplateSystemPrefix": "<S>",
        "promptTemplateSystemSuffix": "</S>",
        "promptTemplateUserPrefix": "<U>",
        "promptTemplateUserSuffix": "</U>",
        "promptTemplateAssistantPrefix": "<A>",
        "promptTemplateAssistantSuffix": "</A>",
    },
}


def text_endpoint(url: str, **members: object) -> dict[str, object]:
    """The files of a text completion endpoint `Text`."""
    said = {"endpoint": url, "apiTypeConfigFileName": "Text", "promptTemplate": "Marks"}
    return {**TEXT_ENDPOINT, "Endpoints/Text.json": {**said, **members}}


def remembering(memory: Mapping[str, object], title: str = "Answer", prompt: str = "", **members: object) -> Any:
    """A node that answers the client with this memory."""
    return answers(title, prompt, memory=memory, **members)


@dataclass(kw_only=True)
class KeepingDesk(Desk):
    """A desk with stored conversations for its nodes."""

    conversations: Conversations

    @property
    def services(self) -> Services:
        return replace(super().services, conversations=self.conversations)


@dataclass(kw_only=True)
class Talks:
    """A server's stored chats. `restart` closes all files and opens them again."""

    desk: KeepingDesk
    root: Path
    database: SqliteEngine
    recorder: Recorder | None = None
    nodes: Sequence[Mapping[str, Any]] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def serve(self, *nodes: Mapping[str, Any], **options: Any) -> "Talks":
        """Set the nodes of Ann's workflow."""
        self.nodes, self.options = nodes, options
        workflows = self.desk.tree(*nodes, **options)
        conversations, jobs = self.desk.conversations, Background(SqlJobQueue(self.database), {})
        self.recorder = Recorder(
            conversations,
            workflows,
            Turns(jobs, conversations),
            cast(RunStore, self.desk.runs),  # it asks for `forget` alone
            RecordingOptions(),
            Titles(conversations, None, Quotas(load_settings(None, {}, environ={}), Spent(SqlUsage(self.database)))),
            PersonalData(
                Rules,
                SqlProjectSettings(self.database),
                SqlPersonalValues(self.database, lambda: b"key", reversible=False),
                PersonalDataOptions(),
            ),
        )
        return self

    async def restart(self) -> None:
        await self.desk.conversations.aclose()
        self.desk = replace(self.desk, conversations=_conversations(self.root, self.database))
        self.serve(*self.nodes, **self.options)

    def client(self, session: str | None = "tea", *, user: str = "alex", **members: Any) -> "Client":
        return Client(talks=self, scope=Scope(project="kitchen", user=user, conversation=session), members=members)

    def objects(self, user: str = "alex") -> list[Path]:
        """The files of that user's node memories."""
        return sorted(path for path in (self.root / "kitchen" / user / "objects").rglob("*") if path.is_file())

    async def trace(self) -> list[NodeTrace]:
        """The top-level nodes of the next finished run."""
        return nodes_of(await self.desk.runs.next())


@dataclass(kw_only=True)
class Client:
    """A client with its own history, which it sends whole."""

    talks: Talks
    scope: Scope
    members: dict[str, Any] = field(default_factory=dict)
    history: list[Message] = field(default_factory=list)

    async def says(self, text: str | Message, *, stream: bool = True) -> str:
        """Send a text; the answer, which is added to the history."""
        self.history.append(text_message("user", text) if isinstance(text, str) else text)
        return await self.asks(stream=stream)

    async def asks(self, *, stream: bool = True) -> str:
        """Send the history as it is; the answer."""
        answer = text_of(await self.events(stream=stream))
        self.history.append(text_message("assistant", answer))
        return answer

    async def again(self) -> str:
        """Request another answer in place of the last one."""
        self.history.pop()
        return await self.asks()

    async def events(self, *, stream: bool = True, **request: Any) -> list[Event]:
        """Send the history as it is; all events of the answer."""
        return await self.run(await self.begin(stream=stream, **request))

    async def begin(self, *, stream: bool = True, **request: Any) -> Recorded:
        """Store the history without asking yet."""
        assert self.talks.recorder is not None
        caller = Caller(scope=self.scope, request_id="r1", **self.members)
        return await self.talks.recorder.begin(chat(*self.history, stream=stream, **request), caller)

    async def run(self, recorded: Recorded) -> list[Event]:
        assert self.talks.recorder is not None
        return await events_of(partial(self.talks.recorder.answer, recorded))


@asynccontextmanager
async def keeping(desk: Desk, root: Path) -> AsyncIterator[Talks]:
    """The stored chats below `root`, over the parts of a desk."""
    parts = {part.name: getattr(desk, part.name) for part in fields(Desk)}
    database = open_database(root / "data" / "mnemoir.db")
    desk = KeepingDesk(**parts, conversations=_conversations(root, database))
    talks = Talks(desk=desk, root=root, database=database)
    yield talks
    if talks.recorder is not None:
        await talks.recorder.aclose()
    await talks.desk.conversations.aclose()
    await database.aclose()


def _conversations(root: Path, database: SqliteEngine) -> Conversations:
    return Conversations(
        root,
        lambda folder: MemoryManager(folder / SESSIONS_FILE),
        Catalogue(database),
        expected=ExpectedFolders(ConversationMarks(database), DirectoryIdentity(root)),
    )


def sent(llm: Any, at: int = -1) -> list[tuple[str, str]]:
    """Role and text of the messages of a request to the model."""
    return [(message["role"], message["content"]) for message in llm.requests[at].body["messages"]]


def said(*texts: str) -> list[tuple[str, str]]:
    """User and assistant in turn, the user first, as `sent` gives them."""
    return [(("user", "assistant")[at % 2], text) for at, text in enumerate(texts)]
