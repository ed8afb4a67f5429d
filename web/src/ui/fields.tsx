// SPDX-License-Identifier: Apache-2.0

/** Labelled inputs that several forms have. */
import type { ComponentChildren } from 'preact';
import { state } from '../data/state.ts';
import { fromInput, toInput } from '../model/zones.ts';
import { say } from '../words/index.ts';

export function Field(props: { label: string; children: ComponentChildren }) {
  return <label class="field"><span>{props.label}</span>{props.children}</label>;
}

export function TextField(props: {
  label: string; value: string; change: (text: string) => void;
  type?: string; first?: boolean; required?: boolean; complete?: string; readOnly?: boolean;
  longest?: number; note?: string;
}) {
  return (
    <>
      <Field label={props.label}>
        <input type={props.type ?? 'text'} value={props.value} required={props.required}
          readOnly={props.readOnly} maxLength={props.longest} data-first={props.first}
          autocomplete={(props.complete ?? 'off') as any}
          onInput={(event) => props.change(event.currentTarget.value)} />
      </Field>
      {props.note && <small class="help" role="status">{props.note}</small>}
    </>
  );
}

/** A date and a time on the clock of the chosen zone. */
export function TimeField(props: { label: string; value: number; change: (at: number) => void }) {
  return (
    <Field label={props.label}>
      <input type="datetime-local" value={toInput(props.value, state.zone)} required
        onChange={(event) => {
          const at = fromInput(event.currentTarget.value, state.zone);
          if (!Number.isNaN(at)) props.change(at);
        }} />
    </Field>
  );
}

/** A problem or a result that is announced when it appears. */
export function Note(props: { kind: 'good' | 'bad' | 'plain'; children: ComponentChildren }) {
  return <p class={`note ${props.kind}`} role={props.kind === 'bad' ? 'alert' : 'status'}>{props.children}</p>;
}

export const Loading = () => <p class="muted">{say('loading')}</p>;
