// SPDX-License-Identifier: Apache-2.0

/** What the form of an act on a lease is given. */
import type { Lease } from '../data/types.ts';
import type { Times } from './proposals.ts';

export interface ActProps {
  lease: Lease; cancel: () => void; times?: Partial<Times>;
  /** Do some work, then say so; `shut` closes the drawer too. */
  done: (work: () => Promise<unknown>, notice: string, shut?: boolean) => Promise<void>;
}
