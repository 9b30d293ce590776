"""mlsub in a real browser: the same answers as on the command line, and nothing asked of another place."""

from __future__ import annotations

import functools
import json
import re
import shutil
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mlsub.io import MlsubError
from tests.commands.site.browser import Opened, absent, chromium
from tools.app.build import PYODIDE, build
from tools.oracle.shared import ABSENT, present
from tools.support.corpus import CORPUS
from tools.support.effort import HUNG
from tools.support.make_tree import make_tree
from tools.support.runner import run

COMMANDS = ("check", "score", "review")
LARGEST = 50 << 20


def packages() -> list[str]:
    """Published packages that are not too large."""
    folders = [folder for folder in sorted(CORPUS.glob("*/*")) if folder.is_dir()] if present() else []
    sizes = {folder: sum(file.stat().st_size for file in folder.rglob("*")) for folder in folders}
    return [folder.relative_to(CORPUS).as_posix() for folder, size in sizes.items() if size <= LARGEST]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[Path], str]]:
    """Serves a folder, and returns its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, built."""
    if not PYODIDE.is_dir():
        absent("needs Pyodide: npm ci --prefix tests/commands/site/npm")
    folder = tmp_path_factory.mktemp("built") / "app"
    try:
        build(folder)
    except MlsubError as error:
        pytest.skip(f"the page cannot be built: {error}")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def opened(browser: Any, app: Path, serve: Callable[[Path], str]) -> Iterator[Opened]:
    with Opened(browser, serve(app), "index.html") as page:
        yield page


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """The folder of a round, with one organisation."""
    return make_tree(tmp_path, "v1.0", "ACME", ("resnet",)).folder.parent


@contextmanager
def answered(opened: Opened) -> Iterator[None]:
    """Wait until the page has answered what is asked within."""
    opened.page.locator("#stop[hidden]").wait_for(state="attached")
    before = int(opened.page.get_attribute("body", "data-answered") or 0)
    yield
    opened.page.locator(f"body[data-answered='{before + 1}']").wait_for(state="attached")


def drop(opened: Opened, path: Path, where: str = "#folder") -> str:
    """Choose a folder or a file, and return what the page says in the end."""
    with answered(opened):
        opened.page.set_input_files(where, path)
    return opened.page.inner_text("#status")


def saved(opened: Opened, command: str, ending: str = "json") -> str:
    """The answer of a command, as the page saves it."""
    opened.page.click(f"[data-command={command}]")
    with opened.page.expect_download() as download:
        opened.page.click(f"#save-{ending}")
    return Path(download.value.path()).read_text("utf-8")


def placed(text: str) -> Any:
    """An answer of the page without the place of what was dropped."""
    return json.loads(re.sub(r"(/unpacked)?/drop\d+", "", text))


def on_command_line(folder: Path, *asked: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The same of each command, called in the folder."""
    monkeypatch.chdir(folder.parent)
    texts = {command: run(command, folder.name, "--format", "json", *asked).stdout for command in COMMANDS}
    return {command: json.loads(text.replace(str(folder.parent), "")) for command, text in texts.items()}


@pytest.mark.product
@pytest.mark.parametrize("package", packages() or [pytest.param("", marks=pytest.mark.skip(reason=ABSENT))])
def test_a_published_package_has_the_same_answers(
    opened: Opened, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(CORPUS / package, tmp_path / package)
    folder = tmp_path / Path(package).parts[0]
    drop(opened, folder)
    found = {command: placed(saved(opened, command)) for command in COMMANDS}
    assert found == on_command_line(folder, monkeypatch=monkeypatch)


@pytest.mark.slow
def test_a_log_of_a_gigabyte_is_read_in_pieces(opened: Opened, acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = next(acme.rglob("result_0.txt"))
    first, rest = log.read_bytes().split(b"\n", 1)
    other = b"what a training prints beside its records, of which nobody asks anything\n" * (1 << 14)
    with log.open("wb") as stream:
        stream.write(first + b"\n")
        while stream.tell() < 1 << 30:
            stream.write(other)
        stream.write(rest)
    assert drop(opened, acme).startswith("check: accepted")
    found = {command: placed(saved(opened, command)) for command in COMMANDS}
    due = on_command_line(acme, monkeypatch=monkeypatch)
    log.unlink()
    assert found == due


def as_zip(folder: Path, file: Path) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
    return file


def as_tar(folder: Path, file: Path) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        archive.add(folder, f"./{folder.name}")
    return file


@pytest.mark.parametrize("pack", [as_zip, as_tar])
def test_an_archive_is_unpacked(
    opened: Opened, acme: Path, pack: Callable[[Path, Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pack(acme, acme.with_name("ours.zip" if pack is as_zip else "ours.tar.gz"))
    assert drop(opened, file, "#files").startswith("check: accepted; score: all entries accepted")
    found = {command: placed(saved(opened, command)) for command in COMMANDS}
    assert found == on_command_line(acme, monkeypatch=monkeypatch)


def test_the_page_of_an_answer_is_that_of_the_command(
    opened: Opened, acme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(opened, acme)
    monkeypatch.chdir(acme.parent)
    for command in COMMANDS:
        due = run(command, acme.name, "--format", "html").stdout.replace(str(acme.parent), "")
        assert re.sub(r"/drop\d+", "", saved(opened, command, "html")) == due
        opened.page.frame_locator("#document").locator("h1").wait_for()


def test_logs_alone_are_asked_about_in_the_round_that_is_chosen(opened: Opened, acme: Path) -> None:
    [log, *_] = sorted(acme.rglob("result_*.txt"))
    assert drop(opened, log, "#files").startswith("check: something could not be read or is missing; ")
    assert "--round" in opened.page.inner_text("#said")
    with answered(opened):
        opened.page.select_option("#round", "training 1.0")
    assert placed(saved(opened, "check"))["reports"][0]["round"] == "1.0"
    with answered(opened):
        opened.page.select_option("#round", "")


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("torn.zip", b"PK\x03\x04", "torn.zip cannot be unpacked: "),
        ("up.zip", "../up.txt", "'../up.txt' in up.zip: the path leads upwards (..)"),
    ],
)
def test_an_archive_that_is_refused_says_so(
    opened: Opened, tmp_path: Path, name: str, content: bytes | str, line: str
) -> None:
    if isinstance(content, str):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(content, "text")
    else:
        (tmp_path / name).write_bytes(content)
    assert drop(opened, tmp_path / name, "#files") == "Nothing was decided."
    assert opened.page.inner_text("#said").startswith(line)


def test_settings_that_a_browser_cannot_follow_are_named(opened: Opened, acme: Path) -> None:
    for text, said in [("jobs = 3", "no process can be started here"), ("job = 3", "jsonschema cannot be loaded")]:
        (acme / "mlsub.toml").write_text(text)
        assert drop(opened, acme).startswith("check: something could not be read or is missing")
        opened.page.click("[data-command=check]")
        assert said in opened.page.inner_text("#said")


def test_a_folder_is_dropped(opened: Opened, acme: Path) -> None:
    session = opened.context.new_cdp_session(opened.page)
    data = {"items": [], "files": [str(acme)], "dragOperationsMask": 1}
    with answered(opened):
        for kind in ("dragEnter", "dragOver", "drop"):
            session.send("Input.dispatchDragEvent", {"type": kind, "x": 200, "y": 200, "data": data})
    assert opened.page.inner_text("#status").startswith("check: accepted")


def test_what_takes_long_can_be_stopped(browser: Any, app: Path, acme: Path, serve: Callable[[Path], str]) -> None:
    with Opened(browser, serve(app), "index.html") as page:
        held: list[Any] = []
        page.context.route("**/python.zip", lambda route: held.append(route))
        page.page.reload()
        page.page.set_input_files("#folder", acme)
        page.page.locator("#stop").wait_for()
        until = time.monotonic() + HUNG
        while not held and time.monotonic() < until:
            page.page.wait_for_timeout(50)
        page.context.unroute("**/python.zip")
        page.page.click("#stop")
        assert (page.page.inner_text("#status"), len(held)) == ("Stopped.", 1)
        assert drop(page, acme).startswith("check: accepted")


def test_nothing_leaves_the_page(
    browser: Any, app: Path, acme: Path, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    elsewhere = f"{serve(tmp_path)}v1.0/ACME/systems/rack1.json"
    ask = "async (url) => fetch(url, {mode: 'no-cors'}).then(() => 'answered', () => 'refused')"
    for bypassed, due in ((False, "refused"), (True, "answered")):
        with Opened(browser, serve(app), "index.html", bypass_csp=bypassed) as page:
            assert drop(page, acme).startswith("check: accepted")
            assert (page.said, page.elsewhere) == ([], [])
            places = (page.page.main_frame, *page.page.workers)
            assert [place.evaluate(ask, elsewhere) for place in places] == [due] * 2


def test_it_works_by_keyboard_on_a_phone_in_light_and_dark(
    browser: Any, app: Path, acme: Path, serve: Callable[[Path], str]
) -> None:
    address = serve(app)
    for scheme in ("light", "dark"):
        with Opened(browser, address, "index.html", color_scheme=scheme, bypass_csp=True) as page:
            page.page.set_viewport_size({"width": 390, "height": 844})
            assert page.violations() == []
            drop(page, acme)
            page.page.locator("#folder").focus()
            stops = []
            for _ in range(8):
                page.page.keyboard.press("Tab")
                stops.append(page.page.evaluate("document.activeElement.id || document.activeElement.textContent"))
            assert stops[:7] == ["files", "round", "Check", "Score", "Review", "save-html", "save-json"]
            page.page.locator("[data-command=score]").focus()
            page.page.keyboard.press("Enter")
            page.page.frame_locator("#document").get_by_text("resnet").first.wait_for()
            assert page.page.locator("[data-command=score]").get_attribute("aria-pressed") == "true"
            assert page.violations() == []
            assert page.overflow() == 0
            page.screenshot(f"app/{scheme}")


def test_from_a_disk_it_says_what_it_needs(browser: Any, app: Path) -> None:
    with Opened(browser, app, "index.html") as page:
        assert "python3 -m http.server" in page.page.inner_text("#said")
