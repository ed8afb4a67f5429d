// SPDX-License-Identifier: Apache-2.0

/** The heads of groups: a name, how many resources, and how much of them is booked over time. */
import { seconds } from '../data/api.ts';
import { rows, strip } from '../data/live.ts';
import { state, viewport } from '../data/state.ts';
import type { Series } from '../data/types.ts';
import type { Section } from '../model/layout.ts';
import { fit, widthOf } from './text.ts';
import type { Palette } from './palette.ts';

type Ink = CanvasRenderingContext2D;

/** Call back for each head in view, with its place from above and its height. */
function eachHead(work: (section: Section, top: number, height: number) => void): void {
  const { layout } = rows;
  const height = layout.head * viewport.rowHeight;
  for (const section of layout.sections) {
    const top = viewport.y(section.row);
    if (top >= viewport.height) return;
    if (top + height > 0) work(section, top, height);
  }
}

/** Draw how much of each group is booked, on the axis of time. */
export function drawHeads(ink: Ink, colours: Palette): void {
  eachHead((section, top, height) => {
    ink.fillStyle = colours.hover;
    ink.fillRect(0, top, viewport.width, height - 1);
    const found = strip.answer?.groups.find(({ value }) => value === section.value);
    if (found) drawHeat(ink, colours, found.whole, top + 2, height - 4);
  });
}

/** Draw bars that are higher and stronger the more is booked. */
function drawHeat(ink: Ink, colours: Palette, whole: Series, top: number, height: number): void {
  const { step, buckets, start } = strip.answer!;
  const begin = seconds(start);
  const first = Math.max(0, Math.floor((viewport.start - begin) / step));
  const last = Math.min(buckets, Math.ceil((viewport.end - begin) / step));
  ink.save();
  ink.fillStyle = colours.c1;
  for (let n = first; n < last; n++) {
    const total = whole.total[n] ?? 0;
    const share = total > 0 ? 1 - (whole.free[n] ?? 0) / total : 0;
    if (share <= 0) continue;
    // Whole pixels: otherwise a seam is seen between two that are half transparent.
    const left = Math.round(viewport.x(begin + n * step));
    const wide = Math.round(viewport.x(begin + (n + 1) * step)) - left;
    ink.globalAlpha = 0.35 + 0.65 * share;
    ink.fillRect(left, top + height * (1 - share), wide, height * share);
  }
  ink.restore();
}

/** Draw the names of the groups in the first column; its canvas begins `axis` higher. */
export function drawHeadNames(ink: Ink, colours: Palette, names: number, axis: number): void {
  const narrow = names < 150;
  eachHead((section, y, height) => {
    const top = axis + y;
    ink.fillStyle = colours.hover;
    ink.fillRect(0, top, names, height - 1);
    ink.fillStyle = colours['line-strong'];
    ink.fillRect(0, Math.round(top) - 1, names, 1);
    const middle = top + height / 2;
    drawFold(ink, colours, middle, section.folded);
    ink.textBaseline = 'middle';
    ink.font = colours.small;
    const count = section.count.toLocaleString(state.language);
    const wide = widthOf(ink, count);
    ink.fillStyle = colours.muted;
    ink.fillText(count, names - wide - (narrow ? 8 : 14), middle + 0.5);
    ink.font = colours.bold;
    ink.fillStyle = colours.text;
    ink.fillText(fit(ink, section.value ?? '–', names - wide - 52), 28, middle + 0.5);
  });
}

/** Draw the triangle that says whether a group is folded. */
function drawFold(ink: Ink, colours: Palette, middle: number, folded: boolean): void {
  ink.fillStyle = colours.muted;
  ink.beginPath();
  if (folded) {
    ink.moveTo(14, middle - 4.5);
    ink.lineTo(19, middle);
    ink.lineTo(14, middle + 4.5);
  } else {
    ink.moveTo(12, middle - 2.5);
    ink.lineTo(21, middle - 2.5);
    ink.lineTo(16.5, middle + 2.5);
  }
  ink.fill();
}
