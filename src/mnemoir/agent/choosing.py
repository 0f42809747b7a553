"""Choice of the model for a run by a `cluster_manager`, of either kind that an agent accepts."""

from collections.abc import Callable, Sequence
from typing import cast

from mnemoir.agent.llm import LLM, ClusterManager, ModelChooser
from mnemoir.core.conversations import Message
from mnemoir.core.errors import SettingsError

Choose = Callable[[str, Sequence[Message]], LLM | None]


def choice_of(manager: ClusterManager | ModelChooser | None) -> Choose:
    """A function from the question and all messages of the run to a model; None means the agent's own model.

    It calls `select_node_smart` if the manager has it, else `choose`. Raises SettingsError for a manager that has
    neither.
    """
    if manager is None:
        return lambda question, messages: None
    if callable(getattr(manager, "select_node_smart", None)):
        cluster = cast(ClusterManager, manager)
        return lambda question, messages: _of_cluster(cluster, question, messages)
    if callable(getattr(manager, "choose", None)):
        chooser = cast(ModelChooser, manager)
        return lambda question, messages: chooser.choose(messages)
    raise SettingsError(
        f"The cluster_manager {type(manager).__name__} cannot pick a model; give one with "
        "select_node_smart(query, context) and get_client(name), or with choose(messages)."
    )


def _of_cluster(cluster: ClusterManager, question: str, messages: Sequence[Message]) -> LLM | None:
    node, _ = cluster.select_node_smart(query=question, context=list(messages))
    return None if node is None else cluster.get_client(node.name)
