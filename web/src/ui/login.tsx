// SPDX-License-Identifier: Apache-2.0

/** Signing in with what Keystone accepts; nothing of it is kept in the page. */
import { useState } from 'preact/hooks';
import { leave } from '../data/address.ts';
import { Refusal, session } from '../data/api.ts';
import { announce, begin, explain, remember, remembered } from '../data/live.ts';
import { state, update } from '../data/state.ts';
import { say } from '../words/index.ts';
import { Field, Note, TextField } from './fields.tsx';

type Method = 'password' | 'credential' | 'token';
const EMPTY = {
  username: '', password: '', user_domain: 'Default', project: '', project_domain: 'Default',
  application_credential_id: '', application_credential_secret: '', token: '',
};
type Values = typeof EMPTY;
const FIELDS: Record<Method, (keyof Values)[]> = {
  password: ['username', 'password', 'project', 'user_domain', 'project_domain'],
  credential: ['application_credential_id', 'application_credential_secret'],
  token: ['token', 'project', 'project_domain'],
};
const LABELS: Record<keyof Values, () => string> = {
  username: () => say('user'), password: () => say('password'), project: () => say('project'),
  user_domain: () => say('userDomain'),
  project_domain: () => say('projectDomain'),
  application_credential_id: () => say('credentialId'),
  application_credential_secret: () => say('secret'), token: () => say('token'),
};
/** A token may have a project already, and Keystone may know a default one. */
const OPTIONAL = new Set(['project', 'project_domain']);
const SECRET = new Set(['password', 'application_credential_secret', 'token']);

/** What is kept for the next sign-in: no secrets. */
const KEPT = ['username', 'user_domain', 'project', 'project_domain'] as const;

function kept(method: Method, values: Values): Record<string, string> {
  return { method, ...Object.fromEntries(KEPT.map((name) => [name, values[name]])) };
}

/** Go to Keystone, which sends a user back who is signed in there. */
async function goTo(way: string): Promise<void> {
  const { body } = await session<{ location: string }>('POST', { sso: way }, '/start');
  leave(body.location);
}

export function Login() {
  const { method: last, ...entered } = remembered();
  const [method, setMethod] = useState<Method>((last as Method | undefined) ?? 'password');
  const [values, setValues] = useState<Values>({ ...EMPTY, ...entered });
  const [failure, setFailure] = useState('');
  const failed = (error: unknown): void =>
    setFailure(error instanceof Refusal ? explain(error) : say('gone'));
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const body = Object.fromEntries(FIELDS[method].map((name) => [name, values[name]]));
    try {
      await session('POST', body);
      announce();
      remember(kept(method, values));
      setValues(EMPTY);
      update({ notice: '' });
      await begin();
    } catch (error) {
      failed(error);
    }
  };
  return (
    <form class="login panel" onSubmit={(event) => void send(event)}>
      <h1>{say('signIn')}</h1>
      {state.ended && <Note kind="plain">{say('expired')}</Note>}
      {state.session?.sso?.map((way) => (
        <button type="button" key={way} class="primary wide" onClick={() => void goTo(way).catch(failed)}>
          {say('signInWith', { name: way })}
        </button>
      ))}
      <Field label={say('method')}>
        <select value={method} onChange={(event) => setMethod(event.currentTarget.value as Method)}>
          {(Object.keys(FIELDS) as Method[]).map((one) => <option key={one} value={one}>{say(one)}</option>)}
        </select>
      </Field>
      {FIELDS[method].map((name) => (
        <TextField key={name} label={LABELS[name]()} value={values[name]} required={!OPTIONAL.has(name)}
          type={SECRET.has(name) ? 'password' : 'text'}
          complete={name === 'username' ? 'username' : name === 'password' ? 'current-password' : 'off'}
          change={(text) => setValues({ ...values, [name]: text })} />
      ))}
      {failure && <Note kind="bad">{failure}</Note>}
      <button type="submit" class={`wide ${state.session?.sso?.length ? '' : 'primary'}`}>{say('signIn')}</button>
    </form>
  );
}
