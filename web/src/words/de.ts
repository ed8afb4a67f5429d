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

/** The messages in German. */
import type { Catalogue } from './en.ts';

export const de: Catalogue = {
  calendar: 'Kalender', utilisation: 'Auslastung', leases: 'Meine Reservierungen', live: 'live',
  offline: 'keine Verbindung', zone: 'Zeitzone', theme: 'Aussehen', light: 'Hell', dark: 'Dunkel', auto: 'System',
  language: 'Sprache', signOut: 'Abmelden', signIn: 'Anmelden', today: 'Heute', earlier: 'Früher',
  later: 'Später', zoomIn: 'Vergrößern', zoomOut: 'Verkleinern', '6h': '6 Std.', day: 'Tag', week: 'Woche',
  month: 'Monat', quarter: 'Quartal', search: 'Name oder Eigenschaft', type: 'Ressourcentyp',
  grouping: 'Gruppieren', ungrouped: 'Ohne Gruppen', groupedBy: 'Nach {name}', density: 'Zeilenhöhe',
  comfortable: 'Bequem', compact: 'Kompakt', dense: 'Dicht', overview: 'Überblick',
  mineOnly: 'nur meine', reserve: 'Reservieren', resources: '{n} Ressourcen', freeNow: '{free} von {total} frei',
  all: 'alle', free: '{d} frei', freeAtLeast: '{d} oder länger frei', yours: 'meine, aktiv',
  yoursLater: 'meine, künftig', others: 'andere', held: 'für ein Angebot gehalten',
  maintenance: 'Wartung', failed: 'ausgefallen', disabled: 'außer Betrieb',
  hint: 'Über freie Zeit ziehen zum Reservieren · Umschalt-Ziehen verschiebt · Strg-Mausrad vergrößert',
  hintAdmin: 'Über freie Zeit ziehen zum Reservieren · Alt-Ziehen für Wartung · Strg-Mausrad vergrößert',
  grid: 'Reservierungen je Ressource. Pfeiltasten gehen von Balken zu Lücke und von Zeile zu Zeile; Eingabe öffnet oder reserviert; Plus und Minus vergrößern und verkleinern; T zeigt heute.',
  sayFree: '{name}: frei von {start} bis {end}, {d}. Eingabe reserviert.',
  sayFreeOpen: '{name}: frei ab {start}. Eingabe reserviert.',
  sayMine: '{name}: meine Reservierung {lease}, {start} bis {end}. Eingabe öffnet sie.',
  sayBusy: '{name}: reserviert, {start} bis {end}.',
  sayRow: '{name}: außer Betrieb.', loading: 'Lädt…', nothing: 'Keine Ressource passt.',
  replaced: 'Ersetzen', reallocateRunning: 'Die Reservierung läuft: Die alte Ressource wird frei, sobald nichts sie mehr nutzt.',
  calendarLink: 'Kalenderlink…', subscribe: 'Diese Adresse im Kalender abonnieren',
  secretLink: 'Jedes Programm mit dieser Adresse kann den Kalender lesen, ohne Passwort. Sie wird nur einmal gezeigt.',
  nextFree: 'Demnächst frei', neverFree: 'In den nächsten 60 Tagen nicht frei.', now: 'Jetzt',
  bookedSoon: '{share} % der nächsten 7 Tage sind belegt.', hold: 'Das erste 10 Minuten halten',
  heldUntil: 'gehalten bis {end}', changing: 'in Änderung', failedLease: 'Fehler',
  filters: 'Filtern und gruppieren', nothingMine: 'Hier ist nichts von mir.', allGroups: 'Alle von {name}', shownGroup: 'Gezeigte Gruppe',
  sayGroup: 'Gruppe {name}, {n} Ressourcen. Eingabe klappt sie zu.',
  sayFolded: 'Gruppe {name}, {n} Ressourcen, zugeklappt. Eingabe klappt sie auf.',
  close: 'Schließen', newLease: 'Neue Reservierung', name: 'Name', howMany: 'Anzahl', from: 'Von', to: 'Bis',
  length: 'Dauer', which: 'Welche', exactly: 'Genau {names}', any: 'Beliebige freie',
  checking: 'Wird geprüft…', canHave: 'Frei.', notEnough: 'Nicht genug.',
  verdict: '{free} von {total} für {d} frei', instead: 'Stattdessen', reserveThese: '{n} reservieren',
  takeOffer: 'Dieses Angebot annehmen', offerFor: '{n} für {d}', noOffer: 'In den nächsten zwei Wochen passt nichts.',
  reserved: '{name} ist reserviert.', lease: 'Reservierung', start: 'Beginn', end: 'Ende',
  has: 'Enthält', untilStart: 'bis zum Beginn', untilEnd: 'übrig', over: 'vorbei', extend: 'Verlängern…',
  shorten: 'Verkürzen…', delete: 'Löschen…', deleteNow: 'Reservierung löschen', deleteAsk: 'Ihre Ressourcen werden frei. Das lässt sich nicht rückgängig machen.',
  reallocate: 'Ressource ersetzen…', reallocateNow: 'Ersetzen', newEnd: 'Neues Ende',
  atMost: 'Möglich bis {end}', save: 'Speichern', cancel: 'Abbrechen', deleted: '{name} ist gelöscht.',
  changed: '{name} endet {end}.', moved: '{name} ist ersetzt.', history: 'Was geschah und was kommt', awaited: 'erwartet',
  status: 'Zustand', more: 'Mehr', noLeases: 'Noch keine Reservierungen. Im Kalender über freie Zeit ziehen.',
  properties: 'Eigenschaften', capacity: 'Kapazität', newMaintenance: 'Neue Wartung', reason: 'Grund',
  announce: 'Wartung eintragen', maintained: 'Die Wartung von {name} ist eingetragen.',
  removeMaintenance: 'Wartung entfernen', removed: 'Die Wartung ist entfernt.', addMaintenance: 'Wartung eintragen',
  freeEachDay: 'Mindestens frei an jedem Tag', bookedShare: 'Belegter Anteil', group: 'Gruppe', password: 'Passwort', user: 'Benutzer', project: 'Projekt',
  domain: 'Domäne', token: 'Token', credential: 'Application Credential', credentialId: 'Id', secret: 'Geheimnis', method: 'Mit',
  signedOut: 'Sie sind abgemeldet.', expired: 'Ihre Sitzung ist zu Ende.', wrong: 'Das ging nicht: {why}',
  back: 'Die Verbindung ist wieder da.', gone: 'Climate antwortet nicht. Die Seite zeigt, was sie hat, und versucht es weiter.',
  periodBad: 'Das Ende muss nach dem Beginn liegen.', past: 'Der Beginn ist vorbei.', resource: 'Ressource',
  unbookable: 'Diesen Typ mit der Kommandozeile oder der API reservieren.', request: 'Anfrage {id}',
  effect_prepare: 'Vorbereitung', effect_start: 'Beginn', effect_update: 'Änderung', effect_check: 'Prüfung', effect_before_end: 'vor dem Ende', effect_end: 'Ende', effect_undo: 'Rücknahme',
  event_start_lease: 'Beginn', event_end_lease: 'Ende', event_before_end_lease: 'vor dem Ende', event_before_start_lease: 'vor dem Beginn', event_check_lease: 'Prüfung', event_prepare: 'Vorbereitung', event_update_lease: 'Änderung', event_undo_lease: 'Rücknahme', event_delete_lease: 'Löschen', event_notification: 'Benachrichtigung',
  state_done: 'erledigt', state_waiting: 'wartet', state_failed: 'fehlgeschlagen', state_undone: 'zurückgenommen',
};
