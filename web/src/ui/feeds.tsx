// SPDX-License-Identifier: Apache-2.0

/** The links with which calendar programs show leases; each can be revoked. */
import { useEffect, useState } from 'preact/hooks';
import { Refusal, call, get, seconds } from '../data/api.ts';
import { explain, trouble } from '../data/live.ts';
import { state, update, useChanges } from '../data/state.ts';
import type { Feed, Lease } from '../data/types.ts';
import { fullDay } from '../words/index.ts';
import { say } from '../words/lease/index.ts';
import { Note } from './fields.tsx';

const PAGE = 100;
interface Answer { feeds: Feed[]; feeds_links?: unknown[] }

async function all(): Promise<Feed[]> {
  const found: Feed[] = [];
  for (let more = true; more;) {
    const answer = await get<Answer>('feeds', { limit: PAGE, marker: found.at(-1)?.id });
    found.push(...answer.feeds);
    more = Boolean(answer.feeds_links);
  }
  return found;
}

/** List the links of a lease, or all of the project without one. */
export function FeedList({ lease }: { lease?: Lease }) {
  const [feeds, setFeeds] = useState<Feed[]>([]);
  const { notice } = useChanges();
  const may = Boolean(state.me?.may['feeds:list']);
  const load = (): void => {
    if (may) all().then(setFeeds, trouble);
  };
  // A notice says that one was made or revoked.
  useEffect(load, [may, notice]);
  const shown = lease ? feeds.filter((one) => one.lease_id === lease.id) : feeds;
  if (shown.length === 0) return null;
  const Heading = lease ? 'h3' : 'h2';
  return (
    <section class="links">
      <Heading>{say('links')}</Heading>
      <ul>{shown.map((one) => <Link key={one.id} feed={one} />)}</ul>
    </section>
  );
}

function Link({ feed }: { feed: Feed }) {
  const [asked, setAsked] = useState(false);
  const [failure, setFailure] = useState('');
  const revoke = async (): Promise<void> => {
    try {
      await call('DELETE', `feeds/${encodeURIComponent(feed.id)}`);
      update({ notice: say('revoked', { name: feed.name }), revoked: feed.id });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 401) trouble(error);
      setFailure(explain(error));
    }
  };
  const about = [
    say(feed.kind === 'lease' ? 'linkOfLease' : feed.kind === 'resource' ? 'linkOfResource' : 'linkOfProject'),
    feed.expires_at && say('linkUntil', { day: fullDay(seconds(feed.expires_at)) }),
    feed.stopped_reason && say('linkStopped', { why: feed.stopped_reason }),
  ].filter(Boolean).join(', ');
  return (
    <li>
      <span><strong>{feed.name}</strong> <small class="muted">{about}</small></span>
      {/* Its name tells buttons apart for those who hear them. */}
      <button type="button" class="danger" aria-expanded={asked} aria-label={`${say('revoke')} ${feed.name}`}
        onClick={() => setAsked(!asked)}>
        {say('revoke')}
      </button>
      {asked && (
        <div class="ask">
          <p>{say('revokeAsk', { name: feed.name })}</p>
          <div class="actions">
            <button type="button" class="danger full" onClick={() => void revoke()}>{say('revokeNow')}</button>
            <button type="button" onClick={() => setAsked(false)}>{say('cancel')}</button>
          </div>
        </div>
      )}
      {failure && <Note kind="bad">{failure}</Note>}
    </li>
  );
}
