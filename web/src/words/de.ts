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
  calendar: 'Kalender', utilisation: 'Auslastung', leases: 'Reservierungen', live: 'Live',
  offline: 'Offline', zone: 'Zeitzone', theme: 'Design', light: 'Hell', dark: 'Dunkel', auto: 'System',
  language: 'Sprache', signOut: 'Abmelden', signIn: 'Anmelden', today: 'Heute', goTo: 'Gehe zum Datum (G)', earlier: 'Früher',
  later: 'Später', zoomIn: 'Vergrößern', zoomOut: 'Verkleinern', '6h': '6 h', day: 'Tag', week: 'Woche',
  month: 'Monat', quarter: 'Quartal', search: 'Name, Eigenschaft', type: 'Ressourcentyp',
  grouping: 'Gruppieren', ungrouped: 'Ohne Gruppen', groupedBy: 'Nach {name}', density: 'Zeilenhöhe',
  comfortable: 'Komfortabel', compact: 'Kompakt', dense: 'Dicht', overview: 'Überblick',
  mineOnly: 'Nur mein Projekt', reserve: 'Reservieren', resources: '{n} {n|one:Ressource|other:Ressourcen}',
  freeNow: '{free} von {total} frei', all: 'Alle', free: '{d} frei',
  freeAtLeast: '{d} oder länger frei', yours: 'Mein Projekt: aktiv', yoursLater: 'künftig', yoursOver: 'beendet',
  others: 'Andere Projekte', held: 'Für ein Angebot gehalten', maintenance: 'Wartung',
  failed: 'Ausgefallen', disabled: 'Außer Betrieb', changing: 'In Änderung', failedLease: 'Fehler',
  hint: 'Freie Zeit durch Ziehen reservieren, Balken Ihres Projekts oder ihre Ränder ziehen, um sie zu ändern · Umschalt+Ziehen verschiebt · Strg+Mausrad zoomt',
  hintAdmin: 'Freie Zeit durch Ziehen reservieren, Balken Ihres Projekts oder ihre Ränder ziehen, um sie zu ändern · Alt+Ziehen für Wartung · Strg+Mausrad zoomt',
  grid: 'Reservierungen je Ressource. Pfeiltasten wechseln zwischen Balken, Lücken und Zeilen, Eingabe öffnet oder reserviert, Plus und Minus zoomen, T zeigt heute, G wählt ein Datum, M verschiebt eine Reservierung Ihres Projekts oder ihr Ende.',
  sayFree: '{name}: frei von {start} bis {end}, {d}. Eingabe drücken, um zu reservieren.',
  sayFreeOpen: '{name}: frei ab {start}. Eingabe drücken, um zu reservieren.',
  sayMine: '{name}: Reservierung {lease} Ihres Projekts, {start} bis {end}. Eingabe öffnet, M verschiebt sie.',
  sayMoves: '{lease} verschieben. Pfeiltasten links und rechts verschieben sie, mit Umschalt nur ihr Ende. Eingabe fährt fort, Escape bricht ab.',
  sayEndMoves: 'Das Ende von {lease} verschieben. Pfeiltasten links und rechts verschieben es. Eingabe fährt fort, Escape bricht ab.',
  sayTimes: '{start} bis {end}.', sayFixed: 'Hier lässt sich nichts verschieben.',
  sayBusy: '{name}: reserviert, {start} bis {end}.',
  sayRow: '{name}: außer Betrieb.', loading: 'Wird geladen…', nothing: 'Keine passenden Ressourcen.',
  nothingMine: 'Ihr Projekt hat hier nichts reserviert.',
  sayGroup: 'Gruppe {name}, {n} {n|one:Ressource|other:Ressourcen}. Eingabe drücken, um sie einzuklappen.',
  sayFolded: 'Gruppe {name}, {n} {n|one:Ressource|other:Ressourcen}, eingeklappt. Eingabe drücken, um sie auszuklappen.',
  filters: 'Filtern und gruppieren', allGroups: 'Alle Gruppen', shownGroup: 'Gruppe anzeigen',
  nextFree: 'Nächste freie Zeiten', neverFree: 'In den nächsten 60 Tagen nicht frei.', now: 'Jetzt',
  bookedSoon: 'In den nächsten 7 Tagen zu {share} belegt.',
  close: 'Schließen', name: 'Name',
  from: 'Von', to: 'Bis', length: 'Dauer',
  lease: 'Reservierung', start: 'Beginn', end: 'Ende', has: 'Ressourcen',
  properties: 'Eigenschaften', capacity: 'Kapazität', newMaintenance: 'Neue Wartung', reason: 'Grund',
  addMaintenance: 'Wartung eintragen', maintained: 'Wartung für {name} eingetragen.',
  removeMaintenance: 'Wartung entfernen', removed: 'Wartung entfernt.', resource: 'Ressource',
  freeEachDay: 'Mindestens frei je Tag', bookedShare: 'Belegter Anteil im Zeitverlauf', group: 'Gruppe',
  password: 'Passwort', user: 'Benutzername', project: 'Projekt', userDomain: 'Domäne des Benutzers',
  projectDomain: 'Domäne des Projekts', token: 'Token', credential: 'Application Credential',
  credentialId: 'ID', secret: 'Secret', method: 'Anmelden mit',
  'kind_virtual:instance': 'Server nach Größe', 'kind_flavor:instance': 'Server nach Flavor', 'kind_physical:host': 'Hosts',
  'kind_virtual:volume': 'Volumes', kind_network: 'Netzwerk', 'kind_virtual:floatingip': 'Floating IPs',
  'kind_physical:storage': 'Speicherpools', 'kind_virtual:server': 'Ein Server, eigener oder neuer', 'kind_virtual:stack': 'Ein Stack, eigener oder neuer',
  signInWith: 'Mit {name} anmelden', switchProject: 'Projekt wechseln',
  signedOut: 'Sie sind abgemeldet.', expired: 'Ihre Sitzung ist abgelaufen.', wrong: 'Das hat nicht funktioniert: {why}',
  back: 'Wieder online.', gone: 'Climate antwortet nicht. Die Seite zeigt den letzten Stand und versucht es weiter.',
  periodBad: 'Das Ende muss nach dem Beginn liegen.', request: 'Anfrage {id}',
  notLoaded: 'Dieser Teil der Seite ließ sich nicht laden. Vielleicht ist die Seite inzwischen erneuert worden.', reload: 'Neu laden',
};
