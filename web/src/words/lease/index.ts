// SPDX-License-Identifier: Apache-2.0

/** What leases say; fetched with the code that shows them. */
import { state } from '../../data/state.ts';
import type { Instruction } from '../../data/types.ts';
import { sayKey, speaker } from '../index.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import type { LeaseWords } from './en.ts';

export const LEASE_WORDS: Record<string, LeaseWords> = { en, de };
export const say = speaker<LeaseWords>(LEASE_WORDS);
export const sayOf = (prefix: string, key: string): string => sayKey(LEASE_WORDS, prefix, key);

/** The titles of instructions in other languages than that of the service. */
const TITLES: Record<string, Record<string, string>> = {
  de: {
    add_floating_ip: 'Die Adresse einem Server geben', attach_volume: 'Das Volume an einen Server hängen',
    create_server: 'Einen Server darauf anlegen', create_subnet: 'Ein Subnetz anlegen, das Server brauchen',
    create_volume: 'Ein Volume darin anlegen', log_in: 'Am Server anmelden', network: 'ID des Netzwerks',
    show_outputs: 'Die Ausgaben des Stacks anzeigen', show_server: 'Den Server und seine Adressen anzeigen',
  },
};
export const titleOf = ({ name, title }: Instruction): string => TITLES[state.language]?.[name] ?? title;
