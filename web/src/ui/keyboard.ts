// SPDX-License-Identifier: Apache-2.0

/** The grid by keyboard: from bar to gap, from row to row. Each move is announced. */
import { look, rows } from '../data/live.ts';
import { fold, present, speak, update, viewport } from '../data/state.ts';
import { isMine } from '../draw/bars.ts';
import type { Marks } from '../draw/marks.ts';
import { moves } from '../model/columns.ts';
import { stops } from '../model/hits.ts';
import type { Stop } from '../model/hits.ts';
import type { Section } from '../model/layout.ts';
import { plainName } from '../model/names.ts';
import { duration, moment, say } from '../words/index.ts';
import { draftOf } from './drafts.ts';
import { Windows } from './movable.ts';
import { Retiming, hasBegun, holdable } from './retiming.ts';

/** Which row and instant has the focus. */
export interface Cursor { row: number; at: number }

export class Keyboard {
  cursor: Cursor = { row: 0, at: 0 };
  /** Whether the row that has the focus has not come yet. */
  private waits = false;
  /** A lease that the arrow keys move. */
  private change: Retiming | null = null;
  private readonly windows: Windows;

  /** `cell` is what has the focus for screen readers. */
  constructor(
    private readonly marks: Marks, private readonly cell: HTMLElement,
    private readonly moved: () => void, private readonly scrollTo: (row: number) => void,
    private readonly today: () => void,
  ) {
    this.windows = new Windows(marks, (words) => {
      this.announce(`${this.cell.textContent} ${words}`);
      moved();
    });
  }

  /** Handle a key; true if it means something here. */
  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (this.change) return this.changing(event);
    const act = this.actions[event.key];
    if (!act) return false;
    // The rows may have changed since they were drawn.
    look();
    // A click takes the focus without showing it.
    if (!this.marks.focus) this.enter();
    act();
    this.moved();
    return true;
  }

  /** Mark the focus again: what had it is in another row now or gone, or has come. */
  follow(laid: boolean): void {
    if (this.marks.focus && (laid || (this.waits && rows.chunkOf(this.cursor.row)))) this.mark();
  }

  private readonly page = (): number => Math.floor(viewport.height / viewport.rowHeight) - 1;

  private readonly actions: Record<string, () => void> = {
    ArrowRight: () => this.sideways(1), ArrowLeft: () => this.sideways(-1),
    ArrowDown: () => this.byRows(1), ArrowUp: () => this.byRows(-1),
    PageDown: () => this.byRows(this.page()), PageUp: () => this.byRows(-this.page()),
    Home: () => this.toRow(0), End: () => this.toRow(rows.total - 1),
    Enter: () => this.open(), ' ': () => this.open(),
    '+': () => viewport.zoom(0.5, viewport.width / 2), '-': () => viewport.zoom(2, viewport.width / 2),
    t: () => this.today(), T: () => this.today(), m: () => this.take(), M: () => this.take(),
  };

  /** Take the lease that has the focus, to move it or its end. */
  private take(): void {
    const chunk = rows.chunkOf(this.cursor.row);
    const { all, index } = this.here();
    const stop = all[index];
    const held = chunk && stop?.kind === 'bar' ? holdable(chunk, stop.bar) : null;
    if (!held) return this.announce(say('sayFixed'));
    this.change = new Retiming({ ...held, grip: hasBegun(held) ? 'end' : 'move' }, this.marks, this.moved);
    return this.announce(say(hasBegun(held) ? 'sayEndMoves' : 'sayMoves', { lease: held.name }));
  }

  /** Handle a key while a lease is moved. */
  private changing({ key, shiftKey }: KeyboardEvent): boolean {
    if (key === 'ArrowRight' || key === 'ArrowLeft') this.change!.step(key === 'ArrowRight' ? 1 : -1, shiftKey);
    else if (key === 'Enter') this.leave(true);
    else if (key === 'Escape') this.leave(false);
    else return key.startsWith('Arrow');
    return true;
  }

  /** Move it no longer; what is wanted then is confirmed in the drawer. */
  leave(wanted: boolean): void {
    const { change } = this;
    this.change = null;
    if (wanted) change?.finish();
    else if (change) {
      change.cancel();
      this.mark();
    }
  }

  /** The focus begins at the present, or where the view is. */
  enter(): void {
    const now = present();
    const inside = this.cursor.at >= viewport.start && this.cursor.at < viewport.end;
    if (!inside) {
      const seen = now >= viewport.start && now < viewport.end;
      this.cursor.at = seen ? now : viewport.start;
    }
    const top = viewport.row(0);
    if (this.cursor.row < top || viewport.y(this.cursor.row) > viewport.height) this.cursor.row = top;
    this.mark();
    this.moved();
  }

  /** Return what has the focus. */
  private here(): { all: Stop[]; index: number } {
    const chunk = rows.chunkOf(this.cursor.row);
    const all = chunk ? stops(chunk, this.cursor.row - chunk.first, present()) : [];
    let index = all.findIndex((stop) => stop.start <= this.cursor.at && this.cursor.at < stop.end);
    if (index < 0) index = all.findIndex((stop) => stop.start >= this.cursor.at);
    return { all, index: index < 0 ? all.length - 1 : index };
  }

  private sideways(by: number): void {
    const { all, index } = this.here();
    const next = all[index + by];
    if (next) {
      this.cursor.at = next.start;
      if (next.start < viewport.start || next.start > viewport.end - viewport.span / 8) {
        viewport.start = next.start - viewport.span / 4;
      }
    }
    this.mark();
  }

  private byRows(by: number): void {
    this.toRow(rows.layout.step(this.cursor.row, by));
  }

  private toRow(row: number): void {
    this.cursor.row = row;
    this.mark();
    this.scrollTo(this.cursor.row);
  }

  private open(): void {
    const head = rows.layout.headAt(this.cursor.row);
    if (head) {
      fold(head.key);
      look();
      return this.mark();
    }
    const { all, index } = this.here();
    const stop = all[index];
    const { row } = this.cursor;
    const chunk = rows.chunkOf(row);
    if (!stop || !chunk) return;
    if (stop.kind === 'bar') {
      const lease = chunk.lease[stop.bar]!;
      if (lease >= 0) update({ drawer: { kind: 'lease', id: chunk.leases.id[lease]! } });
      return;
    }
    const unit = Math.min(viewport.snap, 900);
    const soonest = Math.ceil((Math.max(stop.start, present()) + (stop.start <= present() ? 60 : 0)) / unit) * unit;
    const start = soonest < stop.end ? soonest : stop.start;
    const end = stop.open ? start + 3600 * 4 : Math.min(stop.end, start + 3600 * 4);
    update({ drawer: { kind: 'form', draft: draftOf(row, row, start, end) } });
  }

  /** Mark the focus, and announce it. */
  private mark(): void {
    const row = this.cursor.row = Math.max(0, Math.min(this.cursor.row, rows.total - 1));
    const head = rows.layout.headAt(row);
    if (head) return this.markHead(head);
    const { all, index } = this.here();
    const chunk = rows.chunkOf(row);
    const stop = all[index];
    this.marks.focus = stop ? { first: row, last: row, start: stop.start, end: stop.end }
      : { first: row, last: row, start: viewport.start, end: viewport.end };
    this.waits = !chunk;
    if (!chunk) return this.announce(say(rows.total ? 'loading' : 'nothing'));
    const name = plainName(chunk.name[row - chunk.first]!);
    this.windows.show(chunk, stop?.kind === 'bar' ? stop.bar : -1, row);
    this.announce(stop ? this.words(name, stop, chunk) : say('sayRow', { name }));
  }

  private announce(words: string): void {
    this.cell.textContent = words;
    speak(words);
  }

  private markHead(head: Section): void {
    const last = head.row + rows.layout.head - 1;
    this.cursor.row = head.row;
    this.marks.focus = { first: head.row, last, start: viewport.start, end: viewport.end };
    const values = { name: head.value ?? '–', n: head.count };
    this.announce(say(head.folded ? 'sayFolded' : 'sayGroup', values));
  }

  private words(name: string, stop: Stop, chunk: NonNullable<ReturnType<typeof rows.chunkOf>>): string {
    const times = { name, start: moment(stop.start), end: moment(stop.end) };
    if (stop.kind === 'gap') {
      return stop.open ? say('sayFreeOpen', times)
        : say('sayFree', { ...times, d: duration(stop.end - stop.start) });
    }
    if (!isMine(chunk, stop.bar)) return say('sayBusy', times);
    const lease = chunk.lease[stop.bar]!;
    const words = say('sayMine', { ...times, lease: chunk.leases.name[lease]! });
    return moves(chunk.leases, lease, present()) ? `${words} ${say('sayFlexible')}` : words;
  }
}
