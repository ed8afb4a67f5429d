// SPDX-License-Identifier: Apache-2.0

/** What the form of a new lease sends: conditions, inputs of types, and its messages. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { controlsOf, valueOf } from '../src/model/controls.ts';
import type { Condition, Known } from '../src/model/requirement.ts';
import {
  choosable, fits, instead, namesOf, requirement, searched, size, withValue,
} from '../src/model/requirement.ts';
import { windows } from '../src/model/windows.ts';
import { de } from '../src/words/form/de.ts';
import { en } from '../src/words/form/en.ts';
import { things } from '../src/words/form/index.ts';
import { setLanguage } from '../src/words/index.ts';
import { inOrder, kindOf } from '../src/words/kinds.ts';

const HOST = 'physical:host';
const GPU: Condition = { kind: 'property', property: 'gpu', values: ['a100'] };
const KNOWN: Known = {
  properties: [
    { property: 'cpu_info', own: false, values: [{ value: `{"model": "${'a1'.repeat(40)}"}`, resources: 2 }] },
    { property: 'vcpus', own: false, values: [{ value: '16', resources: 2 }] },
    { property: 'hypervisor_id', own: false, values: [{ value: 'a1', resources: 1 }, { value: 'b2', resources: 1 }] },
    { property: 'gpu', own: true, values: [{ value: 'a100', resources: 2 }, { value: 'v100', resources: 1 }] },
    { property: 'rack', own: true, values: [{ value: 'a1', resources: 1 }, { value: 'a2', resources: 1 }] },
  ],
  traits: [{ trait: 'CUSTOM_A100_NVLINK', resources: 1 }],
};

test('one can choose of what tells resources apart', () => {
  assert.deepEqual(choosable(KNOWN).map(({ property }) => property), ['gpu', 'rack', 'vcpus']);
});

test('conditions are a requirement', () => {
  assert.equal(requirement(HOST, []), null);
  assert.deepEqual(requirement(HOST, [GPU]), ['==', '$gpu', 'a100']);
  const both = withValue(withValue([GPU], 'gpu', 'v100'), 'rack', 'r1');
  assert.deepEqual(requirement(HOST, both),
    ['and', ['or', ['==', '$gpu', 'a100'], ['==', '$gpu', 'v100']], ['==', '$rack', 'r1']]);
  assert.deepEqual(withValue([GPU], 'gpu', 'a100'), [GPU]);
  assert.deepEqual(requirement(HOST, [{ kind: 'trait', trait: 'HW_X' }]), ['trait', 'HW_X']);
});

test('names are a requirement as long as it is not too long', () => {
  const hosts = (n: number): string[] => Array.from({ length: n }, (_, i) => `compute-${i}`);
  const names = namesOf(HOST, hosts(100))!;
  assert.equal(size(requirement(HOST, [names])), 100);
  assert.ok(fits(HOST, [names, GPU]));
  assert.equal(namesOf(HOST, hosts(101)), null);
  assert.equal(namesOf(HOST, []), null);
  assert.deepEqual(requirement('network', [namesOf('network', ['vlan:physnet1:101'])!]), ['and',
    ['==', '$network_type', 'vlan'], ['==', '$physical_network', 'physnet1'], ['==', '$segment_id', '101']]);
  assert.equal(namesOf('custom:rack', ['rack-1']), null);
  const segments = Array.from({ length: 34 }, (_, i) => `vlan:physnet1:${i}`);
  assert.equal(namesOf('network', segments), null);
});

test('a search is a condition', () => {
  assert.deepEqual(searched(HOST, 'gpu = a100', KNOWN, []), GPU);
  const found = searched(HOST, 'A1', KNOWN, ['compute-a1', 'compute-2']);
  assert.deepEqual(found, { kind: 'search', text: 'A1', terms: [
    ['==', '$gpu', 'a100'], ['==', '$rack', 'a1'], ['trait', 'CUSTOM_A100_NVLINK'],
    ['==', '$hypervisor_hostname', 'compute-a1'],
  ] });
  assert.equal(searched(HOST, 'nothing', KNOWN, []), null);
  assert.equal(searched(HOST, 'c', KNOWN, Array.from({ length: 100 }, (_, i) => `c${i}`)), null);
});

test('another value of a property takes the place of the one that was wanted', () => {
  assert.deepEqual(instead([GPU], 'gpu', ['v100', 't4']), [{ ...GPU, values: ['v100', 't4'] }]);
  const named = [namesOf(HOST, ['compute-1'])!, GPU];
  assert.deepEqual(instead(named, 'hypervisor_hostname', ['compute-2']), [GPU, namesOf(HOST, ['compute-2'])]);
});

test('a schema has inputs', () => {
  const inputs = controlsOf('x:y', {
    required: ['resource_type', 'size'],
    properties: {
      resource_type: { const: 'x:y' }, amount: { type: 'integer' }, resource_properties: { type: 'string' },
      size: { description: 'In GiB.', anyOf: [{ type: 'integer', minimum: 1, maximum: 9 }, { type: 'string' }] },
      on_end: { anyOf: [{ enum: [[], ['stop', 'delete']] }, { type: 'string' }] },
      spread: { enum: ['any', 'apart', null, ''] }, same: { anyOf: [{ type: 'boolean' }, { enum: [null] }] },
      image: { title: 'Image', anyOf: [{ type: 'string', maxLength: 255 }] }, script: { type: 'string' },
      networks: { anyOf: [{ type: 'array', items: { properties: { uuid: {} } } }] }, before_end: { enum: ['', 'default', null] },
      resources: { anyOf: [{ type: 'object', properties: { SEAT: { anyOf: [{ type: 'integer', minimum: 1 }] } } }] },
    },
  });
  assert.deepEqual(inputs.map(({ key, kind, required }) => [key, kind, required]), [
    ['size', 'number', true], ['on_end', 'choice', false], ['spread', 'choice', false], ['same', 'choice', false],
    ['image', 'text', false], ['script', 'long', false], ['networks', 'list', false], ['resources.SEAT', 'number', false],
  ]);
  const input = (key: string) => inputs.find((one) => one.key === key)!;
  assert.deepEqual(input('on_end').choices, ['nothing', 'stop,delete']);
  assert.deepEqual(valueOf(input('on_end'), 'nothing'), []);
  assert.deepEqual(valueOf(input('networks'), 'n1, n2'), [{ uuid: 'n1' }, { uuid: 'n2' }]);
  assert.equal(valueOf(input('size'), '5'), 5);
  assert.throws(() => valueOf({ ...input('size'), kind: 'json' }, '{'), SyntaxError);
});

test('a lease may lie in all of some days, or in hours of each', () => {
  const between = { first: '2030-03-30', last: '2030-03-31', opens: '', closes: '' };
  const hours = (found: { start: number; end: number }[]): number[] => found.map(({ start, end }) => (end - start) / 3600);
  // The clock of Berlin skips an hour on the second day.
  assert.deepEqual(hours(windows(between, 'Europe/Berlin')), [47]);
  const day = windows({ ...between, opens: '08:00', closes: '20:00' }, 'Europe/Berlin');
  assert.deepEqual(hours(day), [12, 12]);
  assert.equal(day[1]!.start - day[0]!.start, 23 * 3600);
  assert.deepEqual(hours(windows({ ...between, opens: '20:00', closes: '06:00' }, 'UTC')), [10, 10]);
  assert.deepEqual(windows({ ...between, last: '2030-03-29' }, 'UTC'), []);
  assert.equal(windows({ ...between, last: '2031-01-01', opens: '08:00' }, 'UTC').length, 31);
});

test('types have words', () => {
  setLanguage('de');
  assert.equal(things({ name: HOST }, 2), '2 Hosts');
  assert.equal(things({ name: 'custom:cae', noun: 'seats', noun_one: 'seat' }, 1), '1 Seat');
  setLanguage('en');
  assert.equal(things({ name: 'custom:cae', noun: 'seats' }, 25), '25 seats');
  assert.equal(things({ name: 'x:y' }, 1), '1 resource');
  assert.equal(kindOf({ name: 'custom:cae', noun: 'seats' }), 'Seats');
  const types = ['custom:cae', 'network', 'baremetal:node', HOST, 'virtual:instance'].map((name) => ({ name }));
  assert.deepEqual(inOrder(types).map(({ name }) => name), ['virtual:instance', HOST, 'network', 'custom:cae', 'baremetal:node']);
});

test('the messages of the form are the same in each language, and used', () => {
  assert.deepEqual(Object.keys(de), Object.keys(en));
  const holes = (text: string): string[] => (text.match(/\{\w+/g) ?? []).sort();
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    assert.deepEqual(holes(de[key]), holes(en[key]), key);
  }
  const text = readdirSync('src/ui').map((name) => readFileSync(`src/ui/${name}`, 'utf8')).join('\n');
  const unused = Object.keys(en)
    .filter((key) => !/^(noun|field|help|choice|prefer|yield|yieldHelp)_/.test(key) && !text.includes(`'${key}'`));
  assert.deepEqual(unused, []);
});
