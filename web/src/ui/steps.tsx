// SPDX-License-Identifier: Apache-2.0

/** What was done for a lease, and what is going to be. */
import { seconds } from '../data/api.ts';
import type { History } from '../data/types.ts';
import { expected } from '../model/awaited.ts';
import { moment } from '../words/index.ts';
import { say, sayOf } from '../words/lease/index.ts';
import { typeInWords } from './things.ts';

export function Steps({ history }: { history: History }) {
  const done = history.steps.filter((step) => step.effect !== 'check' || step.state === 'failed');
  // With several resource types, each step names its type.
  const several = new Set(done.map((step) => step.resource_type)).size > 1;
  const whatFor = (type: string): string => (several ? `: ${typeInWords(type)}` : '');
  return (
    <section>
      <h3>{say('history')}</h3>
      <ol class="steps">
        {done.map((step, number) => (
          <li key={number} class={step.state}>
            <time>{moment(seconds(step.first_at))}</time>
            <span>{sayOf('effect', step.effect)}{whatFor(step.resource_type)}{step.error && <small>{step.error}</small>}</span>
            <em>{sayOf('state', step.state)}</em>
          </li>
        ))}
        {expected(history.awaited).map((event, number) => (
          <li key={`a${number}`}>
            <time>{moment(seconds(event.time))}</time>
            <span>{sayOf('event', event.event_type)}{event.why && <small>{event.why}</small>}</span>
            <em>{say('awaited')}</em>
          </li>
        ))}
      </ol>
    </section>
  );
}
