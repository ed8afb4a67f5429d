// SPDX-License-Identifier: Apache-2.0

/** A lease at other times, while a person drags its bar or an edge of it, or presses keys. */
import { get, seconds } from '../data/api.ts';
import { trouble } from '../data/live.ts';
import { present, speak, state, update, viewport } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { isMine } from '../draw/bars.ts';
import type { Marks } from '../draw/marks.ts';
import type { Chunk } from '../model/columns.ts';
import { moment, period, say } from '../words/index.ts';

/** What is held: the whole bar, or one of its edges. */
export type Grip = 'move' | 'start' | 'end';
export interface Held { id: string; name: string; start: number; end: number; grip: Grip }

/** Milliseconds without a change after which the service is asked. */
const PAUSE = 250;
/** Pixels of an edge: inside the bar and outside. */
const [INSIDE, OUTSIDE] = [7, 3];
/** Pixels of a bar that is wide enough to be held in the middle. */
const WIDE = 28;
const OVER = new Set(['TERMINATED', 'DELETED', 'DELETING', 'TERMINATING']);

/** Return the bar of the project that can be held as a whole; null if it is over or not theirs. */
export function holdable(chunk: Chunk, bar: number): Omit<Held, 'grip'> | null {
  if (bar < 0 || !isMine(chunk, bar) || !state.me?.may['leases:update']) return null;
  const lease = chunk.lease[bar]!;
  const [start, end] = [chunk.begins[bar]!, chunk.ends[bar]!];
  if (OVER.has(chunk.leases.status[lease]!) || end <= present()) return null;
  return { id: chunk.leases.id[lease]!, name: chunk.leases.name[lease]!, start, end };
}

export const hasBegun = ({ start }: { start: number }): boolean => start <= present();

/** Return what of a bar is at a place in pixels; a lease that has begun can only end at another time. */
export function gripAt(held: Omit<Held, 'grip'>, x: number): Grip | null {
  const [left, right] = [viewport.x(held.start), viewport.x(held.end)];
  const narrow = right - left < WIDE;
  const inside = narrow ? (right - left) / 3 : INSIDE;
  if (x >= right - inside && x <= right + OUTSIDE) return 'end';
  if (hasBegun(held)) return null;
  if (x >= left - OUTSIDE && x <= left + inside && !narrow) return 'start';
  return x >= left && x <= right ? 'move' : null;
}

const snapped = (at: number): number => Math.round(at / viewport.snap) * viewport.snap;
const nextMinute = (): number => Math.ceil(present() / 60) * 60;

/** What is held, where it would be, and what the service says to that. */
export class Retiming {
  private lease: Promise<Lease> | null = null;
  private timer = 0;
  private abort = new AbortController();
  private times: { start: number; end: number };

  constructor(readonly held: Held, private readonly marks: Marks, private readonly moved: () => void) {
    this.times = { start: held.start, end: held.end };
  }

  /** Move what is held by some seconds from where it was. */
  by(length: number): void {
    const { start, end, grip } = this.held;
    if (grip === 'end') return this.to(start, Math.max(snapped(end + length), Math.max(start, present()) + 60));
    if (grip === 'start') return this.to(Math.min(Math.max(snapped(start + length), nextMinute()), end - 60), end);
    const moved = Math.max(snapped(start + length), nextMinute());
    return this.to(moved, moved + end - start);
  }

  /** Move it by one step of keys from where it is, or its end. */
  step(steps: number, end: boolean): void {
    const { times, held } = this;
    const by = steps * viewport.snap;
    const least = Math.max(times.start, present()) + 60;
    if (end || hasBegun(held)) return this.to(times.start, Math.max(snapped(times.end + by), least), true);
    const start = Math.max(snapped(times.start + by), nextMinute());
    return this.to(start, start + times.end - times.start, true);
  }

  /** Return the times that differ from those of the lease. */
  private get requested(): { start?: number; end?: number } {
    const { times, held } = this;
    return {
      ...(times.start === held.start ? {} : { start: times.start }),
      ...(times.end === held.end ? {} : { end: times.end }),
    };
  }

  private to(start: number, end: number, aloud = false): void {
    if (start === this.times.start && end === this.times.end) return;
    this.times = { start, end };
    const words = period(start, end);
    this.marks.change = { ...this.held, start, end, words, kind: 'plain' };
    if (aloud) speak(say('sayTimes', { start: moment(start), end: moment(end) }));
    this.abort.abort();
    this.abort = new AbortController();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(this.abort.signal, words).catch(trouble), PAUSE);
    this.moved();
  }

  private async ask(signal: AbortSignal, words: string): Promise<void> {
    if (Object.keys(this.requested).length === 0) return;
    this.lease ??= get<{ lease: Lease }>(`leases/${encodeURIComponent(this.held.id)}`).then(({ lease }) => lease);
    const [lease, { checkTimes }] = await Promise.all([this.lease, import('./proposals.ts')]);
    const now = { start: seconds(lease.start_date), end: seconds(lease.end_date) };
    const verdict = await checkTimes(lease, { ...now, ...this.requested }, signal);
    if (signal.aborted || !this.marks.change) return;
    const said = [verdict.title, ...verdict.details].join(' ');
    Object.assign(this.marks.change, { kind: verdict.kind, words: `${words} · ${said}` });
    speak(said);
    this.moved();
  }

  /** End it: what is wanted is to be confirmed in the drawer of the lease. */
  finish(): void {
    const { requested } = this;
    this.cancel();
    if (Object.keys(requested).length > 0) update({ drawer: { kind: 'lease', id: this.held.id, times: requested } });
  }

  cancel(): void {
    clearTimeout(this.timer);
    this.abort.abort();
    this.marks.change = null;
    this.moved();
  }
}
