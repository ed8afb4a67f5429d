// SPDX-License-Identifier: Apache-2.0

/** What opens beside the calendar, or on a phone from below. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { update, useChanges } from '../data/state.ts';
import type { Drawer as Content } from '../data/state.ts';
import { say } from '../words/index.ts';
import { later } from './later.tsx';

const Closing = later(async () => (await import('./closing.tsx')).Closing);
const Form = later(async () => (await import('./form.tsx')).Form);
const LeaseDetails = later(async () => (await import('./lease.tsx')).LeaseDetails);
const MaintenanceDetails = later(async () => (await import('./closing.tsx')).MaintenanceDetails);
const ResourceDetails = later(async () => (await import('./resource.tsx')).ResourceDetails);

export const shut = (): void => update({ drawer: null });

/** A drawer with a title; Escape closes it, and the focus returns to where it was. */
export function Sheet(props: { title: string; badge?: ComponentChildren; children: ComponentChildren }) {
  const sheet = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const first = sheet.current?.querySelector<HTMLElement>('[data-first]');
    (first ?? sheet.current)?.focus({ preventScroll: true });
    const escape = ({ key }: KeyboardEvent): void => {
      const { activeElement } = document;
      // What had the focus is gone once its work is done.
      const here = activeElement === document.body || sheet.current?.contains(activeElement);
      if (key === 'Escape' && here) shut();
    };
    document.addEventListener('keydown', escape);
    return () => {
      document.removeEventListener('keydown', escape);
      if (before?.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside class="drawer panel" ref={sheet} tabIndex={-1} aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        {props.badge}
        <button type="button" class="close" aria-label={say('close')} onClick={shut}>×</button>
      </header>
      {props.children}
    </aside>
  );
}

function content(drawer: Content) {
  switch (drawer.kind) {
    case 'form': return <Form key={JSON.stringify(drawer.draft)} draft={drawer.draft} />;
    case 'lease': return <LeaseDetails key={drawer.id} {...drawer} />;
    case 'resource': return <ResourceDetails key={drawer.id} id={drawer.id} name={drawer.name} />;
    case 'closing': return <Closing key={JSON.stringify(drawer.draft)} draft={drawer.draft} />;
    case 'maintenance': return <MaintenanceDetails key={drawer.id} {...drawer} />;
  }
}

export function Drawer() {
  const { drawer } = useChanges();
  return drawer && content(drawer);
}
