// SPDX-License-Identifier: Apache-2.0

/** Mouse, pen and fingers on the grid: hover, drag to reserve or to change a lease, pan, zoom, pinch. */
import { rows } from '../data/live.ts';
import { fold, present, state, update, viewport } from '../data/state.ts';
import { isMine } from '../draw/bars.ts';
import { AXIS } from '../draw/grid.ts';
import type { Marks } from '../draw/marks.ts';
import { barAt, clamp, gapAt, maintenanceAt } from '../model/hits.ts';
import type { Gap } from '../model/hits.ts';
import { draftOf, soonest } from './drafts.ts';
import { Windows } from './movable.ts';
import { Retiming, gripAt, holdable } from './retiming.ts';
import type { Held } from './retiming.ts';

interface Place { x: number; y: number; row: number; at: number; names: boolean; axis: boolean }
interface Drag {
  from: Place; gap: Gap | null; mode: 'reserve' | 'close' | 'pan' | 'change'; moved: boolean;
  x: number; y: number; change: Retiming | null;
}

/** Handle the pointers on an element until the answer is called. */
export function listen(
  element: HTMLElement, names: () => number, marks: Marks, moved: () => void,
): () => void {
  const pointer = new Pointer(element, names, marks, moved);
  const handlers: [string, (event: any) => void][] = [
    ['pointerdown', (event) => pointer.down(event)], ['pointermove', (event) => pointer.move(event)],
    ['pointerup', (event) => pointer.up(event)], ['pointercancel', () => pointer.cancel()],
    ['pointerleave', () => pointer.leave()], ['wheel', (event) => pointer.wheel(event)],
  ];
  handlers.forEach(([name, handler]) => element.addEventListener(name, handler, { passive: false }));
  const escape = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') pointer.escape();
  };
  document.addEventListener('keydown', escape);
  return () => {
    handlers.forEach(([name, handler]) => element.removeEventListener(name, handler));
    document.removeEventListener('keydown', escape);
  };
}

class Pointer {
  private drag: Drag | null = null;
  private readonly fingers = new Map<number, PointerEvent>();
  private readonly windows: Windows;

  constructor(
    private readonly element: HTMLElement, private readonly names: () => number,
    private readonly marks: Marks, private readonly moved: () => void,
  ) {
    this.windows = new Windows(marks, (words) => {
      element.title = words;
      moved();
    });
  }

  private place(event: MouseEvent): Place {
    const box = this.element.getBoundingClientRect();
    const x = event.clientX - box.left - this.names();
    const y = event.clientY - box.top - AXIS;
    return { x, y, row: viewport.row(y), at: viewport.time(x), names: x < 0, axis: y < 0 };
  }

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const from = this.place(event);
    if (from.x > viewport.width) return;
    this.fingers.set(event.pointerId, event);
    this.element.setPointerCapture(event.pointerId);
    const chunk = rows.chunkOf(from.row);
    const gap = chunk && !from.axis ? gapAt(chunk, from.row - chunk.first, from.at, present()) : null;
    const touch = event.pointerType === 'touch';
    const closes = event.altKey && Boolean(state.me?.may['maintenances:create']);
    const held = touch || event.shiftKey || closes ? null : this.heldAt(from);
    const pans = touch || event.shiftKey || from.axis || from.names || (!gap && !closes);
    const mode = held ? 'change' : pans ? 'pan' : closes ? 'close' : 'reserve';
    const change = held && new Retiming(held, this.marks, this.moved);
    this.drag = { from, gap, mode, moved: false, x: event.clientX, y: event.clientY, change };
    this.marks.focus = null;
    this.away();
  }

  /** Return what of a bar of the project is at a place, and can be dragged. */
  private heldAt(place: Place): Held | null {
    const chunk = place.axis || place.names ? null : rows.chunkOf(place.row);
    if (!chunk) return null;
    const slack = (viewport.span / viewport.width) * 3;
    const found = holdable(chunk, barAt(chunk, place.row - chunk.first, place.at, this.height(place), slack));
    const grip = found && gripAt(found, place.x);
    return grip && { ...found, grip };
  }

  move(event: PointerEvent): void {
    const to = this.place(event);
    if (this.fingers.size === 2) return this.pinch(event);
    const { drag } = this;
    if (!drag) return this.hover(to);
    const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
    if (!far && !drag.moved) return;
    drag.moved = true;
    if (drag.mode === 'pan') {
      viewport.pan(drag.x - event.clientX);
      if (event.pointerType !== 'mouse') this.element.scrollTop += drag.y - event.clientY;
      [drag.x, drag.y] = [event.clientX, event.clientY];
    } else if (drag.change) {
      drag.change.by(to.at - drag.from.at);
    } else {
      this.select(drag, to);
    }
    this.moved();
  }

  private select(drag: Drag, to: Place): void {
    const several = to.row !== drag.from.row;
    const gap = several || drag.mode === 'close' ? null : drag.gap;
    let [start, end] = clamp(drag.from.at, to.at, viewport.snap, gap);
    start = Math.max(start, soonest());
    end = Math.max(end, start + 60);
    const [first, last] = [Math.min(drag.from.row, to.row), Math.max(drag.from.row, to.row)];
    this.marks.drag = {
      first: Math.max(0, first), last: Math.min(last, rows.total - 1), start, end,
      closing: drag.mode === 'close',
    };
  }

  up(event: PointerEvent): void {
    const { drag, marks } = this;
    this.fingers.delete(event.pointerId);
    this.drag = null;
    if (!drag) return;
    if (!drag.moved) this.open(drag.from, drag.gap, event.pointerType === 'touch');
    else drag.change?.finish();
    if (marks.drag) {
      const draft = draftOf(marks.drag.first, marks.drag.last, marks.drag.start, marks.drag.end);
      update({ drawer: { kind: drag.mode === 'close' ? 'closing' : 'form', draft } });
    }
    marks.drag = null;
    this.moved();
  }

  cancel(): void {
    this.drag?.change?.cancel();
    this.drag = null;
    this.fingers.clear();
    this.marks.drag = null;
    this.moved();
  }

  /** Give up what is dragged. */
  escape(): void {
    if (this.drag?.moved && this.drag.mode !== 'pan') this.cancel();
  }

  leave(): void {
    if (this.drag) return;
    Object.assign(this.marks, { gap: null, row: -1 });
    this.away();
    this.moved();
  }

  /** Open what was clicked: a lease, a maintenance, a resource; a tap on free time reserves it. */
  private open(place: Place, gap: Gap | null, touch: boolean): void {
    if (place.axis) return;
    const head = rows.layout.headAt(place.row);
    if (head) return fold(head.key);
    const chunk = rows.chunkOf(place.row);
    if (!chunk) return;
    const row = place.row - chunk.first;
    if (place.names) {
      return update({ drawer: { kind: 'resource', id: chunk.id[row]!, name: chunk.name[row]! } });
    }
    const slack = (viewport.span / viewport.width) * 3;
    const bar = barAt(chunk, row, place.at, this.height(place), slack);
    const shut = maintenanceAt(chunk, row, place.at);
    if (shut >= 0 && chunk.maintenances.id) {
      const { id, start, end } = chunk.maintenances;
      update({ drawer: { kind: 'maintenance', id: id[shut]!, name: chunk.name[row]!, start: start[shut]!, end: end[shut]! } });
    } else if (bar >= 0 && chunk.lease[bar]! >= 0) {
      update({ drawer: { kind: 'lease', id: chunk.leases.id[chunk.lease[bar]!]! } });
    } else if (gap && touch) {
      const [start] = clamp(place.at, place.at, viewport.snap, gap);
      const end = Math.min(start + Math.max(viewport.snap * 4, 3600), gap.end);
      update({ drawer: { kind: 'form', draft: draftOf(place.row, place.row, start, end) } });
    }
  }

  private height(place: Place): number {
    return ((place.y - viewport.y(place.row)) / viewport.rowHeight) * 1000;
  }

  private away(): void {
    this.windows.hide();
    this.element.removeAttribute('title');
  }

  private hover(to: Place): void {
    const { marks } = this;
    const chunk = to.axis ? null : rows.chunkOf(to.row);
    const row = chunk ? to.row - chunk.first : 0;
    const gap = chunk && !to.names ? gapAt(chunk, row, to.at, present()) : null;
    marks.row = chunk ? to.row : -1;
    marks.gap = gap && { first: to.row, last: to.row, ...gap };
    const bar = chunk && !gap && !to.names ? barAt(chunk, row, to.at, this.height(to)) : -1;
    if (bar < 0) this.away();
    else this.windows.show(chunk, bar, to.row);
    const opens = to.names ? Boolean(chunk) : bar >= 0 && (isMine(chunk!, bar) || chunk!.lease[bar]! >= 0);
    const folds = !to.axis && rows.layout.headAt(to.row);
    const grip = this.heldAt(to)?.grip;
    const edge = grip === 'start' || grip === 'end';
    this.element.dataset.cursor = edge ? 'resize' : gap ? 'cell' : opens || folds ? 'pointer' : to.axis ? 'grab' : '';
    this.moved();
  }

  private pinch(event: PointerEvent): void {
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, event);
    const after = [...this.fingers.values()];
    const wide = (pair: PointerEvent[]): number => Math.abs(pair[0]!.clientX - pair[1]!.clientX) + 20;
    const middle = (after[0]!.clientX + after[1]!.clientX) / 2;
    const box = this.element.getBoundingClientRect();
    viewport.zoom(wide(before) / wide(after), middle - box.left - this.names());
    if (this.drag) Object.assign(this.drag, { moved: true, mode: 'pan', x: event.clientX, y: event.clientY });
    this.moved();
  }

  wheel(event: WheelEvent): void {
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      viewport.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY * unit)) / 250), this.place(event).x);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      viewport.pan((event.deltaX || event.deltaY) * unit);
    } else {
      return;
    }
    this.moved();
  }
}
