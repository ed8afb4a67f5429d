// SPDX-License-Identifier: Apache-2.0

/** Another name for a lease. */
import { useState } from 'preact/hooks';
import { call } from '../data/api.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './act.ts';
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
