"""Reference convergence points: what the reference implementation needed at each batch size."""

from __future__ import annotations

import importlib.util
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mlsub.convergence.algorithm import Algorithm, traits_of
from mlsub.convergence.statistics import least_accepted_mean, mean_of, stdev_of, threshold_of, trimmed
from mlsub.io.data import loads
from mlsub.io.errors import MlsubError
from mlsub.log.reading import usable_number

#: Reference files are below a megabyte.
MAX_BYTES = 16 << 20
EPOCHS, SAMPLES = "Epochs to converge", "samples to converge"
#: The reference points of the rehearsal.
REHEARSAL = Path(__file__).parent / "rehearsal"


class ReferenceRuns(NamedTuple):
    """The runs of the reference at a batch size: where each converged, in order; ``name`` is that of their record."""

    name: str
    batch_size: float
    values: tuple[float, ...]


class Point(msgspec.Struct, frozen=True):
    """One reference convergence point: mean and stdev of the runs at a batch size, in the benchmark's unit.

    ``minimum`` is the least accepted mean by which points are pruned; ``runs`` counts the runs behind it, 0 where it is
    interpolated.
    """

    batch_size: float
    mean: float
    stdev: float
    minimum: float
    runs: int

    def accepted_from(self, earlier: float = 0) -> float:
        """The least mean of a submission that is accepted, where the round lets it be ``earlier`` by so much."""
        return threshold_of(self.mean, self.minimum - earlier)


def points_name(benchmark: str) -> str:
    """The name under which a record of a benchmark has its points."""
    return traits_of(benchmark).points


def reference_file(usage: str, ruleset: str, benchmark: str) -> Path | None:
    """The reference data of a benchmark; None where there is none.

    The rehearsal has its own, made of real runs; all others are those that the installed mlperf-logging carries.
    """
    if usage == "rehearsal":
        file = REHEARSAL / f"rcps_{benchmark}.json"
        return file if file.is_file() else None
    return _installed_files(f"{usage}_{ruleset}").get(f"rcps_{benchmark}.json")


@cache
def _installed_files(name: str) -> dict[str, Path]:
    """The reference data of a round by their names."""
    found = [file for folder in _installed() for file in (folder / "rcp_checker" / name).glob("rcps_*.json")]
    return {file.name: file for file in reversed(found) if file.is_file()}


@cache
def _installed() -> tuple[Path, ...]:
    """The folders of the installed mlperf-logging, which is looked for without being imported."""
    found = importlib.util.find_spec("mlperf_logging")
    return tuple(map(Path, found.submodule_search_locations or ())) if found else ()


@lru_cache(maxsize=64)
def benchmark_in(file: Path) -> str | None:
    """The benchmark that a reference file says it is for; None where its records name none, or several.

    Raises:
        MlsubError: the file is none of this format.
    """
    found = [record.get("Benchmark") if isinstance(record, dict) else None for record in _records(file).values()]
    named = {name if isinstance(name, str) else None for name in found}
    return named.pop() if len(named) == 1 else None


@lru_cache(maxsize=64)
def points_of(file: Path, benchmark: str, runs: int, algorithm: Algorithm) -> tuple[Point, ...]:
    """The points of a reference file, by batch size.

    Args:
        file: JSON in the format of mlperf-logging: records by name, each with BS and a list of epochs or samples.
        benchmark: decides how many runs are trimmed.
        runs: result files of a submission's entry.
        algorithm: that of the round.

    Raises:
        MlsubError: the file is none of this format.
    """
    found = [point_of(one, benchmark, runs, algorithm) for one in runs_of(file)]
    if not found:
        raise MlsubError(f"{file.name}: no reference points")
    return tuple(sorted(found, key=lambda point: point.batch_size))


@lru_cache(maxsize=64)
def runs_of(file: Path) -> tuple[ReferenceRuns, ...]:
    """The reference's own runs, a record after the other.

    Raises:
        MlsubError: the file is none of this format.
    """
    return tuple(_runs(name, record) for name, record in _records(file).items())


def point_of(reference: ReferenceRuns, benchmark: str, runs: int, algorithm: Algorithm) -> Point:
    """The point that runs of the reference make; see :func:`points_of`.

    Raises:
        MlsubError: they are too few.
    """
    name, batch_size, values = reference
    cut = trimmed(values, benchmark)
    if not cut:
        raise MlsubError(f"{name[:60]}: {len(values)} runs are too few")
    mean = mean_of(cut)
    stdev = stdev_of(cut if algorithm.stdev == "trimmed" else values)
    return Point(batch_size, mean, stdev, least_accepted_mean(mean, stdev, len(cut), runs - 2), len(values))


def _records(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise MlsubError(f"{file.name}: larger than {MAX_BYTES >> 20} MiB")
        content = loads(file.read_bytes())
    except OSError as error:
        raise MlsubError(f"{file.name}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, MlsubError):
            raise
        raise MlsubError(f"{file.name}: not JSON") from error
    if not isinstance(content, dict):
        raise MlsubError(f"{file.name}: an object of reference points is needed")
    return content


def _runs(name: str, record: Any) -> ReferenceRuns:
    if not isinstance(record, dict) or usable_number(record.get("BS")) is None:
        raise MlsubError(f"{name[:60]}: no batch size (BS)")
    wanted = points_name(str(record.get("Benchmark")))
    values = record.get(wanted)
    if not isinstance(values, list) or not all(usable_number(value) is not None for value in values):
        raise MlsubError(f"{name[:60]}: no list of numbers under {wanted!r}")
    return ReferenceRuns(name, record["BS"], tuple(sorted(values)))
