"""Ctrl-C is noted while a log is read, and comes at once while the watch sleeps."""

from __future__ import annotations

import os
import signal

import pytest

from mlsub.commands.watch.outside import Interrupts

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("number", BOTH)
def test_it_waits_for_the_next_sleep(number: signal.Signals) -> None:
    with Interrupts(BOTH) as interrupts:
        os.kill(os.getpid(), number)
        assert interrupts.asked
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            raise AssertionError("no sleep for who was asked to end")


@pytest.mark.parametrize("number", BOTH)
def test_it_ends_a_sleep_at_once(number: signal.Signals) -> None:
    with Interrupts(BOTH) as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            os.kill(os.getpid(), number)
        assert interrupts.asked


def test_a_second_one_comes_at_once() -> None:
    with Interrupts(BOTH):
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_what_was_before_is_there_again() -> None:
    before = [signal.getsignal(one) for one in BOTH]
    with Interrupts(BOTH):
        assert [signal.getsignal(one) for one in BOTH] != before
    assert [signal.getsignal(one) for one in BOTH] == before
