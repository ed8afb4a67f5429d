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

/** The messages of the form of a new lease, in German. */
import type { FormWords } from './en.ts';

export const de: FormWords = {
  newLease: 'Neue Reservierung', name: 'Name', nameLong: 'Der Name darf höchstens 80 Zeichen haben.',
  what: 'Was', howMany: 'Anzahl', from: 'Von', to: 'Bis', length: 'Dauer',
  zone: 'Zeiten in {zone}', checking: 'Wird geprüft…', periodBad: 'Das Ende muss nach dem Beginn liegen.',
  missing: 'Es fehlt noch: {fields}.', eitherOr: '{one} oder {others}', badJson: '{field} ist kein gültiges JSON.',
  conditions: 'Bedingungen', anyOne: 'Beliebige freie', addCondition: 'Bedingung hinzufügen', property: 'Eigenschaft', value: 'Wert',
  trait: 'Trait', equals: '{property} = {values}', countOf: '{value} ({n})', removeCondition: 'Bedingung {condition} entfernen',
  matching: 'passend zu „{text}“', namesMore: '{names} und {n} weitere',
  searchLost: 'Die Suche „{text}“ lässt sich nicht als Bedingung ausdrücken und gilt hier nicht.',
  options: 'Weitere Optionen', usual: 'Wie üblich', another: 'Noch etwas hinzufügen', remove: 'Entfernen', partOf: 'Reservierung {n}',
  optional: '{label} (optional)',
  canHave: 'Verfügbar.', notEnough: 'Nicht verfügbar.',
  figure: '{free} von {things} für {d} frei.', room: 'Für {d} ist Platz für {things}.',
  onlyMatch: '{things} {n|one:passt|other:passen}.', noMatch: 'Nichts erfüllt die Bedingungen.',
  until: 'Die erste Reservierung im Weg endet {end}.',
  instead: 'Alternativen', altNow: '{things} zu dieser Zeit', altFrom: '{things} ab {start}',
  altUntil: '{things} bis {end}', altWith: '{things} mit {condition}', altOther: 'Beliebige {things} zu dieser Zeit',
  takeThis: 'Das reservieren', takeOffer: 'Dieses Angebot annehmen', forLength: 'für {d}', heldUntil: 'gehalten bis {end}',
  hold: 'Erstes Angebot 10 Minuten halten', noOffer: 'In den nächsten zwei Wochen passt nichts.',
  reserve: 'Reservieren', reserveThese: '{things} reservieren', reserved: '{name} ist reserviert.', lease: 'Reservierung',
  limit: '{field}: {why}.',
  when: 'Wann', atTime: 'Zu einer Zeit', findTime: 'Zeit finden', howLong: 'Wie lange', unit: 'Einheit',
  minutes: 'Minuten', hours: 'Stunden', days: 'Tage', first: 'Frühestens am', last: 'Spätestens am', opens: 'Von (Uhrzeit)', closes: 'Bis (Uhrzeit)',
  hoursHelp: 'Die Reservierung liegt in diesen Stunden eines Tages. Höchstens {n} Tage werden durchsucht.',
  prefer: 'Was zählt', prefer_soonest: 'Möglichst früh', prefer_cheapest: 'Möglichst günstig', prefer_fewest_resources: 'Möglichst wenige Ressourcen', prefer_same: 'Alle mit derselben Eigenschaft',
  search: 'Zeiten suchen', searching: '{day} wird durchsucht…', times: 'Passende Zeiten', noTime: 'In diesen Tagen passt nichts.',
  daysBad: 'Der letzte Tag darf nicht vor dem ersten liegen.', daysOver: 'Diese Tage sind vorbei.', tooLong: 'Das ist länger, als Tage und Stunden erlauben.',
  goneOffer: 'Dieses Angebot gibt es nicht mehr. Suchen Sie noch einmal.', holdThis: '10 Minuten halten', costs: 'kostet {cost}',
  'noun_physical:host': '{n} {n|one:Host|other:Hosts}', 'noun_physical:storage': '{n} {n|one:Speicherpool|other:Speicherpools}',
  'noun_virtual:instance': '{n} {n|one:Server|other:Server}', 'noun_flavor:instance': '{n} {n|one:Server|other:Server}',
  'noun_virtual:server': '{n} {n|one:Server|other:Server}', 'noun_virtual:volume': '{n} {n|one:Volume|other:Volumes}',
  'noun_virtual:floatingip': '{n} {n|one:Floating IP|other:Floating IPs}', 'noun_virtual:stack': '{n} {n|one:Stack|other:Stacks}',
  noun_network: '{n} {n|one:Netzwerk|other:Netzwerke}', noun_other: '{n} {n|one:Ressource|other:Ressourcen}',
  field_vcpus: 'Prozessoren, je Server', field_memory_mb: 'Arbeitsspeicher in MiB, je Server', field_disk_gb: 'Festplatte in GiB, je Server',
  field_affinity: 'Auf einem Host', field_flavor_id: 'Flavor', field_network_name: 'Name des Netzwerks',
  field_network_description: 'Beschreibung des Netzwerks', field_network_id: 'Externes Netzwerk',
  field_required_floatingips: 'Adressen, die dabei sein müssen', field_on_end: 'Am Ende', field_before_end: 'Kurz vor dem Ende',
  field_volume_id: 'Eigenes Volume', field_size: 'Größe in GiB, je Volume', field_volume_type: 'Volume-Typ',
  field_availability_zone: 'Availability Zone', field_snapshot_id: 'Aus einem Snapshot', field_image_id: 'Aus einem Image',
  field_source_volid: 'Kopie eines Volumes', field_name: 'Sein Name', field_guarantee: 'Platz dafür buchen', field_room_only: 'Nur den Platz buchen',
  field_server_id: 'Eigener Server', field_image: 'Image', field_flavor: 'Flavor', field_networks: 'Netzwerke', field_key_name: 'Schlüsselpaar',
  field_user_data: 'User-Data', field_block_device_mapping: 'Datenträger', field_metadata: 'Metadaten', field_security_groups: 'Sicherheitsgruppen',
  field_stack_id: 'Eigener Stack', field_template: 'Template', field_environment: 'Environment', field_parameters: 'Parameter', field_files: 'Dateien',
  field_spread: 'Verteilung',
  help_flavor_id: 'Die ID des Flavors in Nova.', help_network_id: 'Die ID des Netzwerks in Neutron.',
  help_server_id: 'Die ID eines vorhandenen Servers. Leer lassen, um einen neuen zu starten.',
  help_volume_id: 'Die ID eines vorhandenen Volumes. Leer lassen, um neue anzulegen.',
  help_stack_id: 'Die ID oder der Name eines vorhandenen Stacks. Leer lassen, um einen anzulegen.',
  help_image: 'Die ID des Images in Glance.', help_flavor: 'Die ID des Flavors in Nova.', help_networks: 'IDs von Netzwerken, durch Kommas getrennt.',
  help_volume_type: 'Der Name. Leer für den üblichen.',
  choice_true: 'Ja', choice_false: 'Nein', choice_nothing: 'Nichts', choice_any: 'Beliebig', choice_together: 'Zusammen', choice_apart: 'Getrennt',
  choice_delete: 'löschen', choice_snapshot: 'Snapshot', choice_create_image: 'Image erstellen', choice_backup: 'sichern', choice_detach: 'aushängen',
  choice_stop: 'anhalten', choice_shelve: 'auslagern', choice_suspend: 'pausieren', choice_notify: 'benachrichtigen',
};
