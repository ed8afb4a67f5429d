// SPDX-License-Identifier: Apache-2.0

/** Build the page into climate/web/static/ (or the folder given), the same bytes each time. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, '..', 'climate', 'web', 'static');

const { outputFiles, metafile } = await build({
  absWorkingDir: here, entryPoints: { app: 'src/main.tsx', style: 'src/app.css' }, bundle: true,
  minify: true, write: false, metafile: true, outdir: 'out', format: 'esm',
  // What is opened later is in files of its own; names have a hash of the content.
  splitting: true, entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]',
  target: ['chrome115', 'firefox115', 'safari16.4'],
  jsx: 'automatic', jsxImportSource: 'preact', charset: 'utf8', legalComments: 'none',
  // The committed lock file decides the versions, and nothing of the machine gets in.
  preserveSymlinks: true, logLevel: 'warning',
});

const files = new Map(outputFiles.map((file) => [basename(file.path), file.text]));
/** Return the name of the file that is built of a source. */
const builtOf = (source) => basename(
  Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source)[0]);
const [script, style] = [builtOf('src/main.tsx'), builtOf('src/app.css')];
const icon = readFileSync(join(here, 'src/icon.svg'), 'utf8');
const hash = createHash('sha256').update(icon).digest('hex').slice(0, 12);
files.set(`icon.${hash}.svg`, icon);
/** Return the names of the files that one needs before it runs. */
const needs = (name) => metafile.outputs[`out/${name}`].imports
  .filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
// All that the first view needs is asked for at once, not when the script is there.
const needed = new Set(needs(script));
for (const name of needed) needs(name).forEach((one) => needed.add(one));
const preloads = [...needed].map((name) => `<link rel="modulepreload" href="${name}">\n`).join('');
files.set('index.html', readFileSync(join(here, 'src/index.html'), 'utf8')
  .replace('"icon.svg"', `"icon.${hash}.svg"`).replace('"app.css"', `"${style}"`)
  .replace('<script type="module" src="app.js">', `${preloads}<script type="module" src="${script}">`));
files.set('preact.license', readFileSync(join(here, 'node_modules/preact/LICENSE'), 'utf8'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const packed = (name) => gzipSync(files.get(name), { level: 9 }).length;
const sum = (names) => names.reduce((total, name) => total + packed(name), 0) / 1000;
for (const [name, text] of files) writeFileSync(join(out, name), text);
const first = ['index.html', `icon.${hash}.svg`, script, style, ...needed];
const all = [...files.keys()].filter((name) => !name.endsWith('.license'));
process.stdout.write(`${files.size} files, ${sum(all).toFixed(1)} kB gzipped, `
  + `${sum(first).toFixed(1)} kB of them for the first view\n`);
