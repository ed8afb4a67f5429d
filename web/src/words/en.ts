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

/**
 * The messages in English: the catalogue that the others have to match. `{n|one:…|other:…}` is
 * the form for a number; the language of a catalogue decides which forms it needs.
 */
export const en = {
  calendar: 'Calendar', utilisation: 'Utilisation', leases: 'Leases', live: 'Live',
  offline: 'Offline', zone: 'Time zone', theme: 'Theme', light: 'Light', dark: 'Dark', auto: 'System',
  language: 'Language', signOut: 'Sign out', signIn: 'Sign in', today: 'Today', goTo: 'Go to date (G)', earlier: 'Earlier',
  later: 'Later', zoomIn: 'Zoom in', zoomOut: 'Zoom out', '6h': '6 h', day: 'Day', week: 'Week',
  month: 'Month', quarter: 'Quarter', search: 'Name or property', type: 'Resource type',
  grouping: 'Group by', ungrouped: 'No groups', groupedBy: 'By {name}', density: 'Row height',
  comfortable: 'Comfortable', compact: 'Compact', dense: 'Dense', overview: 'Overview',
  mineOnly: 'My project only', reserve: 'Reserve', resources: '{n} {n|one:resource|other:resources}',
  freeNow: '{free} of {total} free', all: 'All', free: 'free for {d}',
  freeAtLeast: 'free for {d} or longer', yours: 'My project: active', yoursLater: 'upcoming', yoursOver: 'ended',
  others: 'Other projects', held: 'Held for an offer', maintenance: 'Maintenance',
  failed: 'Failed', disabled: 'Out of service', changing: 'Changing', failedLease: 'Error',
  hint: 'Drag across free time to reserve it, drag bars of your project or their edges to change them · Shift+drag to pan · Ctrl+scroll to zoom',
  hintAdmin: 'Drag across free time to reserve it, drag bars of your project or their edges to change them · Alt+drag for maintenance · Ctrl+scroll to zoom',
  grid: 'Reservations by resource. Use the arrow keys to move between bars, gaps and rows, Enter to open or reserve, plus and minus to zoom, T to go to today, G to choose a date, and M to move a lease of your project or its end.',
  sayFree: '{name}: free from {start} until {end}, {d}. Press Enter to reserve it.',
  sayFreeOpen: '{name}: free from {start}. Press Enter to reserve it.',
  sayMine: '{name}: lease {lease} of your project, {start} until {end}. Press Enter to open it, M to move it.',
  sayMoves: 'Moving {lease}. The left and right arrow keys move it, with Shift they move its end. Enter goes on, Escape cancels.',
  sayEndMoves: 'Moving the end of {lease}. The left and right arrow keys move it. Enter goes on, Escape cancels.',
  sayTimes: '{start} until {end}.', sayFixed: 'Nothing here can be moved.',
  sayBusy: '{name}: reserved, {start} until {end}.',
  sayRow: '{name}: out of service.', loading: 'Loading…', nothing: 'No matching resources.',
  nothingMine: 'Your project has nothing reserved here.',
  sayGroup: 'Group {name}, {n} {n|one:resource|other:resources}. Press Enter to collapse it.',
  sayFolded: 'Group {name}, {n} {n|one:resource|other:resources}, collapsed. Press Enter to expand it.',
  filters: 'Filter and group', allGroups: 'All groups', shownGroup: 'Show group',
  nextFree: 'Next free times', neverFree: 'Not free in the next 60 days.', now: 'Now',
  bookedSoon: 'Booked for {share} of the next 7 days.',
  close: 'Close', name: 'Name',
  from: 'From', to: 'To', length: 'Duration',
  lease: 'Lease', start: 'Start', end: 'End', has: 'Resources',
  properties: 'Properties', capacity: 'Capacity', newMaintenance: 'New maintenance', reason: 'Reason',
  addMaintenance: 'Add maintenance', maintained: 'Maintenance added for {name}.',
  removeMaintenance: 'Remove maintenance', removed: 'Maintenance removed.', resource: 'Resource',
  freeEachDay: 'Minimum free on each day', bookedShare: 'Booked share over time', group: 'Group',
  password: 'Password', user: 'User name', project: 'Project', userDomain: 'User domain',
  projectDomain: 'Project domain', token: 'Token', credential: 'Application credential',
  credentialId: 'ID', secret: 'Secret', method: 'Sign in with',
  'kind_virtual:instance': 'Servers by size', 'kind_flavor:instance': 'Servers by flavor', 'kind_physical:host': 'Hosts',
  'kind_virtual:volume': 'Volumes', kind_network: 'Network', 'kind_virtual:floatingip': 'Floating IPs',
  'kind_physical:storage': 'Storage pools', 'kind_virtual:server': 'A server, mine or a new one', 'kind_virtual:stack': 'A stack, mine or a new one',
  signInWith: 'Sign in with {name}', switchProject: 'Switch project',
  signedOut: 'You are signed out.', expired: 'Your session has ended.', wrong: 'That did not work: {why}',
  back: 'Back online.', gone: 'Climate is not responding. The page shows what it has, and keeps trying.',
  periodBad: 'The end must be after the start.', request: 'request {id}',
  notLoaded: 'This part of the page could not be loaded. The page may have been upgraded since you opened it.', reload: 'Reload',
};
export type Catalogue = Record<keyof typeof en, string>;
