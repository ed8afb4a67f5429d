// SPDX-License-Identifier: Apache-2.0

/** Conditions on what is reserved: chips that can be removed, and a choice of known ones. */
import { useEffect, useState } from 'preact/hooks';
import { knownOf } from '../data/known.ts';
import { choosable, fits, withValue } from '../model/requirement.ts';
import type { Condition, Known } from '../model/requirement.ts';
import { say } from '../words/form/index.ts';
import { either } from '../words/index.ts';
import { populationOf } from './parts.ts';
import type { Part } from './parts.ts';

const MOST_NAMES = 3;
const TRAITS = ' traits';

export function inWords(condition: Condition): string {
  switch (condition.kind) {
    case 'names': {
      const names = condition.names.slice(0, MOST_NAMES).join(', ');
      const n = condition.names.length - MOST_NAMES;
      return n > 0 ? say('namesMore', { names, n }) : names;
    }
    case 'property': return say('equals', { property: condition.property, values: either(condition.values) });
    case 'trait': return condition.trait;
    case 'search': return say('matching', { text: condition.text });
  }
}

export function Chips(props: { part: Part; change: (conditions: Condition[]) => void }) {
  const { conditions } = props.part;
  return (
    <fieldset class="conditions">
      <legend>{say('conditions')}</legend>
      <ul class="chips">
        {conditions.length === 0 && <li class="muted">{say('anyOne')}</li>}
        {conditions.map((condition) => {
          const text = inWords(condition);
          const title = condition.kind === 'names' ? condition.names.join(', ') : undefined;
          return (
            <li key={text} class="chip" title={title}>
              <span>{text}</span>
              <button type="button" aria-label={say('removeCondition', { condition: text })}
                onClick={(event) => {
                  // The button goes, and the focus with it.
                  event.currentTarget.closest('fieldset')?.querySelector('select')?.focus();
                  props.change(conditions.filter((one) => one !== condition));
                }}>×</button>
            </li>
          );
        })}
      </ul>
      <Chooser {...props} />
    </fieldset>
  );
}

/** A property or trait, then one of its values with how many have it. */
function Chooser({ part, change }: { part: Part; change: (conditions: Condition[]) => void }) {
  const type = populationOf(part.type);
  const [known, setKnown] = useState<Known | null>(null);
  const [property, setProperty] = useState('');
  useEffect(() => {
    setKnown(null);
    setProperty('');
    knownOf(type).then(setKnown, () => setKnown(null));
  }, [type]);
  const properties = known ? choosable(known) : [];
  if (properties.length === 0 && !known?.traits.length) return null;
  const values = property === TRAITS
    ? known!.traits.map(({ trait, resources }) => ({ value: trait, resources }))
    : properties.find((one) => one.property === property)?.values ?? [];
  const add = (value: string): void => {
    const wanted = property === TRAITS
      ? [...part.conditions.filter((one) => one.kind !== 'trait' || one.trait !== value), { kind: 'trait' as const, trait: value }]
      : withValue(part.conditions, property, value);
    if (fits(type, wanted)) change(wanted);
    setProperty('');
  };
  return (
    <div class="chooser">
      <select aria-label={say('addCondition')} value={property}
        onChange={(event) => setProperty(event.currentTarget.value)}>
        <option value="">{say('addCondition')}</option>
        {properties.map((one) => <option key={one.property} value={one.property}>{one.property}</option>)}
        {known!.traits.length > 0 && <option value={TRAITS}>{say('trait')}</option>}
      </select>
      {property && (
        <select aria-label={say('value')} value="" onChange={(event) => add(event.currentTarget.value)}>
          <option value="">{say('value')}</option>
          {values.map(({ value, resources }) => <option key={value} value={value}>{say('countOf', { value, n: resources })}</option>)}
        </select>
      )}
    </div>
  );
}
