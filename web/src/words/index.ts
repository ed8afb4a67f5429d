// SPDX-License-Identifier: Apache-2.0

/** The messages of the page, and dates as people write them. */
import { de } from './de.ts';
import { en } from './en.ts';
import type { Catalogue } from './en.ts';

export const LANGUAGES: Record<string, Catalogue> = { en, de };
let language = 'en';
let zone = 'UTC';
const formats = new Map<string, Intl.DateTimeFormat>();

export function setLanguage(wanted: string): void {
  language = wanted in LANGUAGES ? wanted : 'en';
}

export function setZone(wanted: string): void {
  zone = wanted;
}

type Values = Record<string, string | number>;

/** Return what says the messages of catalogues, by language. A part of the page has its own. */
export const speaker = <C extends Record<string, string>>(catalogues: Record<string, C>) =>
  (key: keyof C & string, values: Values = {}): string => filled(catalogues[language]![key]!, values);

export const say = speaker<Catalogue>(LANGUAGES);

/** Return a message with its parameters filled in: numbers, and words in the form for a number. */
function filled(message: string, values: Values): string {
  return message.replace(/\{(\w+)(\|[^}]+)?\}/g, (_, name: string, forms?: string) => {
    const value = values[name]!;
    return forms ? form(Number(value), forms) : value.toLocaleString(language);
  });
}

/** Return the form of a word for a number, of forms such as "|one:lease|other:leases". */
function form(number: number, forms: string): string {
  const wanted = `${new Intl.PluralRules(language).select(number)}:`;
  return forms.split('|').find((one) => one.startsWith(wanted))!.slice(wanted.length);
}

/** Return a number as it is written in the language. */
export const amount = (number: number): string => number.toLocaleString(language);

/** Return a word with a capital letter. */
export const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** Return a noun as it is written within a sentence of the language: German ones have capitals. */
export const nounOf = (word: string): string => (language === 'de' ? capital(word) : word);

/** Return words as a list, such as "a, b or c". */
export const either = (words: string[]): string =>
  new Intl.ListFormat(language, { type: 'disjunction' }).format(words);

/** Return a share of one in percent. */
export const percent = (share: number): string =>
  new Intl.NumberFormat(language, { style: 'percent' }).format(share);

/** Return a message of catalogues by a key of the API, or the key in words. */
export function sayKey(catalogues: Record<string, Record<string, string>>, prefix: string, key: string): string {
  return catalogues[language]![`${prefix}_${key}`] ?? key.replaceAll('_', ' ');
}

export function date(at: number, options: Intl.DateTimeFormatOptions): string {
  const key = `${language} ${zone} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (!format) {
    const locale = language === 'en' ? 'en-GB' : language;
    format = new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h23', ...options });
    formats.set(key, format);
  }
  return format.format(at * 1000);
}

const CLOCK: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
export const clock = (at: number): string => date(at, CLOCK);
export const moment = (at: number): string =>
  date(at, { weekday: 'short', day: 'numeric', month: 'short', ...CLOCK });
export const dayName = (at: number): string =>
  date(at, { weekday: 'short', day: 'numeric', month: 'short' });
/** Return a period, with the day of its end if that is another one. */
export const period = (start: number, end: number): string =>
  `${moment(start)} – ${dayName(start) === dayName(end) ? clock(end) : moment(end)}`;
export const fullDay = (at: number): string =>
  date(at, { day: 'numeric', month: 'short', year: 'numeric' });

/** Return a length of time with its two largest units, such as "14 h 29 min". */
export function duration(seconds: number): string {
  const minutes = Math.max(0, Math.round(seconds / 60));
  const parts: [number, string][] = [
    [Math.floor(minutes / 1440), 'd'], [Math.floor(minutes / 60) % 24, 'h'], [minutes % 60, 'min'],
  ];
  const first = parts.findIndex(([number]) => number > 0);
  if (first < 0) return '0 min';
  return parts.slice(first, first + 2).filter(([number]) => number > 0)
    .map(([number, unit]) => `${number} ${unit}`).join(' ');
}
