// SPDX-License-Identifier: Apache-2.0

/** Lists of leases: one's own, those of the project, for administrators all. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { seconds } from '../data/api.ts';
import { onTurn, trouble } from '../data/live.ts';
import { state, update, useChanges } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { duration, moment } from '../words/index.ts';
import { say, sayOf } from '../words/lease/index.ts';
import { CalendarLink } from './feed.tsx';
import { FeedList } from './feeds.tsx';
import { Loading } from './fields.tsx';
import { Badge, ownerOf, projectOf } from './lease.tsx';
import { PAGE, STATUSES, listed, scopes, chosenFilter } from './listed.ts';
import type { Listed, LeaseFilter } from './listed.ts';
import { Queue } from './queue.tsx';
import { allInWords, typeInWords } from './things.ts';

const TYPING = 250;

export function Leases() {
  const { notice, me } = useChanges();
  const [filter, setFilter] = useState(chosenFilter);
  const [count, setCount] = useState(PAGE);
  const [found, setFound] = useState<Listed | null>(null);
  const latest = useRef(0);
  const load = (): void => {
    if (!me) return;
    const number = latest.current += 1;
    listed(filter, count).then((answer) => number === latest.current && setFound(answer), trouble);
  };
  const turn = useRef(load);
  turn.current = load;
  // A notice says that a lease was made, changed or deleted; another tab or person does so without.
  useEffect(() => {
    const timer = setTimeout(load, filter.search ? TYPING : 0);
    return () => clearTimeout(timer);
  }, [notice, filter, count, me?.project_id]);
  useEffect(() => onTurn(() => turn.current()), []);
  const choose = (change: Partial<LeaseFilter>): void => {
    setCount(PAGE);
    setFilter({ ...Object.assign(chosenFilter, change) });
  };
  return (
    <div class="page">
      <div class="page-head">
        <h1>{say('title')}</h1>
        {me?.may['feeds:create'] && <CalendarLink />}
      </div>
      <Choices filter={filter} choose={choose} />
      {!found && <Loading />}
      {found?.leases.length === 0 && <p class="empty panel">{say(isPlain(filter) ? 'noLeases' : 'noneFound')}</p>}
      {found && found.leases.length > 0 && <Table leases={found.leases} />}
      {found && (
        <p class="muted" role="status">{say(found.more ? 'listedMore' : 'listed', { n: found.leases.length })}</p>
      )}
      {found?.more && (
        <button type="button" class="more" onClick={() => setCount(count + PAGE * 4)}>{say('more')}</button>
      )}
      <Queue />
      <FeedList />
    </div>
  );
}

const isPlain = (filter: LeaseFilter): boolean => !filter.status && !filter.type && !filter.search;

interface Choosing { filter: LeaseFilter; choose: (change: Partial<LeaseFilter>) => void }

function Choices({ filter, choose }: Choosing) {
  const types = state.bookable.map(({ name }) => name);
  return (
    <div class="list-filters">
      <div class="segments" role="group" aria-label={say('scope')}>
        {scopes().map((scope) => (
          <button type="button" key={scope} aria-pressed={filter.scope === scope} onClick={() => choose({ scope })}>
            {say(scope)}
          </button>
        ))}
      </div>
      <input type="search" aria-label={say('searchName')} placeholder={say('searchName')} value={filter.search}
        onInput={(event) => choose({ search: event.currentTarget.value })} />
      <Choice label={say('status')} any={say('anyStatus')} value={filter.status} all={STATUSES}
        word={(one) => sayOf('status', one)}
        choose={(status) => choose({ status, ...(status === 'TERMINATED' ? { ended: true } : {}) })} />
      <Choice label={say('type')} any={say('anyType')} value={filter.type} all={types} word={typeInWords}
        choose={(type) => choose({ type })} />
      <label class="check">
        <input type="checkbox" checked={filter.ended} onChange={() => choose({ ended: !filter.ended })} />
        {say('alsoEnded')}
      </label>
    </div>
  );
}

function Choice(props: {
  label: string; any: string; value: string; all: string[]; word: (one: string) => string;
  choose: (value: string) => void;
}) {
  return (
    <select aria-label={props.label} value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
      <option value="">{props.any}</option>
      {props.all.map((one) => <option key={one} value={one}>{props.word(one)}</option>)}
    </select>
  );
}

const COLUMNS = ['name', 'status', 'start', 'end', 'length', 'has', 'owner', 'ofProject'] as const;

/** A phone shows each row as a card, so that the roles of a table have to be written. */
function Table({ leases }: { leases: Lease[] }) {
  return (
    <div class="panel table-box" tabIndex={0} role="region" aria-label={say('title')}>
      <table class="table cards" role="table">
        <thead role="rowgroup">
          <tr role="row">{COLUMNS.map((key) => <th scope="col" role="columnheader" key={key}>{say(key)}</th>)}</tr>
        </thead>
        <tbody role="rowgroup">{leases.map((lease) => <Row key={lease.id} lease={lease} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ lease }: { lease: Lease }) {
  const [start, end] = [seconds(lease.start_date), seconds(lease.end_date)];
  const chosen = state.drawer?.kind === 'lease' && state.drawer.id === lease.id;
  const texts = [moment(start), moment(end), duration(end - start), allInWords(lease), ownerOf(lease), projectOf(lease)];
  return (
    <tr class={chosen ? 'chosen' : ''} role="row">
      <th scope="row" role="rowheader">
        <button type="button" class="link" onClick={() => update({ drawer: { kind: 'lease', id: lease.id } })}>
          {lease.name}
        </button>
      </th>
      <td role="cell"><Badge status={lease.status} /></td>
      {texts.map((text, n) => <td role="cell" key={n} data-label={say(COLUMNS[n + 2]!)}>{text}</td>)}
    </tr>
  );
}
