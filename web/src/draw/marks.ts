// SPDX-License-Identifier: Apache-2.0

/** What the pointer and the keyboard mark: free time, the period that is dragged, the focus. */
import { rows } from '../data/live.ts';
import { viewport } from '../data/state.ts';
import { duration, period, say } from '../words/index.ts';
import type { Palette } from './palette.ts';

export interface Area { first: number; last: number; start: number; end: number }
export interface Marks {
  /** The row under the pointer. */
  row: number;
  gap: (Area & { open: boolean }) | null;
  drag: (Area & { closing: boolean }) | null;
  /** A lease at other times. */
  change: Change | null;
  /** What the form is about. */
  draft: Area[];
  focus: Area | null;
  /** Where a lease may be that may still move, while the pointer or the focus is on it. */
  window: (Area & { words: string }) | null;
}
export interface Change {
  id: string; start: number; end: number; words: string; kind: 'plain' | 'good' | 'bad';
}
export const noMarks = (): Marks =>
  ({ row: -1, gap: null, drag: null, change: null, draft: [], focus: null, window: null });

type Ink = CanvasRenderingContext2D;

export function drawMarks(ink: Ink, colours: Palette, marks: Marks): void {
  if (marks.gap && !marks.drag && !marks.change) drawGap(ink, colours, marks.gap);
  for (const area of marks.draft) drawArea(ink, colours.accent, area, '', true);
  if (marks.drag) {
    const { drag } = marks;
    const many = rows.count(drag.first, drag.last);
    const words = `${period(drag.start, drag.end)} · ${duration(drag.end - drag.start)}${many > 1 ? ` × ${many}` : ''}`;
    drawArea(ink, drag.closing ? colours.warn : colours.accent, drag, words, true);
    drawWords(ink, colours, drag, words);
  }
  if (marks.window && !marks.drag && !marks.change) {
    drawArea(ink, colours.accent, marks.window, '', true);
    drawWords(ink, colours, marks.window, marks.window.words);
  }
  if (marks.change) drawChange(ink, colours, marks.change);
  if (marks.focus) {
    const [left, top, width, height] = rectangle(marks.focus);
    ink.strokeStyle = colours.text;
    ink.lineWidth = 2;
    ink.beginPath();
    ink.roundRect(left, top + 1, Math.max(width, 4), height - 3, 5);
    ink.stroke();
  }
}

/** Return the areas of the rows in view that a lease has, if it was at other times or ended so. */
export function areasOf(id: string, times: { start?: number; end?: number }): Area[] {
  const found: Area[] = [];
  for (let row = viewport.row(0); row <= Math.min(viewport.row(viewport.height), rows.total - 1); row++) {
    const chunk = rows.chunkOf(row);
    if (!chunk) continue;
    const at = row - chunk.first;
    for (let bar = chunk.from[at]!; bar < chunk.from[at + 1]!; bar++) {
      if (chunk.leases.id[chunk.lease[bar]!] !== id) continue;
      const own = { start: chunk.begins[bar]!, end: chunk.ends[bar]! };
      found.push({ first: row, last: row, ...own, ...times });
    }
  }
  return found;
}

function drawChange(ink: Ink, colours: Palette, { id, start, end, words, kind }: Change): void {
  const areas = areasOf(id, { start, end });
  const colour = { plain: colours.accent, good: colours.good, bad: colours.bad }[kind];
  for (const area of areas) drawArea(ink, colour, area, '', kind !== 'good');
  if (areas[0]) drawWords(ink, colours, areas[0], words);
}

function rectangle(area: Area): [number, number, number, number] {
  const left = Math.max(viewport.x(area.start), 1);
  const right = Math.min(viewport.x(area.end), viewport.width - 1);
  const top = viewport.y(area.first);
  return [left, top, right - left, viewport.y(area.last + 1) - top];
}

function drawArea(ink: Ink, colour: string, area: Area, _words: string, dashed: boolean): void {
  const [left, top, width, height] = rectangle(area);
  if (width <= 0) return;
  ink.save();
  ink.beginPath();
  ink.roundRect(left, top + 1, Math.max(width, 3), height - 3, 5);
  ink.globalAlpha = 0.18;
  ink.fillStyle = colour;
  ink.fill();
  ink.globalAlpha = 1;
  ink.strokeStyle = colour;
  ink.lineWidth = 1.5;
  if (dashed) ink.setLineDash([5, 3]);
  ink.stroke();
  ink.restore();
}

function drawWords(ink: Ink, colours: Palette, area: Area, words: string): void {
  const [left, top, width, height] = rectangle(area);
  ink.font = colours.bold;
  ink.textBaseline = 'middle';
  const wide = ink.measureText(words).width;
  const middle = Math.min(Math.max(left + width / 2 - wide / 2, 4), viewport.width - wide - 4);
  ink.fillStyle = colours.panel;
  ink.globalAlpha = 0.85;
  ink.beginPath();
  ink.roundRect(middle - 5, top + height / 2 - 10, wide + 10, 19, 5);
  ink.fill();
  ink.globalAlpha = 1;
  ink.fillStyle = colours.text;
  ink.fillText(words, middle, top + height / 2);
}

function drawGap(ink: Ink, colours: Palette, gap: Area & { open: boolean }): void {
  if (viewport.rowHeight < 18) return;
  const [left, top, width, height] = rectangle(gap);
  if (width < 4) return;
  ink.save();
  ink.strokeStyle = colours.accent;
  ink.lineWidth = 1;
  ink.setLineDash([4, 3]);
  ink.beginPath();
  ink.roundRect(left + 1.5, top + 3.5, width - 3, height - 8, 4);
  ink.stroke();
  const d = duration(gap.end - gap.start);
  const words = gap.open ? say('freeAtLeast', { d }) : say('free', { d });
  ink.font = colours.small;
  ink.textBaseline = 'middle';
  ink.fillStyle = colours['accent-text'];
  if (ink.measureText(words).width < width - 14) {
    ink.fillText(words, left + 10, top + height / 2);
  }
  ink.restore();
}
