// SPDX-License-Identifier: Apache-2.0

/** A canvas that is as sharp as the screen and drawn at most once a frame. */
import { useEffect, useRef } from 'preact/hooks';
import { onData } from '../data/live.ts';
import { onChange } from '../data/state.ts';
import { forget, palette } from '../draw/palette.ts';
import type { Palette } from '../draw/palette.ts';

export type Paint = (
  ink: CanvasRenderingContext2D, colours: Palette, width: number, height: number) => void;

/** Return a function that draws soon; many calls in a frame draw once. */
export function perFrame(draw: () => void): () => void {
  let asked = 0;
  return () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      draw();
    });
  };
}

/** Give a canvas the size of its place, in pixels of the screen; false if it has none. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): boolean {
  const scale = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  canvas.getContext('2d')!.setTransform(scale, 0, 0, scale, 0, 0);
  return wide > 0 && high > 0;
}

export function Canvas(props: { class: string; paint: Paint }) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const paint = useRef(props.paint);
  paint.current = props.paint;
  const again = useRef(() => {});
  // What is painted may have changed with each render.
  useEffect(() => again.current());
  useEffect(() => {
    const draw = again.current = perFrame(() => {
      const [div, element] = [place.current, canvas.current];
      if (!div || !element || !sized(element, div.clientWidth, div.clientHeight)) return;
      const ink = element.getContext('2d')!;
      paint.current(ink, palette(ink), div.clientWidth, div.clientHeight);
    });
    const observer = new ResizeObserver(draw);
    observer.observe(place.current!);
    const stops = [onData(draw), onChange(draw), () => observer.disconnect()];
    draw();
    return () => stops.forEach((stop) => stop());
  }, []);
  return (
    <div class={props.class} ref={place} aria-hidden="true">
      <canvas ref={canvas} />
    </div>
  );
}

/** Read the colours again when the theme changes here or in the system. */
export function watchTheme(drawAgain: () => void): void {
  const changed = (): void => {
    forget();
    drawAgain();
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
  new MutationObserver(changed).observe(
    document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
}
