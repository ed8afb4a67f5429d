// SPDX-License-Identifier: Apache-2.0

/** The page: header, a view, a drawer beside it. */
import { render } from 'preact';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { follow, keep } from './data/address.ts';
import { begin, drawAgain, keepAsking } from './data/live.ts';
import { state, update, useChanges } from './data/state.ts';
import type { State, View } from './data/state.ts';
import { say } from './words/index.ts';
import { Calendar } from './ui/calendar.tsx';
import { watchTheme } from './ui/canvas.tsx';
import { Drawer } from './ui/drawer.tsx';
import { Header } from './ui/header.tsx';
import { fetchRest, later } from './ui/later.tsx';
import { moves } from './ui/toolbar.tsx';

const VIEWS: Record<View, ComponentType> = {
  calendar: Calendar,
  utilisation: later(async () => (await import('./ui/utilisation.tsx')).Utilisation),
  leases: later(async () => (await import('./ui/leases.tsx')).Leases),
};
const Login = later(async () => (await import('./ui/login.tsx')).Login);
const SHOWN = 6000;
/** Milliseconds after which the rest is fetched: the first bars are there by then. */
const REST = 3000;

/** A sentence that appears below for a while, and is announced. */
function Notice() {
  const { notice } = state;
  useEffect(() => {
    if (!notice) return undefined;
    const timer = setTimeout(() => update({ notice: '' }), SHOWN);
    return () => clearTimeout(timer);
  }, [notice]);
  return <div class={`notice ${notice ? 'shown' : ''}`} role="status">{notice}</div>;
}

/** Whether a drawer may have something that is not sent yet. */
const typed = (drawer: State['drawer']): boolean =>
  drawer?.kind === 'form' || drawer?.kind === 'closing';

function Page() {
  const { session, view, drawer, online, spoken } = useChanges();
  const open = Boolean(session && (session.auth_strategy === 'noauth' || session.signed_in));
  const Shown = VIEWS[view];
  useEffect(() => {
    document.title = `${say(view)} · Climate`;
  });
  return (
    <>
      <Header open={open} />
      {!online && <div class="banner" role="alert">{say('gone')}</div>}
      <main class={drawer && open ? 'with-drawer' : ''} tabIndex={-1}>
        {open && <Shown />}
        {session && !open && <Login />}
        {/* What was typed when a session ended waits here for the next one. */}
        {session && (open || typed(drawer)) && <div class="aside" hidden={!open}><Drawer /></div>}
      </main>
      <Notice />
      <div class="hidden" aria-live="polite">{spoken}</div>
    </>
  );
}

follow();
moves.add(keep);
watchTheme(drawAgain);
render(<Page />, document.getElementById('page')!);
void begin();
keepAsking();
setTimeout(fetchRest, REST);
