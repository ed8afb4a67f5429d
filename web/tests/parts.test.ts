// SPDX-License-Identifier: Apache-2.0

/** Groups of rows, free time, the catalogues of messages, and the size of the first view. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { moves, parse } from '../src/model/columns.ts';
import { bookedShare, gaps } from '../src/model/hits.ts';
import { Layout, keyOf } from '../src/model/layout.ts';
import { de } from '../src/words/de.ts';
import { en } from '../src/words/en.ts';
import { say, setLanguage } from '../src/words/index.ts';
import { de as leaseDe } from '../src/words/lease/de.ts';
import { en as leaseEn } from '../src/words/lease/en.ts';

/** The catalogues of each part of the page. */
const CATALOGUES: Record<string, Record<string, string>>[] = [{ en, de }, { en: leaseEn, de: leaseDe }];

const GROUPS = [{ value: 'r1', count: 3 }, { value: 'r2', count: 2 }, { value: null, count: 1 }];
const numbers = (layout: Layout): number[] =>
  Array.from({ length: layout.total }, (_, row) => layout.resource(row));

test('without groups each resource is in its own row', () => {
  assert.deepEqual(numbers(new Layout(null, 3)), [0, 1, 2]);
  assert.equal(new Layout(null, -1).total, -1);
  assert.equal(new Layout(null, 3).headAt(0), null);
});

test('each group has a head above its resources', () => {
  const layout = new Layout(GROUPS, 6);
  assert.deepEqual(numbers(layout), [-1, 0, 1, 2, -1, 3, 4, -1, 5]);
  assert.equal(layout.headAt(4)!.value, 'r2');
  assert.equal(layout.headAt(5), null);
  assert.equal(layout.section(8)!.value, null);
  assert.equal(layout.section(9), null);
});

test('heads of low rows have several of them', () => {
  assert.deepEqual(numbers(new Layout(GROUPS.slice(0, 1), 3, 3)), [-1, -1, -1, 0, 1, 2]);
});

test('what is folded has only a head, and one group can be shown alone', () => {
  const folded = new Set([keyOf('r1'), keyOf(null)]);
  assert.deepEqual(numbers(new Layout(GROUPS, 6, 1, folded)), [-1, -1, 3, 4, -1]);
  assert.deepEqual(numbers(new Layout(GROUPS, 6, 1, new Set(), keyOf('r2'))), [-1, 3, 4]);
  assert.deepEqual(numbers(new Layout(GROUPS, 6, 1, new Set(), keyOf('gone'))), []);
});

test('only the pages of rows that are seen are wanted', () => {
  const layout = new Layout([{ value: 'a', count: 250 }, { value: 'b', count: 250 }], 500, 1,
    new Set([keyOf('a')]));
  assert.deepEqual(layout.pages(0, 10, 100), [2]);
  assert.deepEqual(layout.pages(0, layout.total - 1, 100), [2, 3, 4]);
  assert.deepEqual(layout.pages(0, -1, 100), []);
});

test('the keyboard takes the rows of a head as one', () => {
  const layout = new Layout(GROUPS, 6, 3);
  assert.equal(layout.step(0, 1), 3);
  assert.equal(layout.step(5, 1), 6);
  assert.equal(layout.step(6, 1), 9);
  assert.equal(layout.step(9, -1), 6);
  assert.equal(layout.step(0, -1), 0);
  assert.equal(layout.step(layout.total - 1, 1), layout.total - 1);
});

test('a resource has free time between its bars and maintenances', () => {
  const chunk = parse({
    resource_type: 't', start: 0, end: 1000, generation: 'g', total: 1, group_by: null,
    resources: { id: [1], name: ['a'], disabled: [0], failed: [0], capacity: [0] },
    capacities: [{}], main: [null],
    allocations: { resource: [0, 0], start: [0, 300], end: [200, 400], amount: [1, 1], share: [1000, 1000], lease: [-1, -1] },
    leases: { id: [], name: [], status: [], mine: [], firm_at: [] },
    maintenances: { resource: [0], start: [500], end: [600] },
  }, 0);
  assert.deepEqual(gaps(chunk, 0, 100).map(({ start, end }) => [start, end]), [[200, 300], [400, 500], [600, 1000]]);
  assert.deepEqual(gaps(chunk, 0, 450).map(({ start }) => start), [450, 600]);
  assert.equal(bookedShare(chunk, 0, 100, 500), 0.5);
});

test('a lease may move until it is firm', () => {
  const leases = {
    id: ['a', 'b', 'c'], name: ['a', 'b', 'c'], status: ['PENDING', 'PENDING', 'ACTIVE'], mine: [1, 1, 1],
    firm_at: [null, 100, 100],
  };
  const moving = (now: number): number[] => [0, 1, 2].filter((lease) => moves(leases, lease, now));
  assert.deepEqual([moving(99), moving(100)], [[1], []]);
});

test('the catalogues say the same', () => {
  const holes = (text: string): string[] => (text.match(/\{\w+/g) ?? []).sort();
  for (const { en: first, de: second } of CATALOGUES) {
    assert.deepEqual(Object.keys(second!), Object.keys(first!));
    for (const [key, text] of Object.entries(first!)) {
      assert.ok(second![key], key);
      assert.deepEqual(holes(second![key]!), holes(text), key);
    }
  }
});

test('words have a form for each kind of number', () => {
  for (const [language, catalogue] of CATALOGUES.flatMap((one) => Object.entries(one))) {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const [key, text] of Object.entries(catalogue)) {
      for (const [, forms] of text.matchAll(/\{\w+\|([^}]+)\}/g)) {
        const kinds = forms!.split('|').map((form) => form.split(':')[0]);
        assert.deepEqual(kinds.sort(), [...pluralCategories].sort(), `${language} ${key}`);
      }
    }
  }
  const said = (language: string): string[] => {
    setLanguage(language);
    return [0, 1, 2, 1000].map((n) => say('resources', { n }));
  };
  assert.deepEqual(said('de'), ['0 Ressourcen', '1 Ressource', '2 Ressourcen', '1.000 Ressourcen']);
  assert.deepEqual(said('en'), ['0 resources', '1 resource', '2 resources', '1,000 resources']);
  assert.equal(say('sayGroup', { name: 'r1', n: 1 }), 'Group r1, 1 resource. Press Enter to collapse it.');
});

test('each message is used', () => {
  // The names of colours are no messages.
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/^words|palette|^api.d/.test(name));
  const text = files.map((name) => readFileSync(`src/${name}`, 'utf8')).join('\n');
  // As a string, or as the name of a field whose name is looked up.
  const looked = new Set([...text.matchAll(/'(\w+)'|\b(\w+):/g)].map(([, one, other]) => one ?? other));
  const known = /^(effect|event|kind|state|status|notice|loses|step|outcome|yield)_/;
  const unused = CATALOGUES.flatMap((one) => Object.keys(one.en!)).filter((key) => !known.test(key) && !looked.has(key));
  assert.deepEqual(unused, []);
});

test('the first view has at most 45 kB, and names all that it needs', () => {
  const folder = '../climate/web/static';
  const read = (name: string): string => readFileSync(`${folder}/${name}`, 'utf8');
  const named = [...read('index.html').matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name]) => name!);
  const sizes = ['index.html', ...named].map((name) => gzipSync(read(name), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total > 10000 && total <= 45000, `${total} bytes`);
  const scripts = named.filter((name) => name.endsWith('.js'));
  const needed = scripts.flatMap((name) =>
    [...read(name).matchAll(/(?:import|from) ?"\.\/([^"]+)"/g)].map(([, one]) => one!));
  assert.deepEqual(needed.filter((name) => !scripts.includes(name)), []);
  // What is opened later is in files that the first view does not name.
  assert.ok(readdirSync(folder).some((name) => name.endsWith('.js') && !scripts.includes(name)));
});
