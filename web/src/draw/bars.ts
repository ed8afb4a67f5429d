// SPDX-License-Identifier: Apache-2.0

/** The bars of the rows that are seen. */
import { rows } from '../data/live.ts';
import { present, viewport } from '../data/state.ts';
import { moves } from '../model/columns.ts';
import type { Chunk } from '../model/columns.ts';
import type { Palette } from './palette.ts';
import { fit } from './text.ts';

type Ink = CanvasRenderingContext2D;
interface Box { left: number; top: number; width: number; height: number }
/** Statuses of leases whose resources wait for nothing. */
const STEADY = new Set(['PENDING', 'ACTIVE', 'ERROR', 'TERMINATED', 'DELETED']);
interface Own extends Box { chunk: Chunk; bar: number }

export function isMine(chunk: Chunk, bar: number): boolean {
  const lease = chunk.lease[bar]!;
  return lease >= 0 && chunk.leases.mine[lease] === 1;
}

export function drawBars(ink: Ink, colours: Palette): void {
  const { height, rowHeight } = viewport;
  const round = rowHeight >= 18;
  const own: Own[] = [];
  const named: Own[] = [];
  const last = Math.min(viewport.row(height), rows.total - 1);
  ink.beginPath();
  for (let row = viewport.row(0); row <= last; row++) {
    const chunk = rows.chunkOf(row);
    if (chunk) gather(ink, chunk, row - chunk.first, viewport.y(row), round, own, named);
  }
  ink.fillStyle = colours.other;
  ink.fill();
  if (round) {
    ink.strokeStyle = colours['other-line'];
    ink.lineWidth = 1;
    ink.stroke();
  }
  for (const box of named) drawOther(ink, colours, box);
  for (const box of own) drawOwn(ink, colours, box, round);
  for (let row = viewport.row(0); row <= last; row++) drawMaintenances(ink, colours, row);
}

/** Add the bars of others to the path, all of them at once; collect those with names. */
function gather(
  ink: Ink, chunk: Chunk, row: number, y: number, round: boolean, own: Own[], named: Own[],
): void {
  let drawn = -1;
  for (let bar = chunk.from[row]!; bar < chunk.from[row + 1]!; bar++) {
    if (chunk.begins[bar]! >= viewport.end) break;
    if (chunk.ends[bar]! <= viewport.start) continue;
    const mine = isMine(chunk, bar);
    const right = viewport.x(chunk.ends[bar]!);
    // What ends on the same pixel as the one before adds nothing to see.
    if (!mine && !round && right < drawn) continue;
    const box = boxOf(chunk, bar, y);
    if (mine) own.push({ ...box, chunk, bar });
    else {
      if (round && box.width > 5) ink.roundRect(box.left, box.top, box.width, box.height, 4);
      else ink.rect(box.left, box.top, box.width, box.height);
      const shown = chunk.lease[bar]! >= 0 ? box.width > 40 : chunk.held.has(bar);
      if (round && shown) named.push({ ...box, chunk, bar });
      drawn = box.left + box.width;
    }
  }
}

/** Return where a bar is drawn. */
export function boxOf(chunk: Chunk, bar: number, y: number): Box {
  const { rowHeight, width } = viewport;
  const pad = rowHeight >= 18 ? 3.5 : rowHeight > 4 ? 0.5 : 0;
  const room = rowHeight - 2 * pad - (rowHeight >= 18 ? 1 : 0);
  const left = Math.max(viewport.x(chunk.begins[bar]!), -6);
  const right = Math.min(viewport.x(chunk.ends[bar]!), width + 6);
  const gap = rowHeight >= 18 ? 1 : 0;
  return {
    left: left + gap / 2,
    top: y + pad + (room * chunk.top[bar]!) / 1000,
    width: Math.max(right - left - gap, 1.5),
    height: Math.max((room * chunk.share[bar]!) / 1000 - (chunk.share[bar]! < 1000 ? gap : 0), 1.5),
  };
}

/** Name the lease of another project, or show that an offer is held. */
function drawOther(ink: Ink, colours: Palette, box: Own): void {
  if (box.chunk.lease[box.bar]! >= 0) return text(ink, colours, box, colours.muted);
  ink.save();
  ink.fillStyle = colours.panel;
  ink.fillRect(box.left - 1, box.top - 1, box.width + 2, box.height + 2);
  ink.setLineDash([4, 3]);
  ink.strokeStyle = colours['other-line'];
  ink.beginPath();
  ink.roundRect(box.left, box.top, box.width, box.height, 4);
  ink.stroke();
  ink.restore();
}

function drawOwn(ink: Ink, colours: Palette, own: Own, round: boolean): void {
  const { chunk, bar } = own;
  const status = chunk.leases.status[chunk.lease[bar]!]!;
  const now = present();
  const over = chunk.ends[bar]! <= now || status === 'DELETED' || status === 'TERMINATED';
  const later = chunk.begins[bar]! > now;
  const strong = status === 'ERROR' ? colours.bad : STEADY.has(status) ? colours.accent : colours.warn;
  ink.beginPath();
  if (round) ink.roundRect(own.left, own.top, own.width, own.height, 4);
  else ink.rect(own.left, own.top, own.width, own.height);
  ink.fillStyle = over ? colours.past : later && round ? colours['accent-soft'] : strong;
  ink.fill();
  if (round) {
    ink.strokeStyle = over ? colours['other-line'] : strong;
    ink.lineWidth = 1.25;
    const movable = moves(chunk.leases, chunk.lease[bar]!, now);
    if (movable) ink.setLineDash([4, 3]);
    ink.stroke();
    if (movable) ink.setLineDash([]);
    text(ink, colours, own, over ? colours.muted : later ? colours['accent-text'] : colours['on-accent']);
  }
}

function text(ink: Ink, colours: Palette, box: Own, colour: string): void {
  const left = Math.max(box.left, 0) + 7;
  const room = Math.min(box.left + box.width, viewport.width) - left - 6;
  if (box.height < 13 || room < 24) return;
  ink.font = colours.small;
  ink.textBaseline = 'middle';
  ink.fillStyle = colour;
  const name = box.chunk.leases.name[box.chunk.lease[box.bar]!]!;
  ink.fillText(fit(ink, name, room), left, box.top + box.height / 2 + 0.5);
}

function drawMaintenances(ink: Ink, colours: Palette, row: number): void {
  const chunk = rows.chunkOf(row);
  if (!chunk) return;
  const { rowHeight, width } = viewport;
  const { resource, start, end } = chunk.maintenances;
  const at = row - chunk.first;
  const pad = rowHeight >= 18 ? 2.5 : 0;
  resource.forEach((one, n) => {
    if (one !== at) return;
    const left = Math.max(viewport.x(start[n]!), -6);
    const right = Math.min(viewport.x(end[n]!), width + 6);
    if (right <= left) return;
    hatched(ink, colours, left, viewport.y(row) + pad, right - left, rowHeight - 2 * pad - 1);
  });
  if (chunk.disabled[at] || chunk.failed[at]) {
    ink.globalAlpha = 0.35;
    ink.fillStyle = chunk.failed[at] ? colours.bad : colours.other;
    ink.fillRect(0, viewport.y(row), width, rowHeight - 1);
    ink.globalAlpha = 1;
  }
}

function hatched(
  ink: Ink, colours: Palette, left: number, top: number, width: number, height: number,
): void {
  ink.beginPath();
  if (height > 12) ink.roundRect(left, top, Math.max(width, 2), height, 4);
  else ink.rect(left, top, Math.max(width, 2), Math.max(height, 1.5));
  ink.fillStyle = colours.panel;
  ink.fill();
  ink.fillStyle = colours.hatch;
  ink.fill();
  if (height <= 12) return;
  ink.strokeStyle = colours.warn;
  ink.lineWidth = 1;
  ink.stroke();
}
