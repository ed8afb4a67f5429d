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

/** What the form of a new lease says; fetched with it. */
import type { ResourceType } from '../../data/types.ts';
import { amount as written, speaker } from '../index.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import type { FormWords } from './en.ts';

export const FORM_WORDS: Record<string, FormWords> = { en, de };
export const say = speaker<FormWords>(FORM_WORDS);

/** Return a message by a key of the API; empty if there is none. */
export const sayIf = (prefix: string, key: string): string =>
  (`${prefix}_${key}` in en ? say(`${prefix}_${key}` as keyof FormWords) : '');

/** Return a number of resources of a type in words, such as "2 hosts". */
export function things(type: ResourceType, n: number): string {
  const key = `noun_${type.name}`;
  if (key in en) return say(key as keyof FormWords, { n });
  const noun = n === 1 ? type.noun_one ?? type.noun : type.noun;
  return noun ? `${written(n)} ${noun}` : say('noun_other', { n });
}
