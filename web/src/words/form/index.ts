// SPDX-License-Identifier: Apache-2.0

/** What the form of a new lease says; fetched with it. */
import type { ResourceType } from '../../data/types.ts';
import { amount as written, nounOf, speaker } from '../index.ts';
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
  return noun ? `${written(n)} ${nounOf(noun)}` : say('noun_other', { n });
}
