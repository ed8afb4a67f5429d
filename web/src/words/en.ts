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

/** The messages in English: the catalogue that the others have to match. */
export const en = {
  calendar: 'Calendar', utilisation: 'Utilisation', leases: 'My leases', live: 'live',
  offline: 'no connection', zone: 'Time zone', theme: 'Theme', light: 'Light', dark: 'Dark', auto: 'Auto',
  language: 'Language', signOut: 'Sign out', signIn: 'Sign in', today: 'Today', earlier: 'Earlier',
  later: 'Later', zoomIn: 'Zoom in', zoomOut: 'Zoom out', '6h': '6 h', day: 'Day', week: 'Week',
  month: 'Month', quarter: 'Quarter', search: 'Name, property', type: 'Resource type',
  grouping: 'Group by', ungrouped: 'No groups', groupedBy: 'By {name}', density: 'Row height',
  comfortable: 'Comfortable', compact: 'Compact', dense: 'Dense', overview: 'Overview',
  mineOnly: 'mine only', reserve: 'Reserve', resources: '{n} resources', freeNow: '{free} of {total} free',
  all: 'all', free: 'free {d}', freeAtLeast: 'free {d} or more', yours: 'yours, active',
  yoursLater: 'yours, to come', others: 'others', held: 'held for an offer',
  maintenance: 'maintenance', failed: 'failed', disabled: 'out of service',
  hint: 'Drag over free time to reserve · Shift-drag to pan · Ctrl-wheel to zoom',
  hintAdmin: 'Drag over free time to reserve · Alt-drag for maintenance · Ctrl-wheel to zoom',
  grid: 'Reservations by resource. Arrow keys move from bar to gap and from row to row; Enter opens or reserves; plus and minus zoom; T shows today.',
  sayFree: '{name}: free from {start} until {end}, {d}. Enter reserves it.',
  sayFreeOpen: '{name}: free from {start}. Enter reserves it.',
  sayMine: '{name}: your lease {lease}, {start} until {end}. Enter opens it.',
  sayBusy: '{name}: reserved, {start} until {end}.',
  sayRow: '{name}: out of service.', loading: 'Loading…', nothing: 'No resource matches.',
  replaced: 'Replace', reallocateRunning: 'The lease runs: the old resource is released once nothing uses it.',
  calendarLink: 'Calendar link…', subscribe: 'Subscribe to this address in a calendar',
  secretLink: 'Every program that has the address can read the calendar, without a password. It is shown only once.',
  nextFree: 'Next free', neverFree: 'Not free in the next 60 days.', now: 'Now',
  bookedSoon: '{share} % of the next 7 days is booked.', hold: 'Hold the first for 10 minutes',
  heldUntil: 'held until {end}', changing: 'changing', failedLease: 'error',
  filters: 'Filter and group', nothingMine: 'Nothing is yours here.', allGroups: 'All of {name}', shownGroup: 'Shown group',
  sayGroup: 'Group {name}, {n} resources. Enter folds it.',
  sayFolded: 'Group {name}, {n} resources, folded. Enter unfolds it.',
  close: 'Close', newLease: 'New lease', name: 'Name', howMany: 'How many', from: 'From', to: 'To',
  length: 'Length', which: 'Which', exactly: 'Exactly {names}', any: 'Any that are free',
  checking: 'Checking…', canHave: 'Free.', notEnough: 'Not enough.',
  verdict: '{free} of {total} free for {d}', instead: 'Instead', reserveThese: 'Reserve {n}',
  takeOffer: 'Take this offer', offerFor: '{n} for {d}', noOffer: 'Nothing fits in the next two weeks.',
  reserved: '{name} is reserved.', lease: 'Lease', start: 'Start', end: 'End',
  has: 'Has', untilStart: 'until it starts', untilEnd: 'left', over: 'over', extend: 'Extend…',
  shorten: 'Shorten…', delete: 'Delete…', deleteNow: 'Delete the lease', deleteAsk: 'Its resources are released. This cannot be undone.',
  reallocate: 'Reallocate…', reallocateNow: 'Replace it', newEnd: 'New end',
  atMost: 'Possible until {end}', save: 'Save', cancel: 'Cancel', deleted: '{name} is deleted.',
  changed: '{name} ends {end}.', moved: '{name} is replaced.', history: 'What happened, and what will', awaited: 'awaited',
  status: 'Status', more: 'More', noLeases: 'No leases yet. Drag over free time in the calendar to make one.',
  properties: 'Properties', capacity: 'Capacity', newMaintenance: 'New maintenance', reason: 'Reason',
  announce: 'Add the maintenance', maintained: 'The maintenance of {name} is added.',
  removeMaintenance: 'Remove the maintenance', removed: 'The maintenance is removed.', addMaintenance: 'Add maintenance',
  freeEachDay: 'Least free on each day', bookedShare: 'Booked share', group: 'Group', password: 'Password', user: 'User', project: 'Project',
  domain: 'Domain', token: 'Token', credential: 'Application credential', credentialId: 'Id', secret: 'Secret', method: 'With',
  signedOut: 'You are signed out.', expired: 'Your session has ended.', wrong: 'That did not work: {why}',
  back: 'The connection is back.', gone: 'Climate does not answer. The page shows what it has, and tries again.',
  periodBad: 'The end must be after the start.', past: 'The start is over.', resource: 'Resource',
  unbookable: 'Reserve this type with the command line or the API.', request: 'request {id}',
  effect_prepare: 'prepare', effect_start: 'start', effect_update: 'change', effect_check: 'check', effect_before_end: 'before the end', effect_end: 'end', effect_undo: 'undo',
  event_start_lease: 'start', event_end_lease: 'end', event_before_end_lease: 'before the end', event_before_start_lease: 'before the start', event_check_lease: 'check', event_prepare: 'prepare', event_update_lease: 'change', event_undo_lease: 'undo', event_delete_lease: 'delete', event_notification: 'notification',
  state_done: 'done', state_waiting: 'waiting', state_failed: 'failed', state_undone: 'undone',
};
export type Catalogue = Record<keyof typeof en, string>;
