"""A memory of what was read and judged: :class:`Memory` has drawers for one thing each, and shelves for logs."""

from mlsub.workspace.memory.memory import Drawer, Memory, Place, Seen
from mlsub.workspace.memory.states import State, file_state, tree_state
from mlsub.workspace.memory.where import memory_of, usual_folder

__all__ = ["Drawer", "Memory", "Place", "Seen", "State", "file_state", "memory_of", "tree_state", "usual_folder"]
