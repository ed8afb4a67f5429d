// SPDX-License-Identifier: Apache-2.0

/** The header: views, whether the page is live, zone, theme, language, who is signed in. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { addressOf } from '../data/address.ts';
import { signOut } from '../data/live.ts';
import { state, update } from '../data/state.ts';
import type { View } from '../data/state.ts';
import { LANGUAGES, say } from '../words/index.ts';
import { later } from './later.tsx';

const VIEWS: View[] = ['calendar', 'utilisation', 'leases'];
const LANGUAGE_KEYS = Object.keys(LANGUAGES);
const THEMES = ['auto', 'light', 'dark'] as const;
const NAMES: Record<string, string> = { en: 'English', de: 'Deutsch' };

/** Milliseconds until the list of zones is made: the first bars do not wait for hundreds. */
const REST = 1000;

function useZones(): string[] {
  const [rested, setRested] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRested(true), REST);
    return () => clearTimeout(timer);
  }, []);
  return useMemo(() => [...new Set(['UTC', state.zone,
    ...(rested ? Intl.supportedValuesOf('timeZone') : [])])], [state.zone, rested]);
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect x="3" y="4.5" width="18" height="16.5" rx="3.5" />
      <path d="M3 9.5h18M8 2.5v4M16 2.5v4M7 13.5h6M11 17h6" />
    </svg>
  );
}

function Choice(props: {
  label: string; value: string; all: readonly string[]; word: (key: string) => string;
  change: (value: string) => void;
}) {
  const options = useMemo(() => props.all.map((one) => (
    <option key={one} value={one}>{props.word(one)}</option>
  )), [props.all, state.language]);
  return (
    <select class="quiet" aria-label={props.label} title={props.label} value={props.value}
      onChange={(event) => props.change(event.currentTarget.value)}>
      {options}
    </select>
  );
}

const Projects = later(async () => (await import('./projects.tsx')).Projects);

/** The project of the user, which opens the list of the others. */
function Project({ name }: { name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="projects" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}>
      <summary title={say('switchProject')}>{name}</summary>
      {open && <div class="panel"><Projects /></div>}
    </details>
  );
}

/** Show a view with the filters and the period of now, which its link may be older than. */
function to(view: View, event: MouseEvent): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  update({ view, drawer: null });
}

/** Go past the header and the toolbar by keyboard, which are some twenty stops. */
const toContent = (): void => document.querySelector<HTMLElement>('.grid, .page')?.closest<HTMLElement>('[tabindex]')?.focus();

export function Header({ open }: { open: boolean }) {
  const { me, session, online } = state;
  const all = useZones();
  return (
    <header class="top">
      {open && <button type="button" class="skip" onClick={toContent}>{say('skip')}</button>}
      <span class="brand"><Mark />Climate</span>
      {open && (
        <nav aria-label="Climate">
          {VIEWS.map((view) => (
            <a key={view} href={addressOf(view, null)} onClick={(event) => to(view, event)}
              aria-current={state.view === view ? 'page' : undefined}>
              {say(view)}
            </a>
          ))}
        </nav>
      )}
      <span class={`live ${online ? '' : 'off'}`} role="status">{say(online ? 'live' : 'offline')}</span>
      <div class="choices">
        <Choice label={say('zone')} value={state.zone} all={all} word={(one) => one.replaceAll('_', ' ')}
          change={(zone) => update({ zone })} />
        <Choice label={say('theme')} value={state.theme} all={THEMES}
          word={(one) => say(one as 'auto')} change={(theme) => update({ theme })} />
        <Choice label={say('language')} value={state.language} all={LANGUAGE_KEYS}
          word={(one) => NAMES[one] ?? one} change={(language) => update({ language })} />
      </div>
      {me && (
        <span class="who">
          <strong>{me.user_name}</strong>{' '}
          {session?.auth_strategy === 'keystone' ? <Project name={me.project_name} /> : me.project_name}
        </span>
      )}
      {me && session?.auth_strategy === 'keystone' && (
        <button type="button" onClick={() => void signOut()}>{say('signOut')}</button>
      )}
    </header>
  );
}
