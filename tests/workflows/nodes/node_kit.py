"""A bench to run a single node: a real step over a real config tree, with real files and real model servers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from mnemoir.core.discussions import Discussion
from mnemoir.core.messages import ChatRequest, Message, ModelRequest, text_message
from mnemoir.core.runs import NodeTrace, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.providers.llm.endpoint import Timeouts
from mnemoir.providers.llm.model_servers import HttpModelServers
from mnemoir.providers.offline_wikipedia import HttpOfflineWikipedia
from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.config.workflow import NodeDefinition, WorkflowDefinition
from mnemoir.workflows.discussion_files import DiscussionPlaces
from mnemoir.workflows.node import Node
from mnemoir.workflows.run import Caller, Run, Turn
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import Step
from tests.discussion_stores import discussion_stores

NOT_ASKED: Any = None  # in place of the parts that none of these nodes may use
ALEX = Scope(project="kitchen", user="alex")
HELLO = (text_message("system", "Be kind."), text_message("user", "Hello."))
_API_TYPES = {
    "chat": {
        "type": "openAIChatCompletion",
        "maxNewTokensPropertyName": "max_tokens",
        "streamPropertyName": "stream",
    },
    "text": {"type": "openAIV1Completion", "maxNewTokensPropertyName": "max_tokens", "streamPropertyName": "stream"},
}
_TEMPLATE = {
    "promptTemplateSystemPrefix": "<S>",
    "promptTemplateSystemSuffix": "</S>",
    "promptTemplateUserPrefix": "<U>",
    "promptTemplateUserSuffix": "</U>",
    "promptTemplateAssistantPrefix": "<A>",
}


@dataclass(kw_only=True)
class Bench:
    """A public folder with one user, and the services of nodes. `step` is the step of the last node that ran."""

    public: Path
    session: aiohttp.ClientSession
    settings: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=lambda: list(HELLO))
    inputs: Sequence[object] = ()
    outputs: dict[int, object] = field(default_factory=dict)
    discussion: str | None = None
    owner: Scope = ALEX
    discussions: DiscussionMemory = field(default_factory=discussion_stores)
    step: Step = NOT_ASKED

    def endpoint(self, name: str, url: str, api_type: str = "chat") -> None:
        """Write an endpoint, and the files it needs."""
        said = {"endpoint": url, "apiTypeConfigFileName": api_type, "modelNameToSendToAPI": name}
        self._write(f"Endpoints/{name}.json", {**said, "promptTemplate": "marks", "addGenerationPrompt": True})
        self._write(f"ApiTypes/{api_type}.json", _API_TYPES[api_type])
        self._write("PromptTemplates/marks.json", _TEMPLATE)

    async def run(self, kind: type[Node[Any]], **said: Any) -> Any:
        """Run a node of this kind with these properties; its output."""
        raw = {"type": kind.kind, "title": "tested", **said}
        node = kind(kind.properties_type.model_validate(raw), self._services())
        self.step = self._step(raw)
        async for _ in node.run(self.step):
            pass
        return self.step.output

    @property
    def place(self) -> Discussion | None:
        """The discussion of the nodes, with the paths of its files."""
        if self.discussion is None:
            return None
        return Discussion(root=self.public / "DiscussionIds", id=self.discussion, legacy=self.public)

    def _services(self) -> Services:
        return Services(
            own_model=NOT_ASKED,
            memory=NOT_ASKED,
            discussions=self.discussions,
            discussion_places=DiscussionPlaces(self.discussions.files, self.public, nobody=ALEX),
            model_servers=HttpModelServers(self.session, timeouts=Timeouts(), tries=1, most_bytes=1024 * 1024),
            modules=NOT_ASKED,
            files=FileUserFiles([self.public], self.public),
            wikipedia=HttpOfflineWikipedia(self.session),
            locks=NOT_ASKED,
            timestamps=NOT_ASKED,
            data_dir=self.public,
        )

    def _step(self, raw: Mapping[str, Any]) -> Step:
        self._write("Users/someone.json", self.settings)
        request = ModelRequest(messages=tuple(self.messages))
        caller = Caller(scope=self.owner, request_id="r1")
        turn = Turn(
            chat=ChatRequest(request=request, stream=False),
            caller=caller,
            messages=self.messages,
            trace=RunTrace(id="r1", scope=caller.scope),
            user=ConfigTree.open(self.public).user("someone"),
            discussion_id=self.discussion,
            discussion=self.place,
        )
        definition = NodeDefinition(number=9, title="tested", type=raw["type"], raw=raw)
        workflow = WorkflowDefinition(name="bench", nodes=(definition,), variables=self.variables)
        return Step(
            definition=definition,
            run=Run(
                id="w1",
                turn=turn,
                workflow=workflow,
                trace=WorkflowTrace(name="bench"),
                inputs=self.inputs,
                outputs=self.outputs,
            ),
            engine=NOT_ASKED,
            services=self._services(),
            trace=NodeTrace(number=9, title="tested", type=raw["type"], started_ms=0.0),
            is_responder=False,
            answers_client=False,
            streams=False,
        )

    def _write(self, path: str, content: Mapping[str, Any]) -> None:
        file = self.public / "Configs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
