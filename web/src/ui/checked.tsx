// SPDX-License-Identifier: Apache-2.0

/** A verdict of the service on a change, while one makes up one's mind. */
import { useEffect, useState } from 'preact/hooks';
import { trouble } from '../data/live.ts';
import { clock, dayName, moment } from '../words/index.ts';
import { say } from '../words/lease/index.ts';
import { Note } from './fields.tsx';
import { CHECKING } from './proposals.ts';
import type { Times, Verdict } from './proposals.ts';

const PAUSE = 200;

/** Ask for a verdict whenever `key` has not changed for a moment; '' asks for none. */
export function useCheck(
  key: string, ask: (signal: AbortSignal) => Promise<Verdict>,
): Verdict {
  const [found, setFound] = useState<{ key: string; verdict: Verdict }>({ key: '', verdict: CHECKING });
  useEffect(() => {
    if (!key) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      ask(abort.signal).then((verdict) => setFound({ key, verdict }), trouble);
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key]);
  return found.key === key ? found.verdict : CHECKING;
}

/** Return a period, with its day once if it is one day. */
export function period({ start, end }: Times): string {
  return `${moment(start)} – ${dayName(start) === dayName(end) ? clock(end) : moment(end)}`;
}

export function CheckedChange({ verdict, take }: { verdict: Verdict; take?: (times: Times) => void }) {
  return (
    <>
      <Note kind={verdict.kind}>
        <strong>{verdict.title || say('checking')}</strong>{verdict.details.map((one) => ` ${one}`)}
      </Note>
      {take && verdict.instead.length > 0 && (
        <section class="offers">
          <h3>{say('instead')}</h3>
          {verdict.instead.map((one) => (
            <button type="button" key={`${one.start} ${one.end}`} onClick={() => take(one)}>
              <strong>{period(one)}</strong>
            </button>
          ))}
        </section>
      )}
    </>
  );
}
