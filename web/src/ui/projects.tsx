// SPDX-License-Identifier: Apache-2.0

/** The projects of the user, to work in another one without signing in again. */
import { useEffect, useState } from 'preact/hooks';
import { session } from '../data/api.ts';
import { announce, explain } from '../data/live.ts';
import { state, update } from '../data/state.ts';
import { say } from '../words/index.ts';
import { Loading, Note } from './fields.tsx';

interface Project { id: string; name: string; domain: string }

export function Projects() {
  const [all, setAll] = useState<Project[] | null>(null);
  const [failure, setFailure] = useState('');
  const failed = (error: unknown): void => setFailure(explain(error));
  useEffect(() => void session<{ projects: Project[] }>('GET', undefined, '/projects')
    .then(({ body }) => setAll(body.projects), failed), []);
  const take = (id: string): void => {
    session('POST', { project_id: id }).then(() => {
      announce();
      // What is open is of the other project, and nothing of that may stay.
      update({ drawer: null });
      location.reload();
    }, failed);
  };
  if (failure) return <Note kind="bad">{failure}</Note>;
  if (!all) return <Loading />;
  const names = all.map(({ name }) => name);
  return (
    <ul aria-label={say('switchProject')}>
      {all.map(({ id, name, domain }) => (
        <li key={id}>
          <button type="button" disabled={id === state.me?.project_id} onClick={() => take(id)}>
            {name}
            {names.indexOf(name) !== names.lastIndexOf(name) && <small>{domain}</small>}
          </button>
        </li>
      ))}
    </ul>
  );
}
