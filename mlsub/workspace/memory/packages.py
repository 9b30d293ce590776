"""Packages that were judged before: what a report says of them, as long as no file of their tree has changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mlsub.convergence.entry import Options
from mlsub.divisions import DIVISIONS
from mlsub.judge.outline import Outline
from mlsub.submission.locate import Target
from mlsub.workspace.memory.memory import Drawer, Memory
from mlsub.workspace.memory.states import tree_state
from mlsub.workspace.memory.witness import content_of


def package_drawer(
    memory: Memory | None, outline: Outline, root: Path, rules: tuple[str, str, str | None], options: Options
) -> Drawer | None:
    """Where a package is remembered; None where it is not, since what is said of it depends on more than its files.

    Args:
        memory: all that is remembered.
        outline: the package.
        root: the folder that paths of the report are relative to.
        rules: usage, round and the file of the user's own rules.
        options: of the convergence test.
    """
    folder, place = outline.path, outline.place
    if memory is None or not stands_alone(outline):
        return None
    usage, round_, overlay = rules
    own = [content_of(file) for file in (overlay, options.reference)]
    if None in own:
        return None
    words = (folder, root, usage, round_, overlay, options, place is None, outline.deep, *own)
    return memory.drawer("packages", tuple(map(repr, words)), partial(tree_state, folder))


def stands_alone(outline: Outline) -> bool:
    """Whether what is said of a package depends on no file beside those below its folder."""
    folder, place = outline.path, outline.place
    if place is None:
        # The remedy of one that lies too deep depends on what lies around it.
        return not outline.deep
    # What lies beside one in a folder of its name, or in one of a division, is said of it too.
    inside = folder.parent.name.lower() in {folder.name.lower(), *DIVISIONS}
    return place.target is Target.ORGANISATION and place.path == folder and not inside
