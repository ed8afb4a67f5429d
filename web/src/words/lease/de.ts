// SPDX-License-Identifier: Apache-2.0

/** The messages of leases and of what one does with them, in German. */
import type { LeaseWords } from './en.ts';

export const de: LeaseWords = {
  untilStart: 'bis zum Beginn', untilEnd: 'übrig', over: 'Beendet', owner: 'Besitzer',
  noLonger: 'Diese Reservierung gibt es nicht mehr.', reservationId: 'Reservation-ID', leaseId: 'Lease-ID',
  requirement: 'Anforderung', copy: 'Kopieren', copied: 'Kopiert', copyWhat: 'Kopieren: {what}',
  copiedWhat: 'Kopiert: {what}', copyFailed: 'Markieren Sie den Text, um ihn zu kopieren.', fewer: 'Weniger anzeigen', allOf: 'Alle {n} anzeigen',
  moreNotShown: '{n} weitere sind nicht aufgeführt.', notYet: 'Die Ressourcen sind zugeteilt und lassen sich nach dem Beginn nutzen.',
  range: '{min} bis {max}',
  flexible: 'Sie kann sich noch verschieben: nach vorn, wenn etwas frei wird, oder nach hinten, wenn eine Reservierung mit festem Beginn ihren Platz braucht. Ab {time} steht ihr Beginn fest.',
  window: 'Zeitraum', windowFrom: 'ab {start}', windowBetween: '{start} bis {end}',
  firm: 'Fest', firmFrom: 'ab {time}', firmSince: 'seit {time}', fixes: 'Neue Zeiten legen die Reservierung fest: Sie verschiebt sich nicht mehr.',
  degraded: 'Einige ihrer Ressourcen sind ausgefallen oder fehlen.',




  status_WAITING: 'Wartet', status_PENDING: 'Ausstehend', status_STARTING: 'Beginnt', status_ACTIVE: 'Aktiv', status_UPDATING: 'In Änderung',
  status_TERMINATING: 'Endet', status_TERMINATED: 'Beendet', status_DELETING: 'Wird gelöscht', status_DELETED: 'Gelöscht', status_ERROR: 'Fehler',
  state_done: 'erledigt', state_waiting: 'wartet', state_failed: 'fehlgeschlagen', state_undone: 'rückgängig gemacht', awaited: 'geplant',
  effect_prepare: 'Vorbereitung', effect_start: 'Beginn', effect_update: 'Änderung', effect_check: 'Prüfung', effect_before_end: 'Erinnerung an das Ende', effect_end: 'Ende', effect_undo: 'Rücknahme',
  event_start_lease: 'Beginn', event_end_lease: 'Ende', event_before_end_lease: 'Erinnerung an das Ende', event_before_start_lease: 'Erinnerung an den Beginn', event_check_lease: 'Prüfung', event_prepare: 'Vorbereitung', event_update_lease: 'Änderung', event_undo_lease: 'Rücknahme', event_delete_lease: 'Löschen',
  history: 'Verlauf und nächste Schritte',
  actTimes: 'Zeiten…', actAmounts: 'Ressourcen…', actName: 'Umbenennen…', actReminders: 'Erinnerungen…',
  actReallocate: 'Ressource ersetzen…', actEnd: 'Jetzt beenden…', actDelete: 'Löschen…', actions: 'Reservierung ändern',
  save: 'Speichern', cancel: 'Abbrechen', saved: '{name} wurde geändert.', changed: '{name} läuft jetzt von {start} bis {end}.',
  ended: '{name} endet jetzt.', deleted: '{name} wurde gelöscht.', renamed: 'Die Reservierung heißt jetzt {name}.', moved: '{name} wurde ersetzt.',
  replaced: 'Zu ersetzende Ressource', reason: 'Grund', reallocateNow: 'Ersetzen',
  reallocateRunning: 'Die Reservierung läuft. Climate gibt die alte Ressource frei, sobald nichts sie mehr nutzt.',
  from: 'Von', to: 'Bis', length: 'Dauer', plus: '+{d}', startFixed: 'Die Reservierung hat begonnen, daher lässt sich nur ihr Ende ändern.',
  checking: 'Wird geprüft…', possible: 'Möglich.', sameTimes: 'Das sind ihre Zeiten.', others: 'Auf {names} statt {before}.',
  impossible: 'Nicht möglich.', atMostUntil: 'Sie lässt sich bis {end} verlängern.',
  blocked: 'Andere Reservierungen haben {what} bis {until}.', blockedOpen: 'Andere Reservierungen haben {what} noch länger.', instead: 'Stattdessen möglich',
  fewFree: '{free} von {matched} sind die ganze Zeit frei.',
  atLeast: 'Mindestens', atMost: 'Höchstens', howMany: 'Anzahl', requirementHelp: 'Zum Beispiel gpu = a100 and vcpus >= 8. Leer lassen für beliebige.',
  requirementBad: 'Schreiben Sie Bedingungen wie gpu = a100, verbunden mit „and“.', hardware: 'Anforderung an die Hardware', properties: 'Anforderung an die Eigenschaften',
  name: 'Name', remindStart: 'Vor dem Beginn erinnern', remindEnd: 'Vor dem Ende erinnern', mails: 'E-Mail',
  asOperator: 'Wie vom Betreiber eingestellt', byMe: 'Nur diese',
  notice_moved: 'wenn sich ihr Beginn verschiebt', notice_before_start: 'vor dem Beginn', notice_started: 'wenn sie begonnen hat', notice_before_end: 'vor dem Ende',
  notice_degraded: 'wenn eine Ressource ausfällt', notice_error: 'wenn etwas schiefgeht',
  endAsk: 'Damit endet „{name}“ jetzt.', deleteAsk: 'Damit wird „{name}“ gelöscht.', keepsIt: 'Sie bleibt in der Liste der beendeten Reservierungen.',
  endNow: 'Reservierung jetzt beenden', deleteNow: 'Reservierung löschen', noUndo: 'Das lässt sich nicht rückgängig machen.',
  frees: 'Für andere wieder frei: {what}.',
  'loses_physical:host': 'Alle Server auf {names} werden gelöscht.', 'loses_virtual:instance': 'Alle Server der Reservierung werden gelöscht.',
  'loses_flavor:instance': 'Alle Server der Reservierung werden gelöscht.', loses_network: 'Das Netzwerk „{names}“ wird gelöscht.',
  'loses_virtual:floatingip': 'Freigegeben {n|one:wird die Adresse|other:werden die Adressen} {names}.',
  does: '{what}: {steps}.', step_delete: 'löschen', step_snapshot: 'Snapshot erstellen', step_backup: 'Backup erstellen', step_detach: 'aushängen', step_suspend: 'anhalten', keeps: '{what}: Nichts wird gelöscht.',
  title: 'Reservierungen', scope: 'Wessen Reservierungen', mine: 'Meine', project: 'Mein Projekt', everyone: 'Alle Projekte', ofProject: 'Projekt',
  status: 'Status', anyStatus: 'Jeder Status', type: 'Ressourcentyp', anyType: 'Jeder Typ', searchName: 'Nach Namen suchen',
  alsoEnded: 'Auch beendete', start: 'Beginn', end: 'Ende', has: 'Ressourcen', more: 'Mehr anzeigen', listed: '{n} {n|one:Reservierung|other:Reservierungen}', listedMore: '{n} Reservierungen, es gibt weitere',
  noLeases: 'Noch keine Reservierungen. Ziehen Sie im Kalender über freie Zeit, um etwas zu reservieren.', noneFound: 'Keine passenden Reservierungen.',
  calendarLink: 'Kalenderlink erstellen', subscribe: 'Diese Adresse im Kalenderprogramm abonnieren',
  secretLink: 'Wer diese Adresse hat, kann den Kalender ohne Passwort lesen. Sie wird nur einmal angezeigt.',
  linkMade: 'Der Kalenderlink wurde erstellt.', theLink: 'Kalenderlink', links: 'Kalenderlinks', linkOfProject: 'alle Reservierungen des Projekts', linkOfLease: 'eine Reservierung', linkOfResource: 'eine Ressource',
  linkUntil: 'gültig bis {day}', linkStopped: 'angehalten: {why}', revoke: 'Widerrufen', revokeAsk: 'Kalender, die „{name}“ nutzen, werden nicht mehr aktualisiert.', revokeNow: 'Link widerrufen', revoked: 'Der Link {name} wurde widerrufen.',
};
