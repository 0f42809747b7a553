"""Standard: asks an endpoint's model with the node's own prompts or the last messages of the conversation."""

from collections.abc import AsyncGenerator, Sequence

from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.core.events import Event
from mnemoir.workflows.asking import answer, question_of
from mnemoir.workflows.config.memory import NodeMemory
from mnemoir.workflows.node import ModelProperties, Node
from mnemoir.workflows.node_history import answer_with_memory
from mnemoir.workflows.step import Step


class StandardProperties(ModelProperties):
    """Properties of a Standard node."""

    memory: NodeMemory | None = Field(
        None, description="Show the model earlier turns of the stored conversation, or of this node alone. Ours."
    )


class Standard(Node[StandardProperties]):
    """Outputs the model's answer, cleaned as set by the endpoint and the node."""

    kind = "Standard"
    properties_type = StandardProperties
    filled = ("systemPrompt", "prompt", "memory")

    def run(self, step: Step) -> AsyncGenerator[Sequence[Event], None]:
        """The answer, piece by piece if the client wants a stream."""
        if not self.properties.endpoint:
            raise SettingsError(
                f"Node {step.definition.title!r} of workflow {step.run.workflow.name} names no endpoint. "
                "Give it an endpointName, or use the type Respond to ask the server's own model."
            )
        if self.properties.memory is not None:
            return answer_with_memory(step, self.properties, self.properties.memory)
        return answer(step, question_of(step, self.properties, for_client=step.answers_client))
