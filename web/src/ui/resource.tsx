// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

/** A resource, with its properties. */
import { useEffect, useState } from 'preact/hooks';
import { get } from '../data/api.ts';
import { present, state, update } from '../data/state.ts';
import { say } from '../words/index.ts';
import { Sheet } from './drawer.tsx';
import { Loading } from './fields.tsx';
import { FactList } from './lease.tsx';

interface Resource {
  attributes?: Record<string, unknown>; properties?: Record<string, unknown>;
  inventories?: Record<string, { total: number }>; traits?: string[];
  disabled?: boolean; failed_at?: string | null;
}
const LONG = 80;

const rowsOf = (table: Record<string, unknown> | undefined): [string, string][] =>
  Object.entries(table ?? {}).filter(([, value]) => value !== null && String(value).length <= LONG)
    .map(([name, value]) => [name, String(value)]);

export function ResourceDetails({ id, name }: { id: number; name: string }) {
  const [found, setFound] = useState<Resource | null>(null);
  useEffect(() => {
    get<{ resource: Resource }>(`resources/${id}`).then(({ resource }) => setFound(resource),
      // Who may not show resources still sees the name, and can reserve it.
      () => setFound({}));
  }, [id]);
  const start = Math.ceil((present() + 60) / 900) * 900;
  const draft = { start, end: start + 3600, amount: 1, names: [name], ids: [id] };
  const capacity = Object.fromEntries(Object.entries(found?.inventories ?? {})
    .map(([key, value]) => [key, value.total]));
  return (
    <Sheet title={name}>
      {!found && <Loading />}
      {found?.failed_at && <p><span class="badge error">{say('failed')}</span></p>}
      {found?.disabled && <p><span class="badge">{say('disabled')}</span></p>}
      <Facts title={say('capacity')} facts={rowsOf(capacity)} />
      <Facts title={say('properties')} facts={[...rowsOf(found?.properties), ...rowsOf(found?.attributes)]} />
      {found?.traits && found.traits.length > 0 && (
        <p class="tags">{found.traits.map((trait) => <code key={trait}>{trait}</code>)}</p>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={() => update({ drawer: { kind: 'form', draft } })}>
          {say('reserve')}
        </button>
        {state.me?.may['maintenances:create'] && (
          <button type="button" onClick={() => update({ drawer: { kind: 'closing', draft } })}>
            {say('addMaintenance')}
          </button>
        )}
      </div>
    </Sheet>
  );
}

function Facts({ title, facts }: { title: string; facts: [string, string][] }) {
  if (facts.length === 0) return null;
  return <section><h3>{title}</h3><FactList facts={facts} /></section>;
}
