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
  calendar: 'Kalender', utilisation: 'Auslastung', leases: 'Meine Reservierungen', live: 'Live',
  offline: 'Offline', zone: 'Zeitzone', theme: 'Design', light: 'Hell', dark: 'Dunkel', auto: 'System',
  language: 'Sprache', signOut: 'Abmelden', signIn: 'Anmelden', today: 'Heute', earlier: 'Früher',
  later: 'Später', zoomIn: 'Vergrößern', zoomOut: 'Verkleinern', '6h': '6 h', day: 'Tag', week: 'Woche',
  month: 'Monat', quarter: 'Quartal', search: 'Name, Eigenschaft', type: 'Ressourcentyp',
  grouping: 'Gruppieren', ungrouped: 'Ohne Gruppen', groupedBy: 'Nach {name}', density: 'Zeilenhöhe',
  comfortable: 'Komfortabel', compact: 'Kompakt', dense: 'Dicht', overview: 'Überblick',
  mineOnly: 'Nur meine', reserve: 'Reservieren', resources: '{n} {n|one:Ressource|other:Ressourcen}',
  freeNow: '{free} von {total} frei', all: 'Alle', free: '{d} frei',
  freeAtLeast: '{d} oder länger frei', yours: 'Meine, aktiv', yoursLater: 'Meine, künftig',
  others: 'Andere Projekte', held: 'Für ein Angebot gehalten', maintenance: 'Wartung',
  failed: 'Ausgefallen', disabled: 'Außer Betrieb', changing: 'In Änderung', failedLease: 'Fehler',
  hint: 'Freie Zeit durch Ziehen reservieren · Umschalt+Ziehen verschiebt · Strg+Mausrad zoomt',
  hintAdmin: 'Freie Zeit durch Ziehen reservieren · Alt+Ziehen für Wartung · Strg+Mausrad zoomt',
  grid: 'Reservierungen je Ressource. Pfeiltasten wechseln zwischen Balken, Lücken und Zeilen, Eingabe öffnet oder reserviert, Plus und Minus zoomen, T zeigt heute.',
  sayFree: '{name}: frei von {start} bis {end}, {d}. Eingabe drücken, um zu reservieren.',
  sayFreeOpen: '{name}: frei ab {start}. Eingabe drücken, um zu reservieren.',
  sayMine: '{name}: Ihre Reservierung {lease}, {start} bis {end}. Eingabe drücken, um sie zu öffnen.',
  sayBusy: '{name}: reserviert, {start} bis {end}.',
  sayRow: '{name}: außer Betrieb.', loading: 'Wird geladen…', nothing: 'Keine passenden Ressourcen.',
  nothingMine: 'Hier haben Sie nichts reserviert.',
  sayGroup: 'Gruppe {name}, {n} {n|one:Ressource|other:Ressourcen}. Eingabe drücken, um sie einzuklappen.',
  sayFolded: 'Gruppe {name}, {n} {n|one:Ressource|other:Ressourcen}, eingeklappt. Eingabe drücken, um sie auszuklappen.',
  filters: 'Filtern und gruppieren', allGroups: 'Alle Gruppen', shownGroup: 'Gruppe anzeigen',
  replaced: 'Zu ersetzende Ressource',
  reallocateRunning: 'Die Reservierung läuft. Climate gibt die alte Ressource frei, sobald nichts sie mehr nutzt.',
  calendarLink: 'Kalenderlink erstellen', subscribe: 'Diese Adresse im Kalenderprogramm abonnieren',
  secretLink: 'Wer diese Adresse hat, kann den Kalender ohne Passwort lesen. Sie wird nur einmal angezeigt.',
  nextFree: 'Nächste freie Zeiten', neverFree: 'In den nächsten 60 Tagen nicht frei.', now: 'Jetzt',
  bookedSoon: 'In den nächsten 7 Tagen zu {share} belegt.',
  close: 'Schließen', name: 'Name',
  from: 'Von', to: 'Bis', length: 'Dauer',
  lease: 'Reservierung', start: 'Beginn', end: 'Ende', has: 'Ressourcen',
  untilStart: 'bis zum Beginn', untilEnd: 'übrig', over: 'Beendet', extend: 'Verlängern…',
  shorten: 'Verkürzen…', delete: 'Löschen…', deleteNow: 'Reservierung löschen',
  deleteAsk: 'Beim Löschen werden die Ressourcen der Reservierung frei. Das lässt sich nicht rückgängig machen.',
  reallocate: 'Ressource ersetzen…', reallocateNow: 'Ersetzen', newEnd: 'Neues Ende',
  atMost: 'Spätestes mögliches Ende: {end}', save: 'Speichern', cancel: 'Abbrechen',
  deleted: '{name} wurde gelöscht.', changed: '{name} endet jetzt {end}.', moved: '{name} wurde ersetzt.',
  history: 'Verlauf und nächste Schritte', awaited: 'geplant', status: 'Status', more: 'Mehr anzeigen',
  noLeases: 'Noch keine Reservierungen. Ziehen Sie im Kalender über freie Zeit, um etwas zu reservieren.',
  properties: 'Eigenschaften', capacity: 'Kapazität', newMaintenance: 'Neue Wartung', reason: 'Grund',
  addMaintenance: 'Wartung eintragen', maintained: 'Wartung für {name} eingetragen.',
  removeMaintenance: 'Wartung entfernen', removed: 'Wartung entfernt.', resource: 'Ressource',
  freeEachDay: 'Mindestens frei je Tag', bookedShare: 'Belegter Anteil im Zeitverlauf', group: 'Gruppe',
  password: 'Passwort', user: 'Benutzername', project: 'Projekt', userDomain: 'Domäne des Benutzers',
  projectDomain: 'Domäne des Projekts', token: 'Token', credential: 'Application Credential',
  credentialId: 'ID', secret: 'Secret', method: 'Anmelden mit',
  signedOut: 'Sie sind abgemeldet.', expired: 'Ihre Sitzung ist abgelaufen.', wrong: 'Das hat nicht funktioniert: {why}',
  back: 'Wieder online.', gone: 'Climate antwortet nicht. Die Seite zeigt den letzten Stand und versucht es weiter.',
  periodBad: 'Das Ende muss nach dem Beginn liegen.', request: 'Anfrage {id}',
  notLoaded: 'Dieser Teil der Seite ließ sich nicht laden. Vielleicht ist die Seite inzwischen erneuert worden.', reload: 'Neu laden',
  effect_prepare: 'Vorbereitung', effect_start: 'Beginn', effect_update: 'Änderung', effect_check: 'Prüfung', effect_before_end: 'vor dem Ende', effect_end: 'Ende', effect_undo: 'Rücknahme',
  event_start_lease: 'Beginn', event_end_lease: 'Ende', event_before_end_lease: 'vor dem Ende', event_before_start_lease: 'vor dem Beginn', event_check_lease: 'Prüfung', event_prepare: 'Vorbereitung', event_update_lease: 'Änderung', event_undo_lease: 'Rücknahme', event_delete_lease: 'Löschen', event_notification: 'Benachrichtigung',
  state_done: 'erledigt', state_waiting: 'wartet', state_failed: 'fehlgeschlagen', state_undone: 'zurückgenommen',
};
