// SPDX-License-Identifier: Apache-2.0

/** Components whose code is fetched when they are first shown, or before, while nothing is done. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { onTurn } from '../data/live.ts';
import { say } from '../words/index.ts';

const fetches: (() => Promise<void>)[] = [];

/** Return a component that stands for one in another module, until that has been fetched. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let found: ComponentType<P> | null = null;
  const fetched = async (): Promise<void> => {
    found ??= await load();
  };
  fetches.push(fetched);
  return function Later(props: P) {
    const [, again] = useState(0);
    const [failed, setFailed] = useState(false);
    const Found = found;
    useEffect(() => {
      if (Found) return undefined;
      const attempt = (): void => void fetched().then(() => again(1), () => setFailed(true));
      attempt();
      return onTurn(attempt);
    }, []);
    if (Found) return <Found {...props} />;
    return failed ? <NotLoaded /> : null;
  };
}

/** There is no connection, or the service has been upgraded since and has other files. */
function NotLoaded() {
  return (
    <div class="panel empty" role="alert">
      <p>{say('notLoaded')}</p>
      <button type="button" onClick={() => location.reload()}>{say('reload')}</button>
    </div>
  );
}

/** Fetch what has not been shown yet, so that it opens at once, and also without a connection. */
export function fetchRest(): void {
  for (const fetched of fetches) void fetched().catch(() => {});
}
