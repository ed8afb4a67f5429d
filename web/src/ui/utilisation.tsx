// SPDX-License-Identifier: Apache-2.0

/** How much is booked in the next weeks: shares over time, and what is free on each day. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, call, iso, seconds } from '../data/api.ts';
import { onTurn, toType, trouble } from '../data/live.ts';
import { UNGROUPED, present, state, update, useChanges } from '../data/state.ts';
import type { Availability } from '../data/types.ts';
import { COLOURS, MOST_GROUPS, drawShares } from '../draw/strip.ts';
import { allDays } from '../model/ticks.ts';
import { dayStart, weekday } from '../model/zones.ts';
import { date, percent, say } from '../words/index.ts';
import { kindOf } from '../words/kinds.ts';
import { Canvas } from './canvas.tsx';
import type { Paint } from './canvas.tsx';
import { Loading } from './fields.tsx';

const DAYS = 28;
const STEP = 10800;

interface Asked { fine: Availability; days: number[]; start: number; end: number; etag: string | null }

/** Ask again, unless nothing has changed since what is known. */
async function ask(known: Asked | null): Promise<Asked> {
  const start = dayStart(present(), state.zone);
  const end = dayStart(start, state.zone, DAYS);
  const days = allDays(start, end, state.zone).map((tick) => tick.at);
  // The past is not shown: begin with the step of the present.
  const first = start + Math.floor((present() - start) / STEP) * STEP;
  const answer = await call<{ availability: Availability }>('GET', 'availability', undefined, {
    etag: known?.etag ?? null, params: {
      resource_type: state.type, group_by: state.group, step: STEP, start: iso(first), end: iso(end),
    },
  });
  return answer.status === 304 ? known! : { fine: answer.body.availability, days, start, end, etag: answer.etag };
}

export function Utilisation() {
  const { type, group, zone, properties, types, me } = useChanges();
  const [asked, setAsked] = useState<Asked | null>(null);
  const wanted = `${type} ${group} ${zone}`;
  const latest = useRef({ known: null as Asked | null, stop: () => {} });
  const load = (): void => {
    const turn = latest.current;
    ask(turn.known).then((answer) => {
      if (turn !== latest.current) return;
      turn.known = answer;
      setAsked(answer);
    }, (error: unknown) => {
      // What is refused once is refused again.
      if (error instanceof Refusal && error.status < 500) turn.stop();
      trouble(error);
    });
  };
  useEffect(() => {
    // The clock of the service says what is past, and comes with who one is.
    if (!me) return undefined;
    const stop = onTurn(load);
    latest.current = { known: null, stop };
    load();
    return stop;
  }, [wanted, Boolean(me)]);
  return (
    <div class="page">
      <div class="page-head">
        <h1>{say('utilisation')}</h1>
        <select aria-label={say('type')} value={type}
          onChange={(event) => toType(event.currentTarget.value)}>
          {types.map((one) => <option key={one.name} value={one.name}>{kindOf(one)}</option>)}
        </select>
        {properties?.length !== 0 && (
          <select aria-label={say('grouping')} value={group}
            onChange={(event) => update({ ...UNGROUPED, group: event.currentTarget.value })}>
            <option value="">{say('ungrouped')}</option>
            {properties?.map((name) => <option key={name} value={name}>{say('groupedBy', { name })}</option>)}
          </select>
        )}
      </div>
      {!asked && <Loading />}
      {asked && <Chart asked={asked} />}
      {asked && <Heat asked={asked} />}
    </div>
  );
}

function Chart({ asked }: { asked: Asked }) {
  const { fine, start, end } = asked;
  const paint: Paint = (ink, colours, width, height) => {
    ink.clearRect(0, 0, width, height);
    const frame = { left: 44, top: 8, width: width - 44, height: height - 34, start, end };
    ink.font = colours.small;
    ink.textBaseline = 'middle';
    for (const share of [0, 0.5, 1]) {
      const y = frame.top + frame.height * (1 - share);
      ink.fillStyle = colours.line;
      ink.fillRect(frame.left, Math.round(y), frame.width, 1);
      ink.fillStyle = colours.muted;
      ink.fillText(percent(share), 4, y);
    }
    drawShares(ink, colours, fine, frame);
    const every = width > 900 ? 2 : 7;
    asked.days.forEach((at, n) => {
      const x = frame.left + ((at - start) / (end - start)) * frame.width;
      if (weekday(at, state.zone) === 1) {
        ink.fillStyle = colours['line-strong'];
        ink.fillRect(Math.round(x), frame.top, 1, frame.height + 6);
      }
      ink.fillStyle = colours.muted;
      if (n % every === 0) ink.fillText(date(at, { day: 'numeric', month: 'short' }), x + 3, height - 12);
    });
  };
  return (
    <section class="panel chart">
      <h2>{say('bookedShare')}</h2>
      <div class="chart-legend">
        {fine.groups.slice(0, MOST_GROUPS).map(({ value }, number) => (
          <span key={number}><i class={`dot ${COLOURS[number]}`} />{value ?? (state.group ? '–' : say('all'))}</span>
        ))}
      </div>
      <Canvas class="chart-canvas" paint={paint} />
    </section>
  );
}

/** Return the least that is free in a day, and the total then. */
function least(asked: Asked, group: number, day: number): [number, number] {
  const { whole } = asked.fine.groups[group]!;
  const begin = seconds(asked.fine.start);
  const until = asked.days[day + 1] ?? asked.end;
  const first = Math.max(0, Math.floor((asked.days[day]! - begin) / STEP));
  const last = Math.ceil((until - begin) / STEP);
  return [Math.min(...whole.free.slice(first, last)), Math.min(...whole.total.slice(first, last))];
}

function Heat({ asked }: { asked: Asked }) {
  const { groups } = asked.fine;
  return (
    <section class="panel table-box" tabIndex={0} role="region" aria-label={say('freeEachDay')}>
      <h2>{say('freeEachDay')}</h2>
      <table class="heat">
        <thead>
          <tr>
            <th scope="col">{say('group')}</th>
            {asked.days.map((at, n) => (
              <th scope="col" key={at}>
                {date(at, n === 0 || date(at, { day: 'numeric' }) === '1'
                  ? { day: 'numeric', month: 'short' } : { day: 'numeric' })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map(({ value }, group) => (
            <tr key={group}>
              <th scope="row">{value ?? (state.group ? '–' : say('all'))}</th>
              {asked.days.map((at, day) => {
                const [free, total] = least(asked, group, day);
                const level = total > 0 ? Math.ceil((free / total) * 5) : 0;
                return <td key={at} class={`heat-${level}`}>{free}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
