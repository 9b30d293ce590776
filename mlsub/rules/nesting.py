"""The sequence v0.6 asked for: epochs one after the other, blocks around them, each evaluation printed before the next.

Later rounds dropped it. A state machine does not fit into data, so the rule files only say which keys take part: with
``nested: true``, or ``nested: generation`` for minigo, whose epochs each save a model that is evaluated in turn.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

from mlsub.io.show import show
from mlsub.log.event import Event, clock

#: How far the time of minigo's result may lie behind that of the model it names, in s. The official checker meant the
#: distance, but a misplaced bracket lets any earlier time pass.
RESULT_TOLERANCE_S = 1.5e-3

#: What is expected, and what was found.
SequenceFlaw = tuple[str, str]


def _find_other(expected: str, found: Any, wanted: Any) -> Iterator[SequenceFlaw]:
    """Yield that a number is not the one that it has to be."""
    if found != wanted:
        yield expected, f"{show(found)}, not {show(wanted)}"


class EpochSequence:
    """Where a log stands in its sequence; :meth:`see` gives (what is expected, what was found) for each flaw."""

    def __init__(self) -> None:
        self.in_epoch = False
        self.last_epoch: Any = 0
        self.in_evaluation = False
        self.last_evaluation: Any = 0
        self.printed = True
        self.in_block = False
        self.block_first: Any = -1
        self.saved = True
        self.saves = array("d")
        self.run_start: float | None = None

    def see(self, event: Event, way: str) -> list[SequenceFlaw]:
        """The flaws of one record; ``way`` is what the rule says: "true" or "generation"."""
        handler: Callable[[Event, bool], Iterator[SequenceFlaw]] | None = getattr(self, f"_on_{event.key}", None)
        if handler is None:
            return []
        try:
            return list(handler(event, way == "generation"))
        except Exception:
            return [("metadata that says which epoch it is about", show(event.metadata))]

    def _on_run_start(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        self.run_start = clock(event)
        yield from ()

    def _on_run_stop(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        if self.in_evaluation:
            yield "after eval_stop of the last evaluation", f"inside evaluation {show(self.last_evaluation)}"

    def _on_epoch_start(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        number = event.metadata["epoch_num"]
        if self.in_epoch:
            yield "after epoch_stop of the epoch before", f"inside epoch {show(self.last_epoch)}"
        if number != self.last_epoch + 1:
            yield "epoch_num one above that of the epoch before", f"{show(number)} after {show(self.last_epoch)}"
        self.in_epoch, self.last_epoch, self.saved = True, number, False

    def _on_epoch_stop(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        number = event.metadata["epoch_num"]
        if not self.in_epoch:
            yield "after its epoch_start", "outside any epoch"
        yield from _find_other("the epoch_num of its epoch_start", number, self.last_epoch)
        self.in_epoch = False

    def _on_eval_start(self, event: Event, generation: bool) -> Iterator[SequenceFlaw]:
        number = event.metadata["epoch_num"]
        if self.in_evaluation:
            yield "after eval_stop of the evaluation before", f"inside evaluation {show(self.last_evaluation)}"
        if generation:
            if number != self.last_evaluation + 1:
                yield "epoch_num one above that of the evaluation before", show(number)
        elif not number > self.last_evaluation:
            yield "epoch_num above that of the evaluation before", f"{show(number)} after {show(self.last_evaluation)}"
        if not self.printed:
            yield "after eval_accuracy of the evaluation before", "that evaluation logged none"
        if not number <= self.last_epoch:
            yield "epoch_num of an epoch that has begun", f"{show(number)}, the last epoch is {show(self.last_epoch)}"
        self.in_evaluation, self.printed, self.last_evaluation = True, False, number

    def _on_eval_stop(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        number = event.metadata["epoch_num"]
        if not self.in_evaluation:
            yield "after its eval_start", "outside any evaluation"
        yield from _find_other("the epoch_num of its eval_start", number, self.last_evaluation)
        self.in_evaluation = False

    def _on_eval_accuracy(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        number = event.metadata["epoch_num"]
        yield from _find_other("the epoch_num of the last eval_start", number, self.last_evaluation)
        self.printed = True

    def _on_block_start(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        first = event.metadata["first_epoch_num"]
        if self.in_block:
            yield "after block_stop of the block before", f"inside the block from epoch {show(self.block_first)}"
        wanted = self.last_evaluation if self.in_epoch else self.last_epoch + 1
        place = "that of the last evaluation, inside an epoch" if self.in_epoch else "that of the next epoch"
        yield from _find_other(f"first_epoch_num {place}", first, wanted)
        self.in_block, self.printed, self.block_first = True, True, first

    def _on_block_stop(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        first = event.metadata["first_epoch_num"]
        if not self.in_block:
            yield "after its block_start", "outside any block"
        if not self.printed:
            yield "after eval_accuracy of the last evaluation", "that evaluation logged none"
        yield from _find_other("the first_epoch_num of its block_start", first, self.block_first)
        self.in_block = False

    def _on_save_model(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        number = event.value["iteration"]
        if not self.in_epoch:
            yield "inside an epoch", "outside any epoch"
        yield from _find_other("the iteration of its epoch", number, self.last_epoch)
        if self.saved:
            yield "one model an epoch", "a second model of one epoch"
        self.saved = True
        self.saves.append(clock(event))

    def _on_eval_result(self, event: Event, _: bool) -> Iterator[SequenceFlaw]:
        number, time = event.metadata["iteration"], event.metadata["timestamp"]
        if self.run_start is None:
            yield "after run_start", "before any run_start"
            return
        took = self.saves[number - 1] - self.run_start
        if not time - took < RESULT_TOLERANCE_S:
            words = "no later than the model was saved, in seconds after run_start"
            yield words, f"{show(time)}, the model is of {took:g}"
        if not number <= self.last_evaluation:
            yield "an iteration that was evaluated", f"{show(number)}, the last is {show(self.last_evaluation)}"
