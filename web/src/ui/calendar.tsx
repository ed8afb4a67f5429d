// SPDX-License-Identifier: Apache-2.0

/** The calendar: strip, grid, legend. */
import { useEffect, useRef } from 'preact/hooks';
import { demanded, free } from '../data/free.ts';
import { look, onData, rows, shownGroups, strip } from '../data/live.ts';
import { onChange, state, useChanges, viewport } from '../data/state.ts';
import { AXIS, drawGrid } from '../draw/grid.ts';
import { areasOf, noMarks } from '../draw/marks.ts';
import { palette } from '../draw/palette.ts';
import { COLOURS, MOST_GROUPS, drawStrip } from '../draw/strip.ts';
import { say } from '../words/index.ts';
import { Canvas, perFrame, sized } from './canvas.tsx';
import { Keyboard } from './keyboard.ts';
import { listen } from './pointer.ts';
import { Toolbar, moves, today } from './toolbar.tsx';

const NARROW = 720;
export const nameWidth = (): number => (window.innerWidth < NARROW ? 112 : 210);

/** Wire a grid to its canvas, pointers and keys; the answer undoes it. */
function wire(
  grid: HTMLDivElement, canvas: HTMLCanvasElement, spacer: HTMLDivElement, cell: HTMLElement,
): () => void {
  const marks = noMarks();
  let { layout } = rows;
  const measure = (): [number, number] => {
    const [width, height] = [grid.clientWidth, grid.clientHeight];
    Object.assign(viewport, {
      width: Math.max(1, width - nameWidth()), height: Math.max(1, height - AXIS), scroll: grid.scrollTop,
    });
    return [width, height];
  };
  const draw = perFrame(() => {
    const [width, height] = measure();
    spacer.style.height = `${Math.max(0, rows.total) * viewport.rowHeight + AXIS - height}px`;
    if (!sized(canvas, width, height)) return;
    look();
    keyboard.follow(rows.layout !== layout);
    layout = rows.layout;
    const ink = canvas.getContext('2d')!;
    marks.draft = drafted();
    drawGrid(ink, palette(ink), nameWidth(), marks);
  });
  const moved = (): void => moves.forEach((one) => one());
  const scrollTo = (row: number): void => {
    const top = row * viewport.rowHeight;
    const least = top - viewport.height + viewport.rowHeight;
    grid.scrollTop = Math.min(top, Math.max(grid.scrollTop, least));
    viewport.scroll = grid.scrollTop;
  };
  const keyboard = new Keyboard(marks, cell, moved, scrollTo, today);
  const keys = (event: KeyboardEvent): void => {
    if (keyboard.key(event)) event.preventDefault();
  };
  const focused = (): void => {
    if (grid.matches(':focus-visible')) keyboard.enter();
  };
  const left = (): void => {
    keyboard.leave(false);
    marks.focus = null;
    draw();
  };
  grid.addEventListener('keydown', keys);
  grid.addEventListener('focus', focused);
  grid.addEventListener('blur', left);
  grid.addEventListener('scroll', draw, { passive: true });
  const observer = new ResizeObserver(draw);
  observer.observe(grid);
  moves.add(draw);
  const stops = [
    listen(grid, nameWidth, marks, moved), onData(draw), onChange(draw),
    () => observer.disconnect(), () => void moves.delete(draw),
  ];
  // A pointer may be faster than the first frame.
  measure();
  draw();
  return () => stops.forEach((stop) => stop());
}

/** Return the areas of what the form is about, by the names of its resources. */
function drafted() {
  const { drawer } = state;
  if (drawer?.kind === 'lease') return drawer.times ? areasOf(drawer.id, drawer.times) : [];
  if (drawer?.kind !== 'form' && drawer?.kind !== 'closing') return [];
  const { ids, start, end } = drawer.draft;
  const wanted = new Set(ids);
  const areas: { first: number; last: number; start: number; end: number }[] = [];
  for (let row = viewport.row(0); row <= viewport.row(viewport.height); row++) {
    const chunk = rows.chunkOf(row);
    if (!chunk || !wanted.has(chunk.id[row - chunk.first]!)) continue;
    const before = areas.at(-1);
    if (before?.last === row - 1) before.last = row;
    else areas.push({ first: row, last: row, start, end });
  }
  return areas;
}

function Grid() {
  const grid = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  const cell = useRef<HTMLDivElement>(null);
  useEffect(() => wire(grid.current!, canvas.current!, spacer.current!, cell.current!), []);
  return (
    <div class="grid-box panel">
      <div class="grid" ref={grid} role="grid" tabIndex={0} aria-label={say('grid')}
        aria-rowcount={Math.max(rows.total, 0)} aria-activedescendant="cell">
        <canvas ref={canvas} aria-hidden="true" role="presentation" />
        <div ref={spacer} role="presentation" />
        <div class="hidden" role="row"><div id="cell" role="gridcell" ref={cell}>{say('calendar')}</div></div>
      </div>
      <Count />
    </div>
  );
}

function Count() {
  const text = useRef<HTMLDivElement>(null);
  const write = (): void => {
    if (!text.current) return;
    const { resources } = rows;
    text.current.textContent = resources < 0 ? say('loading')
      : resources === 0 ? say(state.mineOnly ? 'nothingMine' : 'nothing')
        : say('resources', { n: resources });
  };
  useEffect(() => {
    // The rows may be there already, when one comes back from another view.
    write();
    return onData(write);
  }, []);
  return <div class="count" ref={text} />;
}

function Strip() {
  const legend = useRef<HTMLDivElement>(null);
  useChanges();
  useEffect(() => onData(() => fillLegend(legend.current)), []);
  useEffect(() => fillLegend(legend.current));
  return (
    <div class="strip panel">
      <div class="strip-legend" ref={legend} />
      <Canvas class="strip-canvas" paint={(ink, colours, width, height) => {
        // The grid is narrower than the strip by its scrollbar.
        ink.clearRect(0, 0, width, height);
        drawStrip(ink, colours, shownGroups(strip.answer), height);
      }} />
    </div>
  );
}

/** Say how many are free now, by group. */
function fillLegend(legend: HTMLDivElement | null): void {
  if (!legend) return;
  const lines = (shownGroups(free.answer)?.groups ?? []).slice(0, MOST_GROUPS).map(({ value, whole }, number) => {
    const line = document.createElement('div');
    const parts = [[`dot ${COLOURS[number]!}`, ''], ['what', value ?? (state.group ? '–' : demanded() ? state.search : say('all'))],
      ['free', say('freeNow', { free: whole.free[0] ?? 0, total: whole.total[0] ?? 0 })]] as const;
    for (const [name, text] of parts) {
      const span = document.createElement('span');
      span.className = name;
      span.textContent = text;
      line.append(span);
    }
    return line;
  });
  legend.replaceChildren(...lines);
}

function Legend() {
  const kinds = [
    ['own', 'yours'], ['later', 'yoursLater'], ['flexible', 'yoursFlexible'], ['over', 'yoursOver'], ['changing', 'changing'], ['error', 'failedLease'],
    ['other', 'others'], ['held', 'held'], ['shut', 'maintenance'],
  ] as const;
  return (
    <footer class="legend">
      {kinds.map(([name, word]) => <span key={name}><i class={`key ${name}`} />{say(word)}</span>)}
      <span class="hint">{say(state.me?.may['maintenances:create'] ? 'hintAdmin' : 'hint')}</span>
    </footer>
  );
}

export function Calendar() {
  useChanges();
  useEffect(() => {
    const moved = (): void => stripMoved.forEach((one) => one());
    moves.add(moved);
    return () => void moves.delete(moved);
  }, []);
  return (
    <div class="calendar">
      <Toolbar />
      <Strip />
      <Grid />
      <Legend />
    </div>
  );
}
const stripMoved = new Set<() => void>();
