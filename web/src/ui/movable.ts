// SPDX-License-Identifier: Apache-2.0

/** The window of a lease that may still move, while the pointer or the focus is on one of its bars. */
import { get, seconds } from '../data/api.ts';
import { present } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { isMine } from '../draw/bars.ts';
import type { Marks } from '../draw/marks.ts';
import { moves } from '../model/columns.ts';
import type { Chunk } from '../model/columns.ts';
import { moment, say } from '../words/index.ts';

/** How long the pointer has to rest. */
const PAUSE = 150;
const NEVER = 1e11;

export class Windows {
  private key = '';
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `shown` is called with the words of a window once it is known. */
  constructor(private readonly marks: Marks, private readonly shown: (words: string) => void) {}

  /** Show the window of the lease of a bar; none if it does not move, or `chunk` is null. */
  show(chunk: Chunk | null, bar: number, row: number): void {
    const lease = chunk && bar >= 0 && isMine(chunk, bar) ? chunk.lease[bar]! : -1;
    const id = lease >= 0 && moves(chunk!.leases, lease, present()) ? chunk!.leases.id[lease]! : '';
    const key = id && `${id} ${row}`;
    if (key === this.key) return;
    this.hide();
    this.key = key;
    if (!id) return;
    this.timer = setTimeout(() => void get<{ lease: Lease }>(`leases/${encodeURIComponent(id)}`).then(({ lease: found }) => {
      if (this.key === key && found.earliest) this.mark(found.earliest, found.latest, row);
    }, () => undefined), PAUSE);
  }

  hide(): void {
    clearTimeout(this.timer);
    if (this.key) this.marks.window = null;
    this.key = '';
  }

  private mark(earliest: string, latest: string | null, row: number): void {
    const start = Math.max(seconds(earliest), present());
    const end = latest ? seconds(latest) : NEVER;
    const words = latest ? say('movesWithin', { start: moment(start), end: moment(end) }) : say('movesFrom', { start: moment(start) });
    this.marks.window = { first: row, last: row, start, end, words };
    this.shown(words);
  }
}
