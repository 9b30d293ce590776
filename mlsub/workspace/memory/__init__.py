"""A memory of what was read and judged: :class:`Memory` has slots for one thing each, and shelves for logs."""

from mlsub.workspace.memory.memory import Memory, Slot
from mlsub.workspace.memory.states import State, file_state, tree_state

__all__ = ["Memory", "Slot", "State", "file_state", "tree_state"]
