// SPDX-License-Identifier: Apache-2.0

/** A reservation in the form of a lease: what, how many, which, and what else its type asks for. */
import { state } from '../data/state.ts';
import { NOTHING } from '../model/controls.ts';
import type { Control } from '../model/controls.ts';
import { say, sayIf } from '../words/form/index.ts';
import { kindOf } from '../words/kinds.ts';
import { Chips } from './chips.tsx';
import { Field } from './fields.tsx';
import { conditionFields, inputsOf, isCounted, labelOf, retyped, typeOf } from './parts.ts';
import type { Part } from './parts.ts';

interface PartProps { part: Part; change: (part: Part) => void; used: Map<string, string[]> }

export function PartFields({ part, change, used }: PartProps) {
  const type = typeOf(part.type);
  const inputs = inputsOf(type);
  const names = part.conditions.find((one) => one.kind === 'names');
  const set = (key: string, text: string): void => change({ ...part, fields: { ...part.fields, [key]: text } });
  const shown = (all: Control[]) => all.map((input) => (
    <Input key={input.key} input={input} value={part.fields[input.key] ?? ''} id={`p${part.id}-${input.key}`}
      set={(text) => set(input.key, text)} suggested={used.get(`${part.type} ${input.key}`) ?? []} />
  ));
  const rest = inputs.filter((input) => !input.first);
  return (
    <>
      <div class="what">
        <Kinds part={part} change={change} />
        {isCounted(type) && (
          <Field label={say('howMany')}>
            <input type="number" min={1} max={names?.kind === 'names' ? names.names.length : undefined}
              value={part.amount} required
              onInput={(event) => {
                const amount = event.currentTarget.valueAsNumber;
                if (amount >= 1) change({ ...part, amount });
              }} />
          </Field>
        )}
      </div>
      {shown(inputs.filter((input) => input.first))}
      {conditionFields(type).length > 0
        && <Chips part={part} change={(conditions) => change({ ...part, conditions })} />}
      {rest.length > 0 && (
        <details class="options">
          <summary>{say('options')}</summary>
          {shown(rest)}
        </details>
      )}
    </>
  );
}

function Kinds({ part, change }: { part: Part; change: (part: Part) => void }) {
  return (
    <Field label={say('what')}>
      <select value={part.type} onChange={(event) => change(retyped(part, event.currentTarget.value))}>
        {state.bookable.map((type) => <option key={type.name} value={type.name}>{kindOf(type)}</option>)}
      </select>
    </Field>
  );
}

interface InputProps {
  input: Control; value: string; set: (text: string) => void; id: string; suggested: string[];
}

/** An input for a field of a type, with what it is for. */
function Input(props: InputProps) {
  const { input } = props;
  const known = sayIf('field', input.key);
  const label = labelOf(input);
  const help = sayIf('help', input.key) || (known ? '' : input.about.replaceAll('``', ''));
  return (
    <>
      <Field label={input.required ? label : say('optional', { label })}>
        <Typed {...props} described={help ? `${props.id}-help` : undefined} />
      </Field>
      {help && <small class="help" id={`${props.id}-help`}>{help}</small>}
    </>
  );
}

function Typed({ input, value, set, id, suggested, described }: InputProps & { described: string | undefined }) {
  const typed = (event: Event): void => set((event.currentTarget as HTMLInputElement).value);
  const steps = (choice: string): string => choice.split(',').map((one) => sayIf('choice', one) || one).join(', ');
  if (input.kind === 'choice') {
    return (
      <select value={value} aria-describedby={described} onChange={typed}>
        <option value="">{say('usual')}</option>
        {input.choices.map((one) => <option key={one} value={one}>{one === NOTHING ? say('choice_nothing') : steps(one)}</option>)}
      </select>
    );
  }
  if (input.kind === 'number') {
    return (
      <input type="number" value={value} min={input.least} max={input.most} required={input.required}
        aria-describedby={described} onInput={typed} />
    );
  }
  if (input.kind === 'long' || input.kind === 'json') {
    return (
      <textarea rows={3} value={value} maxLength={input.longest} spellcheck={false}
        aria-describedby={described} onInput={typed} />
    );
  }
  return (
    <>
      <input type="text" value={value} maxLength={input.longest} required={input.required} autocomplete="off"
        aria-describedby={described} list={suggested.length ? id : undefined} onInput={typed} />
      {suggested.length > 0 && <datalist id={id}>{suggested.map((one) => <option key={one} value={one} />)}</datalist>}
    </>
  );
}
