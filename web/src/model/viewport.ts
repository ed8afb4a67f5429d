// SPDX-License-Identifier: Apache-2.0

/** Which time and rows are seen. */
export const DENSITIES = { comfortable: 30, compact: 18, dense: 6, overview: 2 } as const;
export type Density = keyof typeof DENSITIES;

export const SPANS = { '6h': 21600, day: 86400, week: 604800, month: 2678400, quarter: 7948800 };
const LEAST = 1800;
const MOST = 190 * 86400;
/** Seconds that a dragged edge snaps to, from fine to coarse. */
const SNAPS = [300, 900, 1800, 3600, 10800, 21600, 86400];

export class Viewport {
  start: number;
  span: number = SPANS.week;
  width = 1;
  height = 1;
  scroll = 0;
  rowHeight: number = DENSITIES.comfortable;

  constructor(start: number) {
    this.start = start;
  }

  get end(): number {
    return this.start + this.span;
  }

  x(at: number): number {
    return ((at - this.start) / this.span) * this.width;
  }

  time(x: number): number {
    return this.start + (x / this.width) * this.span;
  }

  row(y: number): number {
    return Math.floor((y + this.scroll) / this.rowHeight);
  }

  y(row: number): number {
    return row * this.rowHeight - this.scroll;
  }

  pan(pixels: number): void {
    this.start += (pixels / this.width) * this.span;
  }

  /** Show less (factor < 1) or more time; the time at x stays where it is. */
  zoom(factor: number, x: number): void {
    const fixed = this.time(x);
    this.span = Math.min(MOST, Math.max(LEAST, this.span * factor));
    this.start = fixed - (x / this.width) * this.span;
  }

  /** Seconds that dragged edges snap to: about six pixels. */
  get snap(): number {
    const least = (this.span / this.width) * 6;
    return SNAPS.find((step) => step >= least) ?? 86400;
  }
}
