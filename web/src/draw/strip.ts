// SPDX-License-Identifier: Apache-2.0

/** The booked share over time, stacked by group, on the axis of the grid. */
import { seconds } from '../data/api.ts';
import { present, viewport } from '../data/state.ts';
import type { Availability } from '../data/types.ts';
import type { Palette } from './palette.ts';

type Ink = CanvasRenderingContext2D;
export const COLOURS = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'] as const;
/** More groups than this share the last colour. */
export const MOST_GROUPS = COLOURS.length;

export interface Frame {
  left: number; top: number; width: number; height: number; start: number; end: number;
}

/** Draw the booked share of all groups in a frame. */
export function drawShares(ink: Ink, colours: Palette, answer: Availability, frame: Frame): void {
  const { groups, step, buckets } = answer;
  const first = seconds(answer.start);
  const all = Math.max(1, ...Array.from({ length: buckets }, (_, n) =>
    groups.reduce((sum, group) => sum + (group.whole.total[n] ?? 0), 0)));
  const x = (at: number): number =>
    frame.left + ((at - frame.start) / (frame.end - frame.start)) * frame.width;
  const below = new Float64Array(buckets);
  groups.forEach(({ whole }, number) => {
    ink.fillStyle = colours[COLOURS[Math.min(number, MOST_GROUPS - 1)]!];
    ink.beginPath();
    for (let n = 0; n < buckets; n++) {
      const booked = (whole.total[n] ?? 0) - (whole.free[n] ?? 0);
      const from = x(first + n * step);
      const to = x(first + (n + 1) * step);
      const height = (booked / all) * frame.height;
      if (booked > 0 && to > frame.left && from < frame.left + frame.width) {
        ink.rect(from, frame.top + frame.height - below[n]! - height, to - from + 0.4, height);
      }
      below[n] = below[n]! + height;
    }
    ink.fill();
  });
}

/** Draw the strip above the grid, with the line of the present. */
export function drawStrip(
  ink: Ink, colours: Palette, answer: Availability | null, height: number,
): void {
  const { width, start, end } = viewport;
  ink.fillStyle = colours.panel;
  ink.fillRect(0, 0, width, height);
  ink.fillStyle = colours.line;
  ink.fillRect(0, 9, width, 1);
  ink.fillRect(0, Math.round((height + 10) / 2), width, 1);
  if (answer) {
    drawShares(ink, colours, answer, { left: 0, top: 10, width, height: height - 10, start, end });
  }
  ink.fillStyle = colours.now;
  ink.fillRect(Math.round(viewport.x(present())) - 1, 0, 2, height);
}
