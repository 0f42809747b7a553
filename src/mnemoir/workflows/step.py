"""A step: the execution of one node in one run, with the state and the functions available to the node."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Final, Protocol

import structlog

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import SettingsError
from mnemoir.core.messages import Message
from mnemoir.core.runs import NodeTrace
from mnemoir.workflows.config.endpoint import PromptTemplate
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.config.workflow import NodeDefinition
from mnemoir.workflows.run import NO_OVERRIDES, Override, Overrides, Run
from mnemoir.workflows.services import Services
from mnemoir.workflows.text.fields import Filling, TextPositions
from mnemoir.workflows.text.filling import fill
from mnemoir.workflows.text.variables import Surroundings, Variables

_log = structlog.get_logger(__name__)
UNSET: Final = object()  # the output of a node that has set none; None is an output
_NO_SETTINGS = UserSettings.model_validate({})
_NO_TEMPLATE = PromptTemplate.model_validate({})


class WorkflowEnded(Exception):
    """The workflow and its callers end here without a failure: a lock is held by another run.

    The answer so far stays; following nodes do not run.
    """


class SubWorkflows(Protocol):
    """The part of the engine that nodes may use."""

    @property
    def is_stopping(self) -> bool:
        """True when the server is stopping: work that can be done later should ask no further model."""

    async def run_child(
        self,
        step: "Step",
        name: str,
        *,
        folder: str = "",
        inputs: Sequence[object] = (),
        overrides: Overrides = NO_OVERRIDES,
        silent: bool = True,
    ) -> object:
        """Run another workflow of the same user and return its output; `folder` "" means the user's own folder.

        A child that is not silent answers the client in place of its parent. Raises SettingsError for a missing
        workflow, WorkflowStopped at a limit.
        """


@dataclass(slots=True, kw_only=True)
class Step:
    """The execution of a node; a new object each time a node runs.

    `answers_client` is True for the responder that answers the client; with `streams` the client wants a stream.
    `is_responder` is also True for the node whose output is the output of a silent workflow. `output` may be set to a
    value of any type; otherwise the node's text is its output. Nodes read their `prompt` and `system_prompt` through
    `filled_prompt`, because a parent may have replaced them; `fillings` stores its results by key.
    """

    definition: NodeDefinition
    run: Run
    engine: SubWorkflows
    services: Services
    trace: NodeTrace
    is_responder: bool
    answers_client: bool
    streams: bool
    overrides: Overrides = NO_OVERRIDES
    output: object = field(default=UNSET)
    stamped: Sequence[Message] | None = None
    fillings: dict[str, Filling] = field(default_factory=dict)
    _templates_s: float = 0.0  # processor time spent on templates

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation as this node reads it: with times, if its properties ask for them."""
        return self.run.turn.messages if self.stamped is None else self.stamped

    @property
    def user(self) -> UserTree:
        """The user of the config tree. Raises SettingsError without a config tree."""
        user = self.run.turn.user
        if user is None:
            raise SettingsError(
                f"Node {self.definition.title!r} of type {self.definition.type} needs a config tree; "
                "start the server with --config-dir."
            )
        return user

    @property
    def discussion(self) -> Discussion | None:
        """The discussion of the conversation; None without one."""
        return self.run.turn.discussion

    def raw_prompt(self, key: str, text: str) -> str:
        """The text of `filled_prompt` before filling; "" for an empty one."""
        given = self.overrides.system_prompt if key == "systemPrompt" else self.overrides.prompt
        return text if given is None else given.text

    def filled_prompt(self, key: str, text: str, variables: Callable[[], Variables]) -> str | None:
        """The node's `systemPrompt` or `prompt`, or a parent's replacement, filled in; None for an empty text.

        `variables` is called only if there is something to fill in.
        """
        given = self.overrides.system_prompt if key == "systemPrompt" else self.overrides.prompt
        if given is None and "{" not in text and "}" not in text:
            return text or None
        places: TextPositions = []
        filled = self.fill(text, variables(), places) if given is None else given.filled_text(variables(), places)
        self.fillings[key] = Filling(filled, places)
        return filled

    def override(self, text: str) -> "Override | None":
        """A text of this node that replaces a child's prompt; None for an empty text, which replaces nothing."""
        if not text:
            return None
        variables = self.variables()
        if is_set(self.definition.raw, "jinja2"):
            places: TextPositions = []
            return Override(text=self.fill(text, variables, places), variables=None, places=places)
        return Override(text=text, variables=variables)

    def variables(self, template: PromptTemplate | None = None) -> Variables:
        """All variables, computed when they are read.

        `template` is the template of an endpoint for text prompts; without one the rules for messages apply.
        """
        return Variables(self._surroundings(template))

    def fill(self, text: str, variables: Variables | None = None, places: TextPositions | None = None) -> str:
        """`text` with its variables filled in, as a Jinja2 template if the node says so.

        The positions of variables are appended to `places`.
        """
        if "{" not in text and "}" not in text:
            return text
        if variables is None:
            variables = self.variables()
        is_template = is_set(self.definition.raw, "jinja2")
        return self._rendered_text(text, variables, places) if is_template else fill(text, variables, places=places)

    def early(self, text: str) -> str:
        """A name with {agentNInput} and the workflow's own variables filled in, but never {agentNOutput}."""
        if "{" not in text:
            return text
        turn, run = self.run.turn, self.run
        surroundings = Surroundings(
            messages=(),
            now=self.services.clock().astimezone(),
            user_wide=turn.user.settings.variables if turn.user is not None else {},
            custom=run.workflow.variables,
            inputs=run.inputs,
        )
        return fill(text, Variables(surroundings).early())

    def count(self, value: int | str, default: int, key: str) -> int:
        """A number, which may be a text with early variables; the default, with a note, for any other text."""
        if isinstance(value, int):
            return value
        try:
            return int(float(self.early(value)))
        except (ValueError, OverflowError):
            self.note(f"{key} is {value!r}, which is no number; {default} was taken.")
            return default

    def note(self, text: str) -> None:
        """Add a note to the trace, and to the log at debug level."""
        self.trace.notes.append(text)
        _log.debug("node note", node=self.definition.title, note=text)

    def note_request(self) -> None:
        """Add what was odd about the client's request to the trace of the node that answers it."""
        if self.answers_client:
            for note in self.run.turn.chat.notes:
                self.note(note)

    def _rendered_text(self, text: str, variables: Variables, places: TextPositions | None) -> str:
        """A rendered template. Raises SettingsError for a wrong one, and when the node's templates take too long."""
        from mnemoir.workflows.text.effort import MOST_SECONDS  # imports Jinja2, which takes 25 ms

        began = thread_time()
        try:
            if self._templates_s > MOST_SECONDS:
                raise SettingsError(f"The Jinja2 templates of one node take more than {MOST_SECONDS:g} s together.")
            return fill(text, variables, jinja=True, places=places)
        except SettingsError as exc:
            place = f"Node {self.definition.title!r} of workflow {self.run.workflow.name}"
            raise SettingsError(f"{place}: {exc.message}") from exc
        finally:
            self._templates_s += thread_time() - began

    def _surroundings(self, template: PromptTemplate | None) -> Surroundings:
        run, turn, raw = self.run, self.run.turn, self.definition.raw
        settings = turn.user.settings if turn.user is not None else _NO_SETTINGS
        return Surroundings(
            messages=self.messages,
            now=self.services.clock().astimezone(),
            endpoint_template=template,
            chat_template=turn.user.chat_template if turn.user is not None else lambda: _NO_TEMPLATE,
            user_wide=settings.variables,
            custom=run.workflow.variables,
            discussion=turn.discussion_id,
            time_context=turn.time_context,
            inputs=run.inputs,
            outputs=run.outputs,
            categories=run.categories,
            delimiter=settings.conversation_delimiter if settings.separates_conversation else "\n",
            adds_role_names=is_set(raw, "addUserAssistantTags"),
            n_messages=self._whole("nMessagesToIncludeInVariable", 5),
            token_limit=self._whole("estimatedTokensToIncludeInVariable", 2048),
            min_messages=self._whole("minMessagesInVariable", 5),
            max_tokens=self._whole("maxEstimatedTokensInVariable", 2048),
        )

    def _whole(self, key: str, default: int) -> int:
        """A number in the node's JSON, also one that is not a property of its type."""
        value = self.definition.raw.get(key, default)
        is_number = isinstance(value, int | str) and not isinstance(value, bool)
        return self.count(value, default, key) if is_number else default
