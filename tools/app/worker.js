// The thread that works: Python with mlsub, and the files where Python sees them. The page stays alive meanwhile.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const COMMANDS = ["check", "score", "review"];
let drops = 0;
let opened;

const ready = (async () => {
  const here = (name) => new URL(name, import.meta.url).href;
  const [python, parts] = await Promise.all([
    loadPyodide({
      indexURL: here("pyodide/"),
      env: { HOME: "/home", XDG_CACHE_HOME: "/cache", NO_COLOR: "1" },
    }),
    fetch(here("python.zip")).then((answer) => answer.arrayBuffer()),
  ]);
  python.unpackArchive(parts, "zip", { extractDir: "/lib/app" });
  python.pyimport("sys").path.append("/lib/app");
  return [python.FS, python.pyimport("inside")];
})();

// Files stay where they are, and are read in pieces. What is dropped twice has two places, so that nothing is mixed up.
function mount(FS, files) {
  if (opened) FS.unmount(`/drop${drops}`);
  opened = undefined;
  drops += 1;
  const place = `/drop${drops}`;
  FS.mkdir(place);
  FS.mount(FS.filesystems.WORKERFS, { blobs: files.map(({ path, file }) => ({ name: path, data: file })) }, place);
  settle(FS, FS.lookupPath(place).node);
  return place;
}

// Rights of which no finding speaks, for a browser tells none, and times: it tells those of files alone.
function settle(FS, node) {
  const folder = FS.isDir(node.mode);
  node.mode &= ~0o022;
  node.mtime = node.ctime = folder ? 0 : node.contents.lastModified;
  if (folder) Object.values(node.contents).forEach((child) => settle(FS, child));
}

function answer(inside, command, format) {
  const { folder, paths, options } = opened;
  const heard = (done, total) => postMessage({ command, done, total });
  const found = inside.answer(command, format, folder, paths, options, heard);
  const [status, text, said] = found.toJs();
  found.destroy();
  return { command, status, text, said };
}

onmessage = async ({ data }) => {
  try {
    const [FS, inside] = await ready;
    if (data.files) {
      const place = mount(FS, data.files);
      const found = inside.open_dropped(place, (done, total) => postMessage({ command: "unpack", done, total }));
      const [folder, paths, refused] = found.toJs();
      found.destroy();
      if (refused) return postMessage({ failed: refused });
      opened = { folder, paths, options: data.options };
      for (const command of COMMANDS) postMessage({ html: answer(inside, command, "html") });
      postMessage({ done: true });
    } else {
      postMessage({ json: answer(inside, data.command, "json") });
    }
  } catch (error) {
    postMessage({ failed: error.message ?? String(error) });
  }
};
