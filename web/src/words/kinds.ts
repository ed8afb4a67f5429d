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

/** What types of resources are called. */
import type { ResourceType } from '../data/types.ts';
import { en } from './en.ts';
import type { Catalogue } from './en.ts';
import { say } from './index.ts';

/** Return a type in words, such as "Hosts"; a declared one has a noun of its operator. */
export function kindOf(type: ResourceType): string {
  const key = `kind_${type.name}`;
  if (key in en) return say(key as keyof Catalogue);
  const noun = type.noun || type.name;
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
}
