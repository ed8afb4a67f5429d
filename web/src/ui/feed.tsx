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

/** A secret link, with which calendar programs show leases. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, call } from '../data/api.ts';
import { explain, trouble } from '../data/live.ts';
import { state } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { say } from '../words/lease/index.ts';
import { Copy } from './copy.tsx';
import { Note, TextField } from './fields.tsx';

/** Make a link to the calendar of a lease, or of the project without one. */
export function CalendarLink({ lease }: { lease?: Lease }) {
  const [link, setLink] = useState('');
  const [failure, setFailure] = useState('');
  const section = useRef<HTMLElement>(null);
  // It can be copied at once.
  useEffect(() => section.current?.querySelector('input')?.select(), [link]);
  const make = async (): Promise<void> => {
    const body = {
      name: lease?.name ?? state.me?.project_name ?? '', time_zone: state.zone,
      ...(lease ? { lease_id: lease.id } : {}),
    };
    try {
      const answer = await call<{ feed: { url: string } }>('POST', 'feeds', body);
      setLink(answer.body.feed.url);
      setFailure('');
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 401) trouble(error);
      setFailure(explain(error));
    }
  };
  return (
    <section class="feed" ref={section}>
      {!link && (
        <button type="button" onClick={() => void make()}>{say('calendarLink')}</button>
      )}
      {link && (
        <div class="ask">
          <TextField label={say('subscribe')} value={link} change={() => undefined} readOnly />
          <Copy text={link} what={say('theLink')} />
          <p class="muted">{say('secretLink')}</p>
        </div>
      )}
      {failure && <Note kind="bad">{failure}</Note>}
    </section>
  );
}
