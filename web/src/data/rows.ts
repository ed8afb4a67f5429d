// SPDX-License-Identifier: Apache-2.0

/** The rows of the grid: pages of the calendar, fetched as they are looked at. */
import { parse } from '../model/columns.ts';
import type { CalendarAnswer, Chunk } from '../model/columns.ts';
import { Layout } from '../model/layout.ts';
import type { Group } from '../model/layout.ts';
import { call, iso } from './api.ts';

export const PAGE = 100;
/** Pages that are kept; each has about a thousand bars. */
const MOST = 30;
const AT_ONCE = 4;
const DAY = 86400;

/** `views` are the chunk with other numbers of rows, by how far they are from its own. */
interface Entry {
  chunk: Chunk; views: Map<number, Chunk>; etag: string | null; used: number; key: string;
}
export interface RowFilter { type: string; search: string; group: string; mine: boolean }
/** How groups are shown; see Layout. */
export interface Arrangement { head: number; folded: ReadonlySet<string>; only: string | null }

export class Rows {
  /** How many resources there are; -1 as long as it is not known. */
  resources = -1;
  groups: Group[] | null = null;
  layout = new Layout(null, -1);
  generation = 0;
  /** Resolves when the first request is over, whatever its outcome. */
  readonly first: Promise<void>;
  private over = (): void => {};
  /** Counts, since a clock is slower: it is read for each row of each frame. */
  private uses = 0;
  private readonly entries = new Map<number, Entry>();
  private readonly loading = new Map<number, string>();
  private filter: RowFilter = { type: '', search: '', group: '', mine: false };
  private arrangement: Arrangement = { head: 1, folded: new Set(), only: null };
  private window = { start: 0, end: 0 };
  private shown = [0];

  constructor(
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {
    this.first = new Promise((over) => { this.over = over; });
  }

  /** Say what is looked at: other rows are other pages, so the old ones are dropped. */
  want(filter: RowFilter): void {
    const same = JSON.stringify(filter) === JSON.stringify(this.filter);
    if (same) return;
    this.filter = filter;
    this.generation += 1;
    this.resources = -1;
    this.groups = null;
    this.lay();
    this.entries.clear();
    this.changed();
  }

  /** Rows of the grid; -1 as long as it is not known. */
  get total(): number {
    return this.layout.total;
  }

  /** Say how groups are shown. */
  arrange(filter: Arrangement): void {
    const { head, folded, only } = this.arrangement;
    if (head === filter.head && folded === filter.folded && only === filter.only) return;
    this.arrangement = filter;
    this.lay();
    this.changed();
  }

  private lay(): void {
    const { head, folded, only } = this.arrangement;
    this.layout = new Layout(this.groups, this.resources, head, folded, only);
  }

  /** Fetch what is missing of these rows and this time, and a screen around it. */
  show(first: number, last: number, start: number, end: number): void {
    const { window } = this;
    const span = end - start;
    const far = window.end - window.start > span * 8;
    if (start < window.start || end > window.end || far) {
      const unit = span > 20 * DAY ? DAY : 3600;
      this.window = {
        start: Math.floor((start - span) / unit) * unit,
        end: Math.min(Math.ceil((end + span) / unit) * unit, start - span + 399 * DAY),
      };
    }
    this.shown = this.layout.pages(Math.max(first, 0), Math.min(last, this.total - 1), PAGE);
    // Also to learn whether resources have come, where none is seen.
    if (this.shown.length === 0) this.shown = [0];
    this.fill(false);
  }

  /** Ask again for what is shown; what did not change is a 304. */
  poll(): void {
    this.fill(true);
  }

  chunkOf(row: number): Chunk | null {
    const resource = this.layout.resource(row);
    const entry = resource < 0 ? undefined : this.entries.get(Math.floor(resource / PAGE));
    if (!entry || resource - entry.chunk.first >= entry.chunk.count) return null;
    entry.used = this.uses += 1;
    return row === resource ? entry.chunk : viewed(entry, row - resource);
  }

  private learn({ total, groups }: CalendarAnswer): void {
    const found = groups?.value.map((value, n) => ({ value, count: groups.count[n]! })) ?? null;
    const same = total === this.resources && JSON.stringify(found) === JSON.stringify(this.groups);
    if (same) return;
    this.resources = total;
    this.groups = found;
    this.lay();
  }

  /** Return how many resources are in some rows, the last one included. */
  count(first: number, last: number): number {
    let found = 0;
    for (let row = first; row <= last; row++) found += Number(this.layout.resource(row) >= 0);
    return found;
  }

  private get key(): string {
    return `${this.generation} ${this.window.start} ${this.window.end}`;
  }

  private fill(again: boolean): void {
    for (const page of this.shown) {
      const entry = this.entries.get(page);
      const fresh = entry?.key === this.key && !again;
      if (fresh || this.loading.get(page) === this.key || this.loading.size >= AT_ONCE) continue;
      void this.load(page, entry?.key === this.key ? entry : undefined);
    }
  }

  private async load(page: number, known: Entry | undefined): Promise<void> {
    const { key, filter, window } = this;
    this.loading.set(page, key);
    let fine = true;
    try {
      const { status, body, etag } = await call<{ calendar: CalendarAnswer }>(
        'GET', 'calendar', undefined, {
          etag: known?.etag ?? null,
          params: {
            resource_type: filter.type, search: filter.search, group_by: filter.group,
            mine: filter.mine || null,
            start: iso(window.start), end: iso(window.end), limit: PAGE, offset: page * PAGE,
          },
        });
      if (key === this.key && status !== 304) this.keep(page, key, body.calendar, etag);
      // Also without news: it says that there is a connection.
      this.changed();
    } catch (error) {
      fine = false;
      this.failed(error);
    }
    this.over();
    if (this.loading.get(page) === key) this.loading.delete(page);
    // While this was on its way, other rows or times may have come into view.
    if (fine) this.fill(false);
  }

  private keep(page: number, key: string, answer: CalendarAnswer, etag: string | null): void {
    this.learn(answer);
    const chunk = parse(answer, page * PAGE);
    this.entries.set(page, { chunk, views: new Map(), etag, key, used: this.uses += 1 });
    if (this.entries.size > MOST) {
      const oldest = [...this.entries].sort((one, other) => one[1].used - other[1].used)[0]!;
      this.entries.delete(oldest[0]);
    }
  }
}

/** Return the chunk of an entry as if its resources were in other rows. */
function viewed({ chunk, views }: Entry, shift: number): Chunk {
  let view = views.get(shift);
  if (!view) views.set(shift, view = { ...chunk, first: chunk.first + shift });
  return view;
}
