// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

/** Build the page into climate/web/static/ (or the folder given), the same bytes each time. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, '..', 'climate', 'web', 'static');

const built = await build({
  absWorkingDir: here, entryPoints: ['src/main.tsx', 'src/app.css'], bundle: true, minify: true,
  write: false, outdir: 'out', format: 'esm', target: ['chrome115', 'firefox115', 'safari16.4'],
  jsx: 'automatic', jsxImportSource: 'preact', charset: 'utf8', legalComments: 'none',
  // The committed lock file decides the versions, and nothing of the machine gets in.
  preserveSymlinks: true, logLevel: 'warning',
});

const files = new Map();
let page = readFileSync(join(here, 'src/index.html'), 'utf8');
const assets = [
  ['app.js', built.outputFiles.find((file) => file.path.endsWith('.js')).text],
  ['app.css', built.outputFiles.find((file) => file.path.endsWith('.css')).text],
  ['icon.svg', readFileSync(join(here, 'src/icon.svg'), 'utf8')],
];
for (const [name, text] of assets) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const hashed = name.replace('.', `.${hash}.`);
  page = page.replace(`"${name}"`, `"${hashed}"`);
  files.set(hashed, text);
}
files.set('index.html', page);
files.set('preact.license', readFileSync(join(here, 'node_modules/preact/LICENSE'), 'utf8'));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
let total = 0;
for (const [name, text] of files) {
  writeFileSync(join(out, name), text);
  if (!name.endsWith('.license')) total += gzipSync(text, { level: 9 }).length;
}
process.stdout.write(`${files.size} files, ${(total / 1000).toFixed(1)} kB gzipped\n`);
