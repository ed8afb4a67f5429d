// SPDX-License-Identifier: Apache-2.0

/** You have it, use it: what a lease has, with the ids and commands that one needs for it. */
import { useState } from 'preact/hooks';
import type { Instruction, Lease, Reservation } from '../data/types.ts';
import { plainName } from '../model/names.ts';
import { say, titleOf } from '../words/lease/index.ts';
import { Copy } from './copy.tsx';
import { inWords, requirementOf } from './things.ts';

/** Names that are shown before one asks for all. */
const FEW = 12;

export function Holdings({ lease }: { lease: Lease }) {
  return (
    <section class="holdings">
      {lease.reservations.map((one) => <Holding key={one.id} one={one} pending={lease.status === 'PENDING'} />)}
    </section>
  );
}

function Holding({ one, pending }: { one: Reservation; pending: boolean }) {
  const requirement = requirementOf(one);
  const instructions = one.instructions ?? [];
  return (
    <div class="ask">
      <h3>{inWords(one)}</h3>
      <Names one={one} />
      {requirement && <p class="muted">{say('requirement')}: {requirement}</p>}
      {pending && instructions.length > 0 && <p class="muted">{say('notYet')}</p>}
      {instructions.map((each, n) => <Use key={n} each={each} />)}
      <Copied what={say('reservationId')} text={one.id} />
    </div>
  );
}

/** All names, folded if there are many. */
function Names({ one }: { one: Reservation }) {
  const [all, setAll] = useState(false);
  const names = (one.resources ?? []).map((each) => plainName(each.name));
  const count = one.resources_count ?? names.length;
  if (names.length === 0) return null;
  const shown = all ? names : names.slice(0, FEW);
  return (
    <p class="names">
      <strong>{shown.join(', ')}</strong>{' '}
      {names.length > FEW && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? say('fewer') : say('allOf', { n: names.length })}
        </button>
      )}
      {all && count > names.length && <small> {say('moreNotShown', { n: count - names.length })}</small>}
    </p>
  );
}

function Use({ each }: { each: Instruction }) {
  const title = titleOf(each);
  return (
    <>
      {each.command && <Copied what={title} text={each.command} />}
      {each.value && <Copied what={title} text={each.value} />}
      {!each.command && !each.value && <p>{title}</p>}
    </>
  );
}

/** Break lines between words, not after the hyphens of options. */
const words = (text: string) => text.split(' ').map((word, n) => <>{n > 0 && ' '}<span key={n}>{word}</span></>);

/** A text that one needs elsewhere, with its name and a button that copies it. */
export function Copied({ what, text }: { what: string; text: string }) {
  return (
    <div class="copied">
      <span class="muted">{what}</span>
      <div><code>{words(text)}</code><Copy text={text} what={what} /></div>
    </div>
  );
}
