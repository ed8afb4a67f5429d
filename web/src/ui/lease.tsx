// SPDX-License-Identifier: Apache-2.0

/** A lease: how long it still is, what it has, what one can do, what happened and what will. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, get, seconds } from '../data/api.ts';
import { hasRows, onTurn, toType, trouble } from '../data/live.ts';
import { present, startAt, state, update, viewport } from '../data/state.ts';
import type { History, Lease, Queued } from '../data/types.ts';
import { duration, moment } from '../words/index.ts';
import { say, sayOf } from '../words/lease/index.ts';
import { Acts } from './acts.tsx';
import { Sheet } from './drawer.tsx';
import { FactList } from './facts.tsx';
import { CalendarLink } from './feed.tsx';
import { FeedList } from './feeds.tsx';
import { Loading, Note } from './fields.tsx';
import { Copied, Holdings } from './holdings.tsx';
import { populationOf } from './parts.ts';
import type { Times } from './proposals.ts';
import { forecastOf, missingOf, placeOf } from './queue.tsx';
import { Steps } from './steps.tsx';
import { moves } from './toolbar.tsx';

const OVER = new Set(['TERMINATED', 'DELETED']);
export const isOver = (lease: Lease): boolean => OVER.has(lease.status);

export const Badge = ({ status }: { status: string }) =>
  <span class={`badge ${status.toLowerCase()}`}>{sayOf('status', status)}</span>;

/** Show a lease in the calendar, at its time and among its resources, if a link is to it. */
function seek(lease: Lease): void {
  if (state.sought !== lease.id) return;
  const types = lease.reservations.map((one) => populationOf(one.resource_type)).filter(hasRows);
  update({ sought: '' });
  if (types[0] && !types.includes(state.type)) {
    if (!state.types.some(({ name }) => name === types[0])) update({ types: [...state.types, { name: types[0] }] });
    toType(types[0]);
  }
  const [start, end] = [seconds(lease.start_date), seconds(lease.end_date)];
  if (start < viewport.end && end > viewport.start) return;
  viewport.start = startAt(start);
  moves.forEach((moved) => moved());
}

interface LeaseDetails { lease: Lease; history: History | null; queued: Queued | null }

async function fetched(id: string): Promise<LeaseDetails> {
  const path = `leases/${encodeURIComponent(id)}`;
  const [{ lease }, answer] = await Promise.all([
    get<{ lease: Lease }>(path),
    get<{ history: History }>(`${path}/history`).catch(() => null),
  ]);
  return { lease, history: answer?.history ?? null, queued: await placeOf(lease) };
}

/** `times` are those that one thinks of giving it. */
export function LeaseDetails({ id, times }: { id: string; times?: Partial<Times> }) {
  const [found, setFound] = useState<LeaseDetails | null>(null);
  const [gone, setGone] = useState(false);
  const stop = useRef(() => {});
  const load = (): void => void fetched(id).then((answer) => {
    setFound(answer);
    seek(answer.lease);
  }, (error: unknown) => {
    if (!(error instanceof Refusal) || error.status !== 404) return trouble(error);
    // It does not come back.
    stop.current();
    setGone(true);
  });
  useEffect(() => {
    stop.current = onTurn(load);
    load();
    return () => stop.current();
  }, [id]);
  if (gone) {
    return <Sheet title={found?.lease.name ?? say('title')}><Note kind="bad">{say('noLonger')}</Note></Sheet>;
  }
  if (!found) return <Sheet title={say('title')}><Loading /></Sheet>;
  const { lease, history, queued } = found;
  return (
    <Sheet title={lease.name} badge={<Badge status={lease.status} />}>
      {lease.status === 'WAITING' ? <Note kind="plain">{say(hasRun(lease) ? 'hasYielded' : 'waits')}</Note> : <Countdown lease={lease} />}
      {isCut(lease) && (
        <Note kind="plain">
          {say('yieldsAt', { time: moment(seconds(lease.end_date)), outcome: sayOf('outcome', lease.yield!) })}
        </Note>
      )}
      {lease.degraded && <Note kind="bad">{say('degraded')}</Note>}
      {movesUntil(lease) > present() && <Note kind="plain">{say('flexible', { time: moment(movesUntil(lease)) })}</Note>}
      <Facts lease={lease} queued={queued} />
      <Holdings lease={lease} />
      {!isOver(lease) && <Acts lease={lease} changed={load} {...(times ? { times } : {})} />}
      {state.me?.may['feeds:create'] && <CalendarLink lease={lease} />}
      <FeedList lease={lease} />
      {history && <Steps history={history} />}
      <Copied what={say('leaseId')} text={lease.id} />
    </Sheet>
  );
}

/** Return whether others need the resources of a lease before its time is over. */
const isCut = (lease: Lease): boolean => ['STARTING', 'ACTIVE', 'UPDATING'].includes(lease.status)
  && seconds(lease.end_date) - seconds(lease.start_date) < (lease.time_left ?? 0) && lease.yield !== 'end';
/** Return whether a lease that waits has had a slice: it has events then. */
const hasRun = (lease: Lease): boolean => Boolean(lease.preemptible) && lease.events.length > 0;

function Countdown({ lease }: { lease: Lease }) {
  const [start, end, now] = [seconds(lease.start_date), seconds(lease.end_date), present()];
  const over = now >= end || isOver(lease);
  const share = over ? 1 : Math.max(0, (now - start) / (end - start));
  return (
    <>
      <p class="countdown">
        {!over && <strong>{duration((now < start ? start : end) - now)}</strong>}{' '}
        {say(over ? 'over' : now < start ? 'untilStart' : isCut(lease) ? 'untilYield' : 'untilEnd')}
      </p>
      <progress max={1} value={share} aria-label={say('length')} />
    </>
  );
}

/** Return until when a lease may still begin at another time; 0 if it does not. */
const movesUntil = (lease: Lease): number =>
  (lease.status === 'PENDING' && lease.firm_at ? seconds(lease.firm_at) : 0);

/** Return when a flexible lease may be, and when its start is firm, in words. */
function windowOf({ earliest, latest, firm_at, status }: Lease): [string, string][] {
  if (!earliest) return [];
  const start = moment(seconds(earliest));
  const window = latest ? say('windowBetween', { start, end: moment(seconds(latest)) }) : say('windowFrom', { start });
  if (status === 'WAITING' || !firm_at) return [[say('window'), window]];
  const firm = seconds(firm_at);
  const since = say(firm <= present() ? 'firmSince' : 'firmFrom', { time: moment(firm) });
  return [[say('window'), window], [say('firm'), since]];
}

const waitOf = ({ status, wait_until: until }: Lease): [string, string][] =>
  (status === 'WAITING' && until ? [[say('waitUntil'), moment(seconds(until))]] : []);

/** Return what a preemptible lease has besides. */
function slicesOf({ preemptible, yield: mode, time_left: left }: Lease): [string, string][] {
  if (!preemptible || !mode) return [];
  return [[say('whenNeeded'), sayOf('yield', mode)], [say('timeLeft'), duration(left ?? 0)]];
}

/** Return who made a lease; older leases have only ids. */
export const ownerOf = (lease: Lease): string => lease.user_name ?? lease.user_id;
export const projectOf = (lease: Lease): string => lease.project_name
  ?? (lease.project_id === state.me?.project_id ? state.me.project_name : lease.project_id);

/** Return the place of a lease in the queue, and what it waits for. */
function queueOf(queued: Queued | null): [string, string][] {
  if (!queued) return [];
  const missing = missingOf(queued);
  const { place, ahead } = queued;
  return [
    [say('queue'), say('ahead', { place, n: ahead.leases })],
    ...(queued.status === 'WAITING' ? [[say('forecast'), forecastOf(queued)] as [string, string]] : []),
    ...(missing ? [[say('waitsFor'), missing] as [string, string]] : []),
  ];
}

function Facts({ lease, queued }: { lease: Lease; queued: Queued | null }) {
  const [start, end] = [seconds(lease.start_date), seconds(lease.end_date)];
  const dates: [string, string][] = lease.status === 'WAITING' ? []
    : [[say('start'), moment(start)], [say('end'), moment(end)]];
  return (
    <FactList facts={[
      ...dates, [say('length'), duration(end - start)], ...windowOf(lease), ...waitOf(lease), ...slicesOf(lease), ...queueOf(queued),
      [say('owner'), ownerOf(lease)], [say('ofProject'), projectOf(lease)],
    ]} />
  );
}
