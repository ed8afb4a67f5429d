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

/** What a lease asks for and awaits, as people read and write it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expected } from '../src/model/awaited.ts';
import { read, written } from '../src/model/where.ts';

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
