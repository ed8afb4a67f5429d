// SPDX-License-Identifier: Apache-2.0

/** What was done for a lease, and what is going to be. */
import { seconds } from '../data/api.ts';
import type { History, Step } from '../data/types.ts';
import { expected } from '../model/awaited.ts';
import { capital, moment } from '../words/index.ts';
import { say, sayOf } from '../words/lease/index.ts';
import { typeInWords } from './things.ts';

export function Steps({ history }: { history: History }) {
  const done = history.steps.filter((step) => step.effect !== 'check' || step.state === 'failed');
  // With several resource types, each step names its type.
  const several = new Set(done.map((step) => step.resource_type).filter(Boolean)).size > 1;
  const whatFor = (type: string | null): string => (several && type ? `: ${typeInWords(type)}` : '');
  const words = ({ effect, resource_type, lines }: Step): string => (resource_type === null && lines.length
    ? lines.map(({ text }) => capital(text)).join(' · ') : `${sayOf('effect', effect)}${whatFor(resource_type)}`);
  return (
    <section>
      <h3>{say('history')}</h3>
      <ol class="steps">
        {done.map((step, number) => (
          <li key={number} class={step.state}>
            <time>{moment(seconds(step.first_at))}</time>
            <span>{words(step)}{step.error && <small>{step.error}</small>}</span>
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
