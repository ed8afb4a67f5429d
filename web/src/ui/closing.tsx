// SPDX-License-Identifier: Apache-2.0

/** Maintenances: operators add one by dragging, and remove it. */
import { useState } from 'preact/hooks';
import { Refusal, call, iso } from '../data/api.ts';
import { afterChange, explain, trouble } from '../data/live.ts';
import { state, update } from '../data/state.ts';
import type { Draft } from '../data/state.ts';
import { moment, say } from '../words/index.ts';
import { Sheet } from './drawer.tsx';
import { FactList } from './facts.tsx';
import { Note, TextField, TimeField } from './fields.tsx';

/** Do some work, then say so and shut the drawer; returns why not, or nothing. */
async function finish(work: () => Promise<unknown>, notice: string): Promise<string> {
  try {
    await work();
    update({ drawer: null, notice });
    afterChange();
    return '';
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 401) trouble(error);
    return explain(error);
  }
}

export function Closing({ draft }: { draft: Draft }) {
  const [start, setStart] = useState(draft.start);
  const [end, setEnd] = useState(draft.end);
  const [reason, setReason] = useState('');
  const [failure, setFailure] = useState('');
  const name = draft.names.join(', ');
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    const dates = { start_date: iso(start), end_date: iso(end), reason };
    setFailure(await finish(async () => {
      for (const resource_name of draft.names) {
        await call('POST', 'maintenances', { resource_type: state.type, resource_name, ...dates });
      }
    }, say('maintained', { name })));
  };
  return (
    <Sheet title={say('newMaintenance')}>
      <form onSubmit={(event) => void add(event)}>
        <FactList facts={[[say('resource'), name]]} />
        <TextField label={say('reason')} value={reason} change={setReason} first required />
        <div class="pair">
          <TimeField label={say('from')} value={start} change={setStart} />
          <TimeField label={say('to')} value={end} change={setEnd} />
        </div>
        {end <= start && <Note kind="bad">{say('periodBad')}</Note>}
        {failure && <Note kind="bad">{failure}</Note>}
        <button type="submit" class="primary wide" disabled={end <= start}>{say('addMaintenance')}</button>
      </form>
    </Sheet>
  );
}

export function MaintenanceDetails(props: { id: string; name: string; start: number; end: number }) {
  const [failure, setFailure] = useState('');
  const remove = async (): Promise<void> => setFailure(await finish(
    () => call('DELETE', `maintenances/${encodeURIComponent(props.id)}`), say('removed')));
  return (
    <Sheet title={say('maintenance')}>
      <FactList facts={[
        [say('resource'), props.name], [say('start'), moment(props.start)], [say('end'), moment(props.end)],
      ]} />
      {failure && <Note kind="bad">{failure}</Note>}
      {state.me?.may['maintenances:delete'] && (
        <div class="actions">
          <button type="button" class="danger" onClick={() => void remove()}>{say('removeMaintenance')}</button>
        </div>
      )}
    </Sheet>
  );
}
