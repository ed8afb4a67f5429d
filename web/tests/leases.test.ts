// SPDX-License-Identifier: Apache-2.0

/** What a lease asks for and awaits, as people read and write it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expected } from '../src/model/awaited.ts';
import { plainName } from '../src/model/names.ts';
import { read, written } from '../src/model/where.ts';
import { period, setLanguage, setZone, speaker } from '../src/words/index.ts';
import { de } from '../src/words/lease/de.ts';
import { en } from '../src/words/lease/en.ts';

test('a requirement is read as it is written', () => {
  const texts: [string, unknown][] = [
    ['gpu == a100', ['==', '$gpu', 'a100']],
    ['vcpus >= 32 and not (rack == A or rack == B)',
      ['and', ['>=', '$vcpus', '32'], ['not', ['or', ['==', '$rack', 'A'], ['==', '$rack', 'B']]]]],
    ['trait:HW_CPU_X86_AVX2', ['trait', 'HW_CPU_X86_AVX2']],
    ['model == "Xeon \\"Gold\\" (2)"', ['==', '$model', 'Xeon "Gold" (2)']],
    ['"and" != "a, b"', ['!=', '$and', 'a, b']],
  ];
  for (const [text, json] of texts) {
    assert.equal(written(JSON.stringify(json)), text);
    assert.deepEqual(JSON.parse(read(text)!), json);
  }
  assert.equal(written(''), '');
  assert.equal(written(null), '');
  assert.equal(read('  '), '');
});

test('short spellings of the commands are understood', () => {
  assert.equal(read('gpu=a100'), '["==","$gpu","a100"]');
  assert.equal(read('rack in (A, B)'), '["or",["==","$rack","A"],["==","$rack","B"]]');
  assert.equal(read('rack not in (A)'), '["not",["==","$rack","A"]]');
  assert.equal(read('["==", "$gpu", "True"]'), '["==","$gpu","True"]');
});

test('what cannot be read is refused', () => {
  for (const text of ['gpu', 'gpu =', 'gpu = a b', '(gpu = a', 'gpu = a or', '= a', 'gpu = "a', '[', 'and = a', ')']) {
    assert.equal(read(text), null, text);
  }
});

test('of reminders the next one is a step, of messages to programs and checks none', () => {
  const event = (event_type: string, time: string, why: string | null = null) => ({ event_type, time, due: time, why });
  const all = [
    event('before_start_lease', '1'), event('notification', '2'), event('before_start_lease', '3'),
    event('check_lease', '4'), event('start_lease', '5', 'Nova is down'), event('start_lease', '6'),
  ];
  assert.deepEqual(expected(all).map(({ time }) => time), ['1', '5']);
  assert.equal(expected([event('check_lease', '1', 'a host is down')]).length, 1);
});

test('an address is shown without the id of its network', () => {
  assert.equal(plainName('d32019d3-bc6e-4319-9c1d-6722fc136a22:203.0.113.102'), '203.0.113.102');
  for (const name of ['compute-3', 'vlan:physnet1:101', 'd32019d3-bc6e-4319-9c1d-6722fc136a22:']) {
    assert.equal(plainName(name), name);
  }
});

test('a period says the day of its end if that is another one', () => {
  setZone('UTC');
  const start = Date.UTC(2026, 11, 1, 9) / 1000;
  assert.equal(period(start, start + 8 * 3600), 'Tue 1 Dec, 09:00 – 17:00');
  assert.equal(period(start, start + 24 * 3600), 'Tue 1 Dec, 09:00 – Wed 2 Dec, 09:00');
});

test('one address is released, or several are', () => {
  const say = speaker({ en, de });
  const lost = (n: number): string => say('loses_virtual:floatingip', { names: 'A', n });
  assert.equal(lost(1), 'The address A will be released.');
  setLanguage('de');
  assert.equal(lost(1), 'Freigegeben wird die Adresse A.');
  assert.equal(lost(2), 'Freigegeben werden die Adressen A.');
  setLanguage('en');
});
