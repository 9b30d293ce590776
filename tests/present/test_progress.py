"""The progress of a long work: on a terminal only, on standard error, and not for a moment's work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from mlsub.present import terminal
from mlsub.present.terminal import busy, part_of, progress_bar
from tools.support.runner import Stream


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """What the clock says."""
    now = [0.0]
    monkeypatch.setattr(terminal, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    yield now


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Stream:
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_a_moment_shows_nothing(seconds: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = on_terminal(monkeypatch)
    with progress_bar() as progress:
        assert progress is not None
        for done in range(100):
            seconds[0] += 0.009
            progress(done + 1, 100)
    assert stderr.getvalue() == ""


def test_what_takes_longer_shows_how_far_it_is_and_leaves_nothing(
    seconds: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr = on_terminal(monkeypatch)
    with progress_bar("sealing") as progress:
        assert progress is not None
        seconds[0] = 1.5
        progress(1, 4)
        shown = stderr.getvalue()
        assert "sealing" in shown and "25%" in shown
        progress(2, 4)  # At once: not drawn for every step.
        assert "50%" not in stderr.getvalue()
        seconds[0] = 1.7
        progress(3, 4)
        assert "75%" in stderr.getvalue()
    assert stderr.getvalue().endswith("\x1b[2K")  # The line is cleared.


def test_a_caller_that_is_no_terminal_hears_of_it() -> None:
    """Such as the page that runs in a browser."""
    heard: list[tuple[int, int]] = []

    class Told(terminal.ProgressBar):
        def __call__(self, done: int, total: int) -> None:
            heard.append((done, total))

    @click.command()
    def work() -> None:
        with progress_bar() as progress:
            assert progress is not None
            progress(1, 2)

    work.main([], standalone_mode=False, obj=Told("reading"))
    assert heard == [(1, 2)]


@pytest.mark.parametrize(("is_terminal", "term"), [(False, "xterm"), (True, "dumb")])
def test_nothing_moves_elsewhere(is_terminal: bool, term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("FORCE_COLOR", "1")  # Asks for colours, not for what moves.
    with progress_bar() as progress, busy("drawing"):
        assert progress is None
    assert stream.getvalue() == ""


def test_one_of_several_works() -> None:
    seen: list[float] = []
    for number in range(4):
        progress = part_of(lambda done, total: seen.append(done / total), number, 4)
        assert progress is not None
        progress(5, 10)
    assert seen == [0.125, 0.375, 0.625, 0.875]
    assert part_of(None, 1, 2) is None


def test_busy_shows_what_goes_on_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = on_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "xterm")
    with busy("drawing"):
        pass
    assert "drawing" in stderr.getvalue() and stderr.getvalue().endswith("\x1b[2K")


def test_nothing_is_loaded_for_it_before_it_shows() -> None:
    script = (
        "import sys\nfrom mlsub.present.terminal import progress_bar\nsys.stderr.isatty = lambda: True\n"
        "with progress_bar() as progress:\n    progress(1, 2)\n"
        "assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_bar_that_is_hidden_comes_back_with_the_next_step(
    seconds: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr = on_terminal(monkeypatch)
    with progress_bar() as progress:
        assert progress is not None
        progress.hide()
        seconds[0] = 1.5
        progress(1, 4)
        progress.hide()
        assert stderr.getvalue().endswith("\x1b[2K")
        # What is printed now goes where it should, not through the bar's console.
        assert type(sys.stdout).__name__ != "FileProxy"
        seconds[0] = 1.7
        progress(3, 4)
        assert "75%" in stderr.getvalue()
    assert stderr.getvalue().endswith("\x1b[2K")
