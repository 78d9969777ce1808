// Bundles src/ into ../src/sottovoce/studio/static/. Run with `npm ci && npm run build`.
// --watch rebuilds on every change, without minifying; --verify builds in memory and compares with what is there.
import { context, build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const out = "../src/sottovoce/studio/static";
const bundled = [
  "uplot",
  "d3-color",
  "d3-dispatch",
  "d3-force",
  "d3-format",
  "d3-interpolate",
  "d3-quadtree",
  "d3-scale-chromatic",
  "d3-timer",
];
const watch = process.argv.includes("--watch");
const verify = process.argv.includes("--verify");
const options = {
  entryPoints: { studio: "src/main.js", style: "src/style.css", dark: "src/dark.css" },
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: !watch,
  legalComments: "none", // the licences are in LICENSES.txt, whole
  outdir: out,
};

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

async function licences() {
  const parts = ["The studio's page contains these packages, built into studio.js and style.css.\n"];
  for (const name of bundled) {
    const { version } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const text = await readFile(`node_modules/${name}/LICENSE`, "utf8");
    parts.push(`${"-".repeat(80)}\n${name} ${version}\n\n${text.trim()}\n`);
  }
  return parts.join("\n");
}

/** Packages that are in the bundle must be those whose licences are given. */
function checkLicences(metafile) {
  const found = new Set(
    Object.keys(metafile.inputs)
      .map((name) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1])
      .filter(Boolean),
  );
  const wrong = [...found, ...bundled].filter((name) => !found.has(name) || !bundled.includes(name));
  if (wrong.length) throw new Error(`the list of bundled packages is wrong about ${[...new Set(wrong)].join(", ")}`);
}

/** Digest of the sources that were built, so that a test can tell when somebody forgot to. */
async function sources() {
  const hash = createHash("sha256");
  const names = (await readdir("src")).sort().map((name) => `src/${name}`);
  for (const name of [...names, "package-lock.json"]) hash.update(await readFile(name));
  return hash.digest("hex");
}

/** Everything that is served: name → bytes; build.sha256 names the digest of each and of the sources. */
async function files() {
  const { outputFiles, metafile } = await build({ ...options, write: false, metafile: true });
  checkLicences(metafile);
  const made = new Map(outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]));
  for (const name of ["index.html", "icon.svg"]) made.set(name, await readFile(`src/${name}`));
  made.set("LICENSES.txt", Buffer.from(await licences()));
  const lines = [...made.keys()].sort().map((name) => `${sha256(made.get(name))}  ${name}\n`);
  made.set("build.sha256", Buffer.from(`${await sources()}  studio-web\n${lines.join("")}`));
  return made;
}

async function differences(made) {
  const wrong = [];
  for (const [name, bytes] of made) {
    const there = await readFile(`${out}/${name}`).catch(() => null);
    if (!there?.equals(bytes)) wrong.push(name);
  }
  const extra = (await readdir(out)).filter((name) => !made.has(name));
  return [...wrong, ...extra];
}

if (verify) {
  const wrong = await differences(await files());
  if (wrong.length) {
    console.error(`not what these sources build: ${wrong.join(", ")}; run npm run build`);
    process.exit(1);
  }
  console.log("the served files are what these sources build, bit for bit");
} else {
  const made = await files();
  await mkdir(out, { recursive: true });
  for (const name of await readdir(out)) if (!made.has(name)) await rm(`${out}/${name}`);
  for (const [name, bytes] of made) await writeFile(`${out}/${name}`, bytes);
  if (watch) await (await context(options)).watch();
}
