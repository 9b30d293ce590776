"""Look at the packages to merge, and at the place the result is to have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlsub.commands.merge.model import Source
from mlsub.io.errors import MlsubError
from mlsub.rounds import Round, get_round
from mlsub.submission.layout.walk import list_tree
from mlsub.submission.locate import Target, infer_round, locate


def read_sources(paths: Sequence[str]) -> list[Source]:
    """The packages.

    Raises:
        MlsubError: fewer than two, one is named twice, is not an organisation, or cannot be read whole.
    """
    if len(paths) < 2:
        raise MlsubError("a merge needs two packages or more")
    sources: list[Source] = []
    for path in paths:
        place = locate(Path(path))
        if place.target is not Target.ORGANISATION or place.organisation is None:
            raise MlsubError(f"{path} is not an organisation's tree: it has neither results/ nor systems/")
        folder = place.organisation
        twin = next((source for source in sources if source.folder.samefile(folder)), None)
        if twin is not None:
            raise MlsubError(f"{twin.path} and {path} are the same folder")
        listing = list_tree(folder)
        closed = (*listing.closed, *listing.unread)
        if closed or listing.cut:
            what = listing.cut or f"{closed[0]} cannot be read"
            raise MlsubError(f"{path} cannot be listed whole: {what}")
        sources.append(Source(path, folder, listing))
    return sources


def round_of(sources: Sequence[Source], round_: str | None, usage: str | None) -> Round:
    """The one round of all packages: as asked, or as read off the folders above them.

    Raises:
        MlsubError: there is none, or they are of several.
    """
    inferred = {(found.usage, found.round) for s in sources if (found := infer_round(locate(s.folder)))}
    if round_ is None and len(inferred) > 1:
        named = " and ".join(f"{usage} v{name}" for usage, name in sorted(inferred))
        raise MlsubError(f"the packages lie under several rounds, {named}; say --round")
    if round_ is None and not inferred:
        raise MlsubError("no folder above the packages is named like a round; say --round")
    of, name = next(iter(inferred), ("training", ""))
    return get_round(usage or of, round_ or name)


def check_place(output: Path, sources: Sequence[Source], *, force: bool) -> None:
    """Find out what would keep the result from its place.

    Raises:
        MlsubError: it has another name than the organisation, lies in a package or around one, or is there.
    """
    name = sources[0].folder.name
    place = output.absolute()
    try:
        real = place.resolve()
        if place.name != name:
            raise MlsubError(f"{output} is to be the organisation's folder; name it {output / name}")
        for source in sources:
            folder = source.folder.resolve()
            if real == folder or folder in real.parents or real in folder.parents:
                raise MlsubError(f"{output} and {source.path} lie in each other; name another place")
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise MlsubError(f"{output} is not a folder of its own; name another place")
        if place.exists() and not force:
            raise MlsubError(f"{output} exists; add --force to replace it")
        if place.exists() and locate(place).target is not Target.ORGANISATION and any(place.iterdir()):
            raise MlsubError(f"{output} is not an organisation's tree, so it is not replaced; name another place")
    except (OSError, ValueError, RuntimeError) as error:
        raise MlsubError(f"{output} cannot be used: {error}") from error
