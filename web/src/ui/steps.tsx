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

/** What was done for a lease, and what is going to be. */
import { seconds } from '../data/api.ts';
import type { History } from '../data/types.ts';
import { expected } from '../model/awaited.ts';
import { moment } from '../words/index.ts';
import { say, sayOf } from '../words/lease/index.ts';

export function Steps({ history }: { history: History }) {
  const done = history.steps.filter((step) => step.effect !== 'check' || step.state === 'failed');
  return (
    <section>
      <h3>{say('history')}</h3>
      <ol class="steps">
        {done.map((step, number) => (
          <li key={number} class={step.state}>
            <time>{moment(seconds(step.first_at))}</time>
            <span>{sayOf('effect', step.effect)}{step.error && <small>{step.error}</small>}</span>
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
