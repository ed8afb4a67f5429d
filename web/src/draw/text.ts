// SPDX-License-Identifier: Apache-2.0

/** Widths of texts, remembered: a frame has hundreds, and they hardly change between frames. */
type Ink = CanvasRenderingContext2D;

/** Texts of one font; more than a screen of the largest calendar has. */
const MOST = 5000;
const fonts = new Map<string, Map<string, number>>();

/** Return the width of a text in the font of the canvas, in pixels. */
export function widthOf(ink: Ink, text: string): number {
  let widths = fonts.get(ink.font);
  if (!widths || widths.size > MOST) fonts.set(ink.font, widths = new Map());
  let width = widths.get(text);
  if (width === undefined) widths.set(text, width = ink.measureText(text).width);
  return width;
}

/** Characters at the end of a name, which often tell it from others: "compu…-217". */
const END = 4;

/** Return a text with so many of its characters: those in the middle are left out. */
export function shortened(text: string, length: number): string {
  const end = Math.min(END, Math.floor(length / 2));
  return `${text.slice(0, length - end)}…${text.slice(text.length - end)}`;
}

/** Return a text, shortened to a width; empty if nothing of it fits. */
export function fit(ink: Ink, text: string, width: number): string {
  const whole = widthOf(ink, text);
  if (whole <= width) return text;
  let length = Math.floor((text.length * width) / whole);
  while (length > 0 && widthOf(ink, shortened(text, length)) > width) length -= 1;
  return length > 0 ? shortened(text, length) : '';
}

/** Forget widths: fonts have been loaded or chosen since. */
export const forgetWidths = (): void => fonts.clear();
