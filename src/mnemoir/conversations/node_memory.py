"""The documented import path of node memory, which is in `nodes/memory.py`."""

from mnemoir.conversations.nodes.memory import NodeTokenBufferMemory, local_node_parts

__all__ = ["NodeTokenBufferMemory", "local_node_parts"]
