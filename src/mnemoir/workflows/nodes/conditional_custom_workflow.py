"""ConditionalCustomWorkflow: runs a workflow chosen by a text."""

from collections.abc import Mapping

from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.model import ConfigModel, Line
from mnemoir.workflows.node import ValueNode
from mnemoir.workflows.nodes.custom_workflow import ChildProperties, run_child
from mnemoir.workflows.step import Step

_DEFAULT = "default"


class RouteOverride(ConfigModel):
    """Texts that replace those of the first prompt in a route's workflow; each key has two spellings."""

    system_prompt: Line = Field("", alias="systemPromptOverride", description="Replaces its system prompt.")
    prompt: Line = Field("", alias="promptOverride", description="Replaces its prompt.")
    first_system_prompt: Line = Field("", alias="firstNodeSystemPromptOverride", description="The same.")
    first_prompt: Line = Field("", alias="firstNodePromptOverride", description="The same.")


_NO_TEXTS = RouteOverride.model_validate({})


class ConditionalProperties(ChildProperties):
    """Properties of a ConditionalCustomWorkflow node."""

    key: Line = Field("", alias="conditionalKey", description="The text to compare, as a rule {agent1Output}.")
    workflows: Mapping[str, Line] = Field(
        default_factory=dict,
        alias="conditionalWorkflows",
        description="Workflow by text, without regard to case; Default takes the rest.",
    )
    route_overrides: Mapping[str, RouteOverride] = Field(
        default_factory=dict, alias="routeOverrides", description="Texts for the chosen workflow's first prompt."
    )
    default_content: Line = Field(
        "", alias="UseDefaultContentInsteadOfWorkflow", description="Output when nothing fits; wins over Default."
    )


class ConditionalCustomWorkflow(ValueNode[ConditionalProperties]):
    """Runs the workflow for its key and outputs the workflow's answer, or outputs the default content."""

    kind = "ConditionalCustomWorkflow"
    properties_type = ConditionalProperties
    filled = ("conditionalKey", "scoped_variables", "routeOverrides", "UseDefaultContentInsteadOfWorkflow")
    is_timed = False

    async def value(self, step: Step) -> object:
        """The output of the chosen workflow's responder, or the default content."""
        properties = self.properties
        key = step.fill(properties.key).strip().lower()
        workflows = {name.strip().lower(): workflow for name, workflow in properties.workflows.items()}
        if key not in workflows and properties.default_content:
            return step.fill(properties.default_content)
        route = key if key in workflows else _DEFAULT
        if route not in workflows:
            raise self._no_route(step, key)
        step.note(f"{key!r} chose {workflows[route]}")
        # the texts of a route apply to its own key only: other keys run Default with the prompts of its workflow
        texts = {name.strip().lower(): texts for name, texts in properties.route_overrides.items()}.get(key)
        chosen = texts or _NO_TEXTS
        return await run_child(
            step,
            properties,
            workflows[route],
            chosen.system_prompt or chosen.first_system_prompt,
            chosen.prompt or chosen.first_prompt,
        )

    def _no_route(self, step: Step, key: str) -> SettingsError:
        known = ", ".join(self.properties.workflows) or "none"
        return SettingsError(
            f"Node {step.definition.title!r}: no workflow for {key[:80]!r}. Its routes are: {known}. "
            "Add one, or a Default."
        )
