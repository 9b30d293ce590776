"""Attack what reads foreign bytes: ``python -m tests.campaigns.fuzz``; see docs/reliability.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from tests.campaigns.fuzz.campaign import Budget, Campaign, forked, guided_turn, own_turn
from tests.campaigns.fuzz.finding import Failure, Finding
from tests.campaigns.fuzz.guard import Desk, EngineError, Fork, failure_of
from tests.campaigns.fuzz.harness import Harness, harnesses
from tests.campaigns.fuzz.report import print_finding, table
from tests.campaigns.fuzz.search import Search
from tests.campaigns.fuzz.state import State, StateError
from tests.campaigns.fuzz.turn import Turn, seeds_of


def main(words: Sequence[str]) -> int:
    """Do what the words say: the exit status is 1 where a finding is open, 2 where something could not be run."""
    given = list(words)
    if given and given[0] in harnesses():
        given.insert(0, "try")
    elif not given or (given[0].startswith("--") and given[0] != "--help"):
        given.insert(0, "run")
    options = _parser().parse_args(given)
    try:
        return int(options.work(options))
    except (StateError, EngineError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.fuzz", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    known = tuple(harnesses())

    def command(name: str, work: object, help_: str) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=help_)
        found.set_defaults(work=work)
        found.add_argument("--state", type=Path, default=Path("build/fuzz"), help="folder of the progress")
        found.add_argument("--seed", default="0", help="another seed makes other inputs")
        return found

    run = command("run", _run, "attack, and go on where it was stopped (the default)")
    budget = run.add_mutually_exclusive_group()
    budget.add_argument("--seconds", type=float, help="how long, from now on (default: 600)")
    budget.add_argument("--inputs", type=int, help="how many, with those that the progress counts")
    run.add_argument("--only", action="append", choices=known, metavar="NAME", help="this harness; may be repeated")
    engines = ("own", "atheris") if find_spec("atheris") else ("own",)
    run.add_argument("--engine", choices=engines, default="own", help="how to search: own, or atheris where installed")
    run.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    replay = command("replay", _replay, "run inputs again: a file, or all open findings")
    replay.add_argument("name", nargs="?", choices=known, metavar="NAME")
    replay.add_argument("file", nargs="?", type=Path, metavar="FILE")
    try_ = command("try", _try, "draw inputs in this process, up to the first finding")
    try_.add_argument("name", choices=known, metavar="NAME")
    try_.add_argument("inputs", type=int, nargs="?", default=1000, metavar="INPUTS")
    try_.add_argument("text", nargs="?", default="1", metavar="SEED")
    command("table", _table, "print what was run, as Markdown")
    return parser


def _run(options: argparse.Namespace) -> int:
    chosen = [harness for harness in harnesses().values() if not options.only or harness.name in options.only]
    if options.jobs < 1 or not chosen:
        print("nothing to do", file=sys.stderr)
        return 2
    state = State(options.state, options.seed)
    seconds = 600.0 if options.seconds is None and options.inputs is None else options.seconds
    with state.locked():
        _replay_open(chosen, state)
        work = guided_turn if options.engine == "atheris" else own_turn
        campaign = Campaign(chosen, state, Budget(seconds, options.inputs), options.jobs, work)
        before = sum(progress.total for progress in campaign.progress.values())
        print(
            f"{len(chosen)} harnesses, seed {options.seed}; {before} inputs counted before in {state.folder}",
            flush=True,
        )
        begun = time.monotonic()
        campaign.run()
    total = sum(progress.total for progress in campaign.progress.values())
    found = [finding for progress in campaign.progress.values() for finding in progress.findings]
    if campaign.stopped:
        print("stopped; the same command goes on from here")
    print(f"{total - before} inputs in {time.monotonic() - begun:.0f} s, {total} in all, {len(found)} findings open")
    if campaign.broken:
        print(f"could not be run: {', '.join(campaign.broken)}", file=sys.stderr)
        return 2
    return 1 if found else 0


def _replay_open(chosen: Sequence[Harness], state: State) -> None:
    """Run the inputs of open findings again, each harness in a process of its own, and forget those that are fixed."""
    for harness in chosen:
        if state.load(harness.name).findings:
            os.waitpid(forked(lambda harness=harness: Turn(harness, state).replay()), 0)


def _replay(options: argparse.Namespace) -> int:
    state = State(options.state, options.seed)
    if options.file is None:
        chosen = [harnesses()[options.name]] if options.name else list(harnesses().values())
        with state.locked():
            _replay_open(chosen, state)
        found = [(harness, finding) for harness in chosen for finding in state.load(harness.name).findings]
        for harness, finding in found:
            print_finding(harness, finding, state.file_of(harness.name, finding))
        print(f"{len(found)} findings open")
        return 1 if found else 0
    harness = harnesses()[options.name]
    try:
        data = options.file.read_bytes()
    except OSError as error:
        print(f"{options.file} cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    failure = Fork(harness, Desk(len(data))).failure(data)
    if failure is None:
        print(f"{harness.name}: {options.file} passes")
        return 0
    print_finding(harness, Finding(failure, data, 0, options.seed), options.file)
    return 1


def _try(options: argparse.Namespace) -> int:
    harness = harnesses()[options.name]
    search = Search(harness, options.text, seeds_of(harness))
    fork = Fork(harness, Desk(max([harness.longest, *map(len, search.seeds)])))

    def work() -> bytes:
        begun = time.process_time()
        for number in range(options.inputs):
            data, _ = search.draw(number)
            fork.desk.put(number, data)
            failure = failure_of(harness, data)
            if failure is not None:
                return msgspec.json.encode(failure)
        return b"%.0f" % (options.inputs / (time.process_time() - begun))

    ended = fork.run(work)
    failed = ended.failure if ended.answer is None else msgspec.json.decode(ended.answer, type=Failure | int)
    if isinstance(failed, int):
        print(f"{options.inputs} inputs, {failed} a second of CPU time")
        return 0
    assert failed is not None
    file = options.state / "tried" / f"{harness.name}.bin"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(fork.desk.data)
    print_finding(harness, Finding(failed, fork.desk.data, fork.desk.number, options.text), file)
    return 1


def _table(options: argparse.Namespace) -> int:
    print(table(State(options.state, options.seed)))
    return 0


if __name__ == "__main__":
    if "PYTHONHASHSEED" not in os.environ:  # the order of sets would make other inputs of the same seed
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.campaigns.fuzz", *sys.argv[1:]])  # noqa: S606
    sys.exit(main(sys.argv[1:]))
