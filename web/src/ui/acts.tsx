// SPDX-License-Identifier: Apache-2.0

/** What one can do with a lease: the buttons, and the form of the one that was pressed. */
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Refusal, seconds } from '../data/api.ts';
import { afterChange, explain, trouble } from '../data/live.ts';
import { present, state, update } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { say } from '../words/lease/index.ts';
import type { LeaseWords } from '../words/lease/en.ts';
import type { ActProps } from './act.ts';
import { Amounts, changeable } from './amounts.tsx';
import { Deletion, Ending } from './ending.tsx';
import { Note } from './fields.tsx';
import { Naming } from './naming.tsx';
import type { Times } from './proposals.ts';
import { Reallocation } from './reallocation.tsx';
import { Reminders } from './reminders.tsx';
import { heldBy } from './things.ts';
import { TimesForm } from './times.tsx';
import { WindowForm } from './window.tsx';

interface Act {
  word: keyof LeaseWords; rule: string; form: ComponentType<ActProps>; danger?: true;
  fits?: (lease: Lease) => boolean;
}

const started = (lease: Lease): boolean =>
  lease.status !== 'PENDING' && !waits(lease) && seconds(lease.start_date) <= present();

const waits = (lease: Lease): boolean => lease.status === 'WAITING';

/** A lease that waits has no times yet. */
const TIMES: Act = { word: 'actTimes', rule: 'leases:update', form: TimesForm, fits: (lease) => !waits(lease) };
const ACTS: Act[] = [
  TIMES,
  {
    word: 'actWindow', rule: 'leases:update', form: WindowForm,
    fits: (lease) => lease.earliest !== null && (waits(lease)
      || (lease.status === 'PENDING' && seconds(lease.start_date) > present())),
  },
  { word: 'actAmounts', rule: 'leases:update', form: Amounts, fits: (lease) => lease.reservations.some(changeable) },
  { word: 'actName', rule: 'leases:update', form: Naming },
  { word: 'actReminders', rule: 'leases:update', form: Reminders },
  { word: 'actReallocate', rule: 'leases:reallocate', form: Reallocation, fits: (lease) => heldBy(lease).length > 0 },
  { word: 'actEnd', rule: 'leases:update', form: Ending, danger: true, fits: started },
  { word: 'actDelete', rule: 'leases:delete', form: Deletion, danger: true },
];

/** `times` are wanted, maybe by a drag: their form is open, and the calendar shows them. */
export function Acts({ lease, changed, times }: { lease: Lease; changed: () => void; times?: Partial<Times> }) {
  const [other, setAct] = useState<Act | null>(null);
  const [failure, setFailure] = useState('');
  const act = times ? TIMES : other;
  const buttons = useRef<HTMLDivElement>(null);
  const open = (one: Act | null): void => {
    // What had the focus is gone with the form.
    if (!one) buttons.current?.querySelector<HTMLElement>('[aria-expanded=true]')?.focus();
    setFailure('');
    setAct(one === TIMES ? null : one);
    const { drawer } = state;
    if (drawer?.kind !== 'lease' || drawer.id !== lease.id) return;
    update({ drawer: { kind: 'lease', id: lease.id, ...(one === TIMES ? { times: {} } : {}) } });
  };
  const done: ActProps['done'] = async (work, notice, shut = false) => {
    try {
      await work();
      open(null);
      update({ notice, ...(shut ? { drawer: null } : {}) });
      afterChange();
      if (!shut) changed();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 401) trouble(error);
      setFailure(explain(error));
    }
  };
  const possible = ACTS.filter(({ rule, fits }) => state.me?.may[rule] && (!fits || fits(lease)));
  const Form = act?.form;
  const below = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!act) return;
    // In a small window it would open out of sight.
    below.current?.scrollIntoView({ block: 'nearest' });
    // Times that come from the calendar are to be confirmed here.
    if (times && Object.keys(times).length > 0) below.current?.querySelector('input')?.focus();
  }, [act]);
  return (
    <>
      <div class="actions" role="group" aria-label={say('actions')} ref={buttons}>
        {possible.map((one) => (
          <button type="button" key={one.word} class={one.danger ? 'danger' : ''}
            aria-expanded={act === one} onClick={() => open(act === one ? null : one)}>
            {say(one.word)}
          </button>
        ))}
      </div>
      <div ref={below}>
        {Form && (
          <Form key={act.word} lease={lease} done={done} cancel={() => open(null)} {...(times ? { times } : {})} />
        )}
        {failure && <Note kind="bad">{failure}</Note>}
      </div>
    </>
  );
}
