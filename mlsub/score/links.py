"""Where a published result lies on GitHub."""

from __future__ import annotations

from urllib.parse import quote

#: The repository of a round's results, by usage; other usages are not published.
_REPOSITORIES = {
    "training": "https://github.com/mlcommons/training_results_v{round}",
    "hpc": "https://github.com/mlcommons/hpc_results_v{round}",
}
_BRANCH = "main"


def details_url(usage: str, round_: str, organisation: str, system: str) -> str | None:
    """The address of a system description; None for a usage that is not published.

    Args:
        usage: such as ``training``.
        round_: such as ``5.1``.
        organisation: name of the organisation's folder, which is what exists; the description may call it otherwise.
        system: name of the system's folder.
    """
    return _url(usage, round_, organisation, "systems", f"{system}.json")


def code_url(usage: str, round_: str, organisation: str) -> str | None:
    """The address of an organisation's code; the arguments are those of :func:`details_url`."""
    return _url(usage, round_, organisation, "benchmarks")


def _url(usage: str, round_: str, *parts: str) -> str | None:
    repository = _REPOSITORIES.get(usage)
    if repository is None:
        return None
    # The bytes of the name, also where they are no UTF-8.
    path = "/".join(quote(part.encode("utf-8", "surrogatepass"), safe="") for part in parts)
    return f"{repository.format(round=quote(round_, safe=''))}/blob/{_BRANCH}/{path}"
