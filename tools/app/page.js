// The page: takes files, hands them to the thread that works, shows what that answers, and saves it.
"use strict";

const byId = (id) => document.getElementById(id);
const WORDS = {
  check: ["accepted", "rejected"],
  score: ["all entries accepted", "an entry or the package rejected"],
  review: ["nothing to ask", "something to ask"],
};
const NO_PYTHON = "Python could not be started here: the folder of this page is not whole, or the browser is older than 2024.";
let worker;
let files = [];
let answers = {};
let shown = "check";
let asked = 0;

// A worker made of a blob keeps the policy of this page, so that it asks no other place either.
function start() {
  const script = `import ${JSON.stringify(new URL("worker.js", document.baseURI).href)};`;
  const place = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  worker = new Worker(place, { type: "module" });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = () => {
    worker = undefined;
    fail(NO_PYTHON);
  };
}

function say(text) {
  byId("status").textContent = text;
}

function busy(isBusy) {
  byId("progress").hidden = byId("stop").hidden = !isBusy;
  byId("save-json").disabled = isBusy;
  document.body.dataset.answered = isBusy ? "" : asked;
}

function fail(text) {
  busy(false);
  say("Nothing was decided.");
  byId("said").textContent = text;
  byId("said").hidden = false;
}

function hear(data) {
  if (data.failed) fail(data.failed);
  else if (data.html) show(data.html);
  else if (data.json?.text) save(data.json.text, data.json.command, "json", "application/json");
  else if (data.json) fail(data.json.said);
  else if (data.done === true) finish();
  else {
    const [what, unit] = data.command === "unpack" ? ["Unpacking", "bytes"] : [`Reading for ${data.command}`, "logs"];
    byId("progress").max = data.total;
    byId("progress").value = data.done;
    say(`${what}: ${data.done.toLocaleString("en")} of ${data.total.toLocaleString("en")} ${unit}`);
  }
}

function verdict({ command, status }) {
  return `${command}: ${WORDS[command][status] ?? "something could not be read or is missing"}`;
}

function show(answer) {
  answers[answer.command] = answer;
  byId("answers").hidden = false;
  if (answer.command === shown) choose(shown);
  say(`${verdict(answer)} …`);
}

function finish() {
  busy(false);
  say(`${Object.values(answers).map(verdict).join("; ")}.`);
}

// Shows one of the answers, as far as it is there.
function choose(command) {
  shown = command;
  for (const button of byId("choose").children) {
    button.setAttribute("aria-pressed", String(button.dataset.command === command));
  }
  const { text = "", said = "" } = answers[command] ?? {};
  // A frame that was hidden when it got a document may stay blank, so each has a new one.
  const frame = byId("document").cloneNode();
  frame.srcdoc = text;
  frame.title = `The answer of ${command}`;
  byId("document").replaceWith(frame);
  byId("said").textContent = said;
  byId("said").hidden = !said;
}

function save(text, command, ending, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = `${command}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function ask(chosen) {
  if (!worker || !chosen.length) return fail(worker ? "There is no file in it." : NO_PYTHON);
  if (!byId("stop").hidden) stop();
  asked += 1;
  files = chosen;
  answers = {};
  shown = "check";
  byId("answers").hidden = byId("said").hidden = true;
  busy(true);
  byId("progress").removeAttribute("value");
  say("Starting …");
  const [usage, round] = byId("round").value.split(" ");
  worker.postMessage({ files, options: usage ? ["--usage", usage, "--round", round] : [] });
}

function stop() {
  worker.terminate();
  start();
  busy(false);
  say("Stopped.");
}

// Every file below what was dropped, with its path.
async function walk(entry, above = "") {
  const path = above + entry.name;
  if (entry.isFile) return [{ path, file: await new Promise((good, bad) => entry.file(good, bad)) }];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // It gives a hundred at a time.
    const some = await new Promise((good, bad) => reader.readEntries(good, bad));
    if (!some.length) return found;
    for (const child of some) found.push(...(await walk(child, `${path}/`)));
  }
}

async function drop(event) {
  event.preventDefault();
  document.body.classList.remove("over");
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const loose = [...event.dataTransfer.files].map((file) => ({ path: file.name, file }));
  try {
    ask(entries.length ? (await Promise.all(entries.map((entry) => walk(entry)))).flat() : loose);
  } catch (error) {
    fail(`It cannot be read: ${error.message}`);
  }
}

function listen() {
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("over");
  });
  document.addEventListener("drop", drop);
  for (const id of ["folder", "files"]) {
    byId(id).addEventListener("change", ({ target }) => {
      if (target.files.length) ask([...target.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    });
  }
  byId("round").addEventListener("change", () => files.length && ask(files));
  byId("choose").addEventListener("click", ({ target }) => target.dataset.command && choose(target.dataset.command));
  byId("save-html").addEventListener("click", () => save(answers[shown]?.text ?? "", shown, "html", "text/html"));
  byId("save-json").addEventListener("click", () => worker.postMessage({ command: shown }));
  byId("stop").addEventListener("click", stop);
}

if (location.protocol === "file:") {
  fail("A browser starts Python only from a server: python3 -m http.server --bind 127.0.0.1 -d FOLDER, for the folder of this page.");
} else {
  listen();
  start();
}
