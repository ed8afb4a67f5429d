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

/** Another name for a lease. */
import { useState } from 'preact/hooks';
import { call } from '../data/api.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './acts.tsx';
import { Field } from './fields.tsx';
import { pathOf } from './proposals.ts';

/** Characters that the service accepts. */
const LONGEST = 80;

export function Naming({ lease, done, cancel }: ActProps) {
  const [name, setName] = useState(lease.name);
  const wanted = name.trim();
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => call('PUT', pathOf(lease), { name: wanted }), say('renamed', { name: wanted }));
  };
  return (
    <form class="ask" onSubmit={send}>
      <Field label={say('name')}>
        <input type="text" value={name} maxLength={LONGEST} required autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      <div class="actions">
        <button type="submit" class="primary" disabled={!wanted || wanted === lease.name}>{say('save')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}
