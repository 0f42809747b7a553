"""One node at work in one run: what it may know, and what it can have done for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Final, Protocol

import structlog

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import SettingsError
from mnemoir.core.messages import Message
from mnemoir.core.runs import NodeTrace
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.config.workflow import NodeDefinition
from mnemoir.workflows.run import NO_OVERRIDES, Override, Overrides, Run
from mnemoir.workflows.services import Services
from mnemoir.workflows.text.filling import fill
from mnemoir.workflows.text.positions import Filling, TextPositions
from mnemoir.workflows.text.variables import Surroundings, Variables

_log = structlog.get_logger(__name__)
UNSET: Final = object()  # a node that has said nothing of its output; None is an output
_NO_SETTINGS = UserSettings.model_validate({})
_NO_TEMPLATE = PromptTemplate.model_validate({})


class WorkflowEnded(Exception):
    """The workflow, and those that called it, end here, and not as a failure: a lock is held.

    What was answered stays answered; nodes that follow do not run.
    """


class SubWorkflows(Protocol):
    """The engine, as far as a node may use it."""

    @property
    def is_stopping(self) -> bool:
        """Whether the server is about to end: no further model should be asked for what can be done later."""

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
        """Run another workflow of the same user, and return its output; "" for the folder means the user's own.

        A child that is not silent answers the client in its parent's place. Raises SettingsError for a missing one,
        WorkflowStopped beyond the limits.
        """


@dataclass(slots=True, kw_only=True)
class Step:
    """Made anew each time a node runs.

    `answers_client` is True for the responder whose answer is the client's; with `streams` it is wanted piece by
    piece. `is_responder` is also True for the node whose output is the result of a silent workflow. `output` may be
    set to a value of any type; else the node's text is its output. `prompt` and `system_prompt` of the node are to be
    read through `filled_prompt`, for a parent may have replaced them; `fillings` keeps what came out of it, by key.
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
    _templates_s: float = 0.0  # of processor time, spent on templates

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation as this node reads it: with times, where the node asked for them."""
        return self.run.turn.messages if self.stamped is None else self.stamped

    @property
    def user(self) -> UserTree:
        """The user whose configuration this is. Raises SettingsError where there is none."""
        user = self.run.turn.user
        if user is None:
            raise SettingsError(
                f"Node {self.definition.title!r} of type {self.definition.type} needs a config tree; "
                "start the server with --config-dir."
            )
        return user

    @property
    def discussion(self) -> Discussion | None:
        """The discussion this conversation belongs to; None when it belongs to none."""
        return self.run.turn.discussion

    def raw_prompt(self, key: str, text: str) -> str:
        """The same as `filled_prompt`, before it is filled; "" for an empty one."""
        given = self.overrides.system_prompt if key == "systemPrompt" else self.overrides.prompt
        return text if given is None else given.text

    def filled_prompt(self, key: str, text: str, variables: Callable[[], Variables]) -> str | None:
        """The node's `systemPrompt` or `prompt`, or what a parent put in its place; None for an empty one.

        `variables` is called when there is something to fill in.
        """
        given = self.overrides.system_prompt if key == "systemPrompt" else self.overrides.prompt
        if given is None and "{" not in text and "}" not in text:
            return text or None
        places: TextPositions = []
        filled = self.fill(text, variables(), places) if given is None else given.filled(variables(), places)
        self.fillings[key] = Filling(filled, places)
        return filled

    def override(self, text: str) -> "Override | None":
        """A text of this node for a child's prompt; None for an empty one, which replaces nothing."""
        if not text:
            return None
        variables = self.variables()
        if is_set(self.definition.raw, "jinja2"):
            places: TextPositions = []
            return Override(text=self.fill(text, variables, places), variables=None, places=places)
        return Override(text=text, variables=variables)

    def variables(self, template: PromptTemplate | None = None) -> Variables:
        """All variables, worked out when they are asked for.

        `template` is that of an endpoint for text prompts; without one the rules for lists of messages hold.
        """
        return Variables(self._surroundings(template))

    def fill(self, text: str, variables: Variables | None = None, places: TextPositions | None = None) -> str:
        """`text` with the variables in it; as a Jinja2 template where the node says so. `places` are told where."""
        if "{" not in text and "}" not in text:
            return text
        if variables is None:
            variables = self.variables()
        is_template = is_set(self.definition.raw, "jinja2")
        return self._rendered(text, variables, places) if is_template else fill(text, variables, places=places)

    def early(self, text: str) -> str:
        """A name with {agentNInput} and the workflow's own variables in it; never {agentNOutput}."""
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
        """A number that may be written as a text with early variables; the default, with a note, for no number."""
        if isinstance(value, int):
            return value
        try:
            return int(float(self.early(value)))
        except (ValueError, OverflowError):
            self.note(f"{key} is {value!r}, which is no number; {default} was taken.")
            return default

    def note(self, text: str) -> None:
        """Tell in the trace, and at debug level in the log, what was decided here."""
        self.trace.notes.append(text)
        _log.debug("node note", node=self.definition.title, note=text)

    def _rendered(self, text: str, variables: Variables, places: TextPositions | None) -> str:
        """A template's text. Raises SettingsError for a wrong one, and where all of the node's take too long."""
        from mnemoir.workflows.text.effort import MOST_SECONDS  # with Jinja2: 25 ms, which are no template's

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
        """A number of the node, whatever its type has of properties."""
        value = self.definition.raw.get(key, default)
        is_number = isinstance(value, int | str) and not isinstance(value, bool)
        return self.count(value, default, key) if is_number else default
