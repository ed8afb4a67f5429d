// SPDX-License-Identifier: Apache-2.0

/** Colours and fonts of the canvas, from the style sheet; read again when the theme changes. */
import { forgetWidths } from './text.ts';

const NAMES = ['bg', 'panel', 'line', 'line-strong', 'text', 'muted', 'weekend', 'accent', 'accent-soft',
  'accent-text', 'on-accent', 'other', 'other-line', 'past', 'warn', 'bad', 'good', 'now', 'hover',
  'c0', 'c1', 'c2', 'c3', 'c4', 'c5'] as const;
export type Palette = Record<(typeof NAMES)[number], string> & {
  font: string; bold: string; small: string; hatch: CanvasPattern | string;
};

let found: Palette | null = null;
export function forget(): void {
  found = null;
  forgetWidths();
}

export function palette(context: CanvasRenderingContext2D): Palette {
  if (found) return found;
  const style = getComputedStyle(document.documentElement);
  const colours = Object.fromEntries(
    NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const family = getComputedStyle(document.body).fontFamily;
  found = {
    ...(colours as Record<(typeof NAMES)[number], string>),
    font: `13px ${family}`, bold: `600 13px ${family}`, small: `11.5px ${family}`,
    hatch: hatch(context, colours.warn!),
  };
  return found;
}

function hatch(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const ink = tile.getContext('2d');
  if (!ink) return colour;
  ink.strokeStyle = colour;
  ink.lineWidth = 1.6;
  ink.beginPath();
  for (const shift of [-8, 0, 8]) {
    ink.moveTo(shift - 1, 9);
    ink.lineTo(shift + 9, -1);
  }
  ink.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}
