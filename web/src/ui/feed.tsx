// SPDX-License-Identifier: Apache-2.0

/** A secret link, with which calendar programs show leases. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, call } from '../data/api.ts';
import { explain, trouble } from '../data/live.ts';
import { state, update, useChanges } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { say } from '../words/lease/index.ts';
import { Copy } from './copy.tsx';
import { Note, TextField } from './fields.tsx';

/** Make a link to the calendar of a lease, or of the project without one. */
export function CalendarLink({ lease }: { lease?: Lease }) {
  const [made, setMade] = useState({ id: '', url: '' });
  const [failure, setFailure] = useState('');
  const { revoked } = useChanges();
  const link = made.id === revoked ? '' : made.url;
  const section = useRef<HTMLElement>(null);
  // It can be copied at once.
  useEffect(() => section.current?.querySelector('input')?.select(), [link]);
  const make = async (): Promise<void> => {
    const body = {
      name: lease?.name ?? state.me?.project_name ?? '', time_zone: state.zone,
      ...(lease ? { lease_id: lease.id } : {}),
    };
    try {
      const answer = await call<{ feed: { id: string; url: string } }>('POST', 'feeds', body);
      setMade(answer.body.feed);
      update({ notice: say('linkMade') });
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
