// SPDX-License-Identifier: Apache-2.0

/** The messages of leases and of what one does with them, in English. */
export const en = {
  // What a lease is and has.
  untilStart: 'until it starts', untilEnd: 'left', over: 'Ended', owner: 'Owner',
  noLonger: 'This lease no longer exists.', reservationId: 'Reservation ID', leaseId: 'Lease ID',
  requirement: 'Requirement', copy: 'Copy', copied: 'Copied', copyWhat: 'Copy: {what}',
  copiedWhat: 'Copied: {what}', copyFailed: 'Select the text and copy it.', fewer: 'Show fewer', allOf: 'Show all {n}',
  moreNotShown: '{n} more are not listed.', notYet: 'Resources are assigned, and can be used once the lease has started.',
  range: '{min} to {max}',
  flexible: 'It may still move: forward into what becomes free, or back within its window if a lease with a fixed start takes its place. From {time} on its start is firm.',
  window: 'Window', windowFrom: 'from {start}', windowBetween: '{start} to {end}',
  firm: 'Firm', firmFrom: 'from {time}', firmSince: 'since {time}', fixes: 'New times fix the lease: it no longer moves.',
  queue: 'Waiting for room', place: 'Place', forecast: 'Forecast', waitsFor: 'Waits for', roomAt: 'none in its window; room from {time}',
  noRoom: 'none', missingUntil: '{what} until {time}', waits: 'It waits until there is room in its window.',
  ahead: 'Place {place}, {n} {n|one:lease|other:leases} ahead', actWindow: 'Window…', notBefore: 'Not before', by: 'By (optional)',
  windowHelp: 'The lease is booked again, at the soonest start in the new window.',
  windowWaits: 'The lease waits on, for room in the new window.',
  untilYield: 'until it yields', yieldsAt: 'It yields at {time}, since others need its resources. Then {outcome}',
  outcome_suspend: 'it is suspended, and resumes as soon as there is room.', outcome_requeue: 'it begins again as soon as there is room.', outcome_end: 'it ends.',
  hasYielded: 'It has yielded to others, and goes on as soon as there is room.',
  whenNeeded: 'When others need it', yield_suspend: 'is suspended', yield_requeue: 'begins again', yield_end: 'ends', timeLeft: 'Time left', waitUntil: 'Waits until',
  degraded: 'Some of its resources have failed or are missing.',




  // States, each with one word.
  status_WAITING: 'Waiting', status_PENDING: 'Pending', status_STARTING: 'Starting', status_ACTIVE: 'Active', status_UPDATING: 'Updating',
  status_TERMINATING: 'Ending', status_TERMINATED: 'Ended', status_DELETING: 'Deleting', status_DELETED: 'Deleted', status_ERROR: 'Error',
  state_done: 'done', state_waiting: 'waiting', state_failed: 'failed', state_undone: 'reversed', awaited: 'scheduled',
  effect_prepare: 'prepare', effect_start: 'start', effect_update: 'change', effect_check: 'check', effect_before_end: 'reminder of the end', effect_end: 'end', effect_undo: 'reverse',
  event_start_lease: 'start', event_end_lease: 'end', event_before_end_lease: 'reminder of the end', event_before_start_lease: 'reminder of the start', event_check_lease: 'check', event_prepare: 'prepare', event_update_lease: 'change', event_undo_lease: 'reverse', event_delete_lease: 'delete',
  history: 'History and next steps',
  // Changes.
  actTimes: 'Times…', actAmounts: 'Resources…', actName: 'Rename…', actReminders: 'Reminders…',
  actReallocate: 'Reallocate…', actEnd: 'End now…', actDelete: 'Delete…', actions: 'Change the lease',
  save: 'Save', cancel: 'Cancel', saved: '{name} was changed.', changed: '{name} is now from {start} until {end}.',
  ended: '{name} ends now.', deleted: '{name} was deleted.', renamed: 'The lease is now called {name}.', moved: '{name} was replaced.',
  replaced: 'Resource to replace', reason: 'Reason', reallocateNow: 'Replace',
  reallocateRunning: 'The lease is active. Climate releases the old resource once nothing uses it.',
  from: 'From', to: 'To', length: 'Duration', plus: '+{d}', startFixed: 'The lease has started, so only its end can change.',
  checking: 'Checking…', possible: 'Possible.', sameTimes: 'These are its times.', others: 'On {names} instead of {before}.',
  impossible: 'Not possible.', atMostUntil: 'It can be extended until {end}.',
  blocked: 'Other leases have {what} until {until}.', blockedOpen: 'Other leases have {what} for longer.', instead: 'Possible instead',
  fewFree: '{free} of {matched} are free for all of that time.',
  atLeast: 'At least', atMost: 'At most', howMany: 'How many', requirementHelp: 'Such as gpu = a100 and vcpus >= 8. Leave it empty for any.',
  requirementBad: 'Write conditions such as gpu = a100, joined by “and”.', hardware: 'Requirement on the hardware', properties: 'Requirement on the properties',
  name: 'Name', remindStart: 'Remind me before the start', remindEnd: 'Remind me before the end', mails: 'Email',
  asOperator: 'As your operator has set it', byMe: 'Only these',
  notice_moved: 'when it has another start', notice_before_start: 'before the start', notice_started: 'when it has started', notice_yielding: 'when it yields and resumes', notice_before_end: 'before the end',
  notice_degraded: 'when a resource fails', notice_error: 'when something goes wrong',
  endAsk: 'This ends “{name}” now.', deleteAsk: 'This deletes “{name}”.', keepsIt: 'It stays in the list of ended leases.',
  endNow: 'End lease now', deleteNow: 'Delete lease', noUndo: 'You cannot undo this.',
  frees: '{what} will be free for others.',
  'loses_physical:host': 'All servers on {names} will be deleted.', 'loses_virtual:instance': 'All servers of the reservation will be deleted.',
  'loses_flavor:instance': 'All servers of the reservation will be deleted.', loses_network: 'The network “{names}” will be deleted.',
  'loses_virtual:floatingip': 'The {n|one:address|other:addresses} {names} will be released.',
  does: '{what}: {steps}.', step_delete: 'delete', step_snapshot: 'make a snapshot', step_backup: 'make a backup', step_detach: 'detach', step_suspend: 'suspend', keeps: '{what}: nothing is deleted.',
  // Lists.
  title: 'Leases', scope: 'Whose leases', mine: 'Mine', project: 'My project', everyone: 'All projects', ofProject: 'Project',
  status: 'Status', anyStatus: 'Any status', type: 'Resource type', anyType: 'Any type', searchName: 'Search by name',
  alsoEnded: 'Ended leases too', start: 'Start', end: 'End', has: 'Resources', more: 'Show more', listed: '{n} {n|one:lease|other:leases}', listedMore: '{n} leases, there are more',
  noLeases: 'No leases yet. To make one, drag across free time in the calendar.', noneFound: 'No leases match.',
  // Links with which calendar programs show leases.
  calendarLink: 'Create calendar link', subscribe: 'Subscribe to this address in your calendar app',
  secretLink: 'Anyone with this address can read the calendar without a password. It is shown only once.',
  linkMade: 'The calendar link was created.', theLink: 'calendar link', links: 'Calendar links', linkOfProject: 'all leases of the project', linkOfLease: 'one lease', linkOfResource: 'a resource',
  linkUntil: 'valid until {day}', linkStopped: 'stopped: {why}', revoke: 'Revoke', revokeAsk: 'Calendars that use “{name}” will no longer be updated.', revokeNow: 'Revoke link', revoked: 'The link {name} was revoked.',
};
export type LeaseWords = Record<keyof typeof en, string>;
