// SPDX-License-Identifier: Apache-2.0

/** The grid: rows of resources, their bars, the axis of time. All drawn by hand on one canvas. */
import { present, state, viewport } from '../data/state.ts';
import { rows } from '../data/live.ts';
import { plainName } from '../model/names.ts';
import { allDays, longest, months, stepFor, ticks } from '../model/ticks.ts';
import type { Tick } from '../model/ticks.ts';
import { dayStart, weekday } from '../model/zones.ts';
import { clock, date, dayName } from '../words/index.ts';
import { drawBars } from './bars.ts';
import { drawHeadNames, drawHeads } from './heads.ts';
import { drawMarks } from './marks.ts';
import type { Marks } from './marks.ts';
import type { Palette } from './palette.ts';
import { fit, widthOf } from './text.ts';

export const AXIS = 46;
/** Pixels of a day or month beside whose name there is little room. */
const CLOSE = 40;
type Ink = CanvasRenderingContext2D;

/** Draw everything. `names` is the width of the first column. */
export function drawGrid(ink: Ink, colours: Palette, names: number, marks: Marks): void {
  const { width, height } = viewport;
  ink.clearRect(0, 0, names + width, height + AXIS);
  ink.fillStyle = colours.panel;
  ink.fillRect(0, 0, names + width, height + AXIS);
  ink.save();
  ink.translate(names, AXIS);
  ink.beginPath();
  ink.rect(0, 0, width, height);
  ink.clip();
  drawDays(ink, colours);
  drawLines(ink, colours);
  drawBars(ink, colours);
  drawHeads(ink, colours);
  drawMarks(ink, colours, marks);
  drawNow(ink, colours);
  ink.restore();
  drawNames(ink, colours, names, marks);
  drawAxis(ink, colours, names);
}

function drawDays(ink: Ink, colours: Palette): void {
  const { start, end, height, span } = viewport;
  if (span > 100 * 86400) return;
  ink.fillStyle = colours.weekend;
  for (const { at } of allDays(start - 86400, end, state.zone)) {
    const day = weekday(at, state.zone);
    if (day !== 0 && day !== 6) continue;
    const left = viewport.x(at);
    ink.fillRect(left, 0, viewport.x(dayStart(at, state.zone, 1)) - left, height);
  }
}

function small(): Tick[] {
  const step = stepFor(viewport.span, viewport.width, viewport.span > 3 * 86400 ? 52 : 64);
  return ticks(viewport.start, viewport.end, step, state.zone);
}

function drawLines(ink: Ink, colours: Palette): void {
  const { width, height, rowHeight } = viewport;
  for (const tick of small()) {
    ink.fillStyle = tick.strong ? colours['line-strong'] : colours.line;
    ink.fillRect(Math.round(viewport.x(tick.at)), 0, 1, height);
  }
  if (rowHeight < 12) return;
  ink.fillStyle = colours.line;
  const last = Math.min(viewport.row(height), Math.max(rows.total, 0));
  for (let row = viewport.row(0); row <= last; row++) {
    ink.fillRect(0, Math.round(viewport.y(row)) - 1, width, 1);
  }
}

function drawNow(ink: Ink, colours: Palette): void {
  const x = Math.round(viewport.x(present()));
  if (x < 0 || x > viewport.width) return;
  ink.fillStyle = colours.now;
  ink.fillRect(x - 1, 0, 2, viewport.height);
}

function drawNames(ink: Ink, colours: Palette, names: number, marks: Marks): void {
  const { height, rowHeight } = viewport;
  ink.save();
  ink.beginPath();
  ink.rect(0, AXIS, names, height);
  ink.clip();
  ink.textBaseline = 'middle';
  const last = Math.min(viewport.row(height), rows.total - 1);
  const tagged = state.group && !rows.layout.grouped;
  let group: string | null | undefined;
  for (let row = viewport.row(0); row <= last; row++) {
    const chunk = rows.chunkOf(row);
    const y = AXIS + viewport.y(row);
    if (!chunk) continue;
    const at = row - chunk.first;
    const own = chunk.group[at];
    if (rowHeight >= 18) {
      if (marks.row === row) {
        ink.fillStyle = colours.hover;
        ink.fillRect(0, y, names, rowHeight);
      }
      nameRow(ink, colours, names, y, plainName(chunk.name[at]!), chunk.disabled[at] || chunk.failed[at]);
    }
    // Too many groups have no heads.
    if (tagged && own !== group) drawGroup(ink, colours, names, y, own ?? '–');
    group = own;
  }
  drawHeadNames(ink, colours, names, AXIS);
  ink.restore();
  ink.fillStyle = colours['line-strong'];
  ink.fillRect(names - 1, 0, 1, height + AXIS);
}

function nameRow(
  ink: Ink, colours: Palette, names: number, y: number, name: string, out: number | undefined,
): void {
  const { rowHeight } = viewport;
  ink.fillStyle = colours.line;
  ink.fillRect(0, Math.round(y + rowHeight) - 1, names, 1);
  ink.font = rowHeight > 20 ? colours.font : colours.small;
  ink.fillStyle = out ? colours.muted : colours.text;
  ink.fillText(fit(ink, name, names - (state.group && !rows.layout.grouped ? 92 : 28)), 14, y + rowHeight / 2 + 0.5);
  if (out) {
    const wide = widthOf(ink, fit(ink, name, names - 28));
    ink.fillRect(14, Math.round(y + rowHeight / 2), wide, 1);
  }
}

function drawGroup(ink: Ink, colours: Palette, names: number, y: number, name: string): void {
  ink.fillStyle = colours['line-strong'];
  ink.fillRect(0, Math.round(y) - 1, names, 1);
  ink.font = colours.small;
  const text = fit(ink, name, 60);
  const wide = widthOf(ink, text);
  const room = Math.max(viewport.rowHeight, 16);
  ink.fillStyle = colours['accent-soft'];
  ink.beginPath();
  ink.roundRect(names - wide - 22, y + room / 2 - 9, wide + 12, 18, 5);
  ink.fill();
  ink.fillStyle = colours['accent-text'];
  ink.fillText(text, names - wide - 16, y + room / 2 + 0.5);
}

function drawAxis(ink: Ink, colours: Palette, names: number): void {
  const { width } = viewport;
  ink.save();
  ink.translate(names, 0);
  ink.beginPath();
  ink.rect(0, 0, width, AXIS);
  ink.clip();
  ink.textBaseline = 'middle';
  const hours = viewport.span <= 8 * 86400;
  const large = hours ? allDays(viewport.start, viewport.end, state.zone).map((tick) => tick.at)
    : months(viewport.start, viewport.end, state.zone).map((tick) => tick.at);
  large.forEach((at, n) => label(ink, colours, at, large[n + 1] ?? Infinity, hours));
  ink.font = colours.small;
  const now = nowLabel(ink);
  for (const tick of small()) smallLabel(ink, colours, tick, hours, now);
  if (now) drawNowLabel(ink, colours, now);
  ink.restore();
  ink.fillStyle = colours['line-strong'];
  ink.fillRect(0, AXIS - 1, names + width, 1);
}

function label(ink: Ink, colours: Palette, at: number, next: number, hours: boolean): void {
  ink.font = colours.bold;
  const texts = hours
    ? [dayName(at), date(at, { weekday: 'short', day: 'numeric' }), date(at, { day: 'numeric' })]
    : [date(at, { month: 'long', year: 'numeric' }), date(at, { month: 'short' })];
  // What begins before the axis has the room that is left of it.
  const left = Math.max(viewport.x(at), 0);
  const pad = viewport.x(next) - viewport.x(at) < CLOSE ? 4 : 8;
  const room = viewport.x(next) - left - 1.5 * pad;
  const text = longest(texts, room, (one) => widthOf(ink, one));
  ink.fillStyle = colours['line-strong'];
  ink.fillRect(Math.round(viewport.x(at)), 0, 1, AXIS);
  ink.fillStyle = colours.text;
  if (widthOf(ink, text) <= room) ink.fillText(text, left + pad, 14);
}

interface Label { text: string; left: number; wide: number }

function smallLabel(
  ink: Ink, colours: Palette, tick: Tick, hours: boolean, now: Label | null,
): void {
  const x = Math.round(viewport.x(tick.at));
  ink.fillStyle = colours.line;
  ink.fillRect(x, 26, 1, AXIS - 26);
  const roomy = viewport.width / (viewport.span / 86400) > 64;
  const text = hours ? clock(tick.at)
    : date(tick.at, roomy ? { weekday: 'short', day: 'numeric' } : { day: 'numeric' });
  // Half of a text beside the present is worse than none.
  if (now && x + 6 < now.left + now.wide && x + 6 + widthOf(ink, text) > now.left) return;
  ink.fillStyle = colours.muted;
  ink.fillText(text, x + 6, 35);
}

/** Return what is written at the present, in the font of the canvas; null if it is not seen. */
function nowLabel(ink: Ink): Label | null {
  const x = viewport.x(present());
  if (x < 0 || x > viewport.width) return null;
  const text = clock(present());
  const wide = widthOf(ink, text) + 12;
  return { text, wide, left: Math.min(Math.max(x - wide / 2, 0), viewport.width - wide) };
}

function drawNowLabel(ink: Ink, colours: Palette, { text, left, wide }: Label): void {
  ink.fillStyle = colours.now;
  ink.beginPath();
  ink.roundRect(left, 26, wide, 18, 9);
  ink.fill();
  ink.fillStyle = colours.panel;
  ink.fillText(text, left + 6, 35.5);
}
