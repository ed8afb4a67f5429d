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

/** The messages of the form of a new lease, in English. */
export const en = {
  newLease: 'New lease', name: 'Name', nameLong: 'The name can have at most 80 characters.',
  what: 'What', howMany: 'How many', from: 'From', to: 'To', length: 'Duration',
  zone: 'Times in {zone}', checking: 'Checking…', periodBad: 'The end must be after the start.',
  missing: 'Still to fill in: {fields}.', eitherOr: '{one}, or {others}', badJson: '{field} is not valid JSON.',
  conditions: 'Conditions', anyOne: 'Any that is free', addCondition: 'Add a condition', property: 'Property', value: 'Value',
  trait: 'Trait', equals: '{property} = {values}', countOf: '{value} ({n})', removeCondition: 'Remove the condition {condition}',
  matching: 'matching “{text}”', namesMore: '{names} and {n} more',
  searchLost: 'The search “{text}” cannot be a condition, and is left out.',
  options: 'More options', usual: 'As usual', another: 'Add another', remove: 'Remove', partOf: 'Reservation {n}',
  optional: '{label} (optional)',
  canHave: 'Available.', notEnough: 'Not available.',
  figure: '{free} of {things} free for {d}.', room: 'Room for {things} for {d}.',
  onlyMatch: '{things} {n|one:matches|other:match}.', noMatch: 'Nothing matches the conditions.',
  until: 'The first reservation in the way ends {end}.',
  instead: 'Alternatives', altNow: '{things} at that time', altFrom: '{things} from {start}',
  altUntil: '{things} until {end}', altWith: '{things} with {condition}', altOther: 'Any {things} at that time',
  takeThis: 'Reserve this', takeOffer: 'Accept this offer', forLength: 'for {d}', heldUntil: 'held until {end}',
  hold: 'Hold the first offer for 10 minutes', noOffer: 'Nothing fits in the next two weeks.',
  reserve: 'Reserve', reserveThese: 'Reserve {things}', reserved: '{name} is reserved.', lease: 'Lease',
  limit: '{field}: {why}.',
  when: 'When', atTime: 'At a time', findTime: 'Find a time', howLong: 'For how long', unit: 'Unit',
  minutes: 'minutes', hours: 'hours', days: 'days', first: 'Not before', last: 'Not after', opens: 'From (time of day)', closes: 'Until (time of day)',
  hoursHelp: 'The lease lies within these hours of one day. At most {n} days are searched.',
  prefer: 'What matters', prefer_soonest: 'The soonest', prefer_cheapest: 'The cheapest', prefer_fewest_resources: 'The fewest resources', prefer_same: 'All with the same property',
  search: 'Find times', searching: 'Searching {day}…', times: 'Times that fit', noTime: 'Nothing fits in these days.',
  daysBad: 'The last day must not be before the first.', daysOver: 'These days are over.', tooLong: 'That is longer than the days and hours allow.',
  goneOffer: 'That offer is gone. Search again.', holdThis: 'Hold for 10 minutes', costs: 'costs {cost}',
  'noun_physical:host': '{n} {n|one:host|other:hosts}', 'noun_physical:storage': '{n} {n|one:storage pool|other:storage pools}',
  'noun_virtual:instance': '{n} {n|one:server|other:servers}', 'noun_flavor:instance': '{n} {n|one:server|other:servers}',
  'noun_virtual:server': '{n} {n|one:server|other:servers}', 'noun_virtual:volume': '{n} {n|one:volume|other:volumes}',
  'noun_virtual:floatingip': '{n} {n|one:floating IP|other:floating IPs}', 'noun_virtual:stack': '{n} {n|one:stack|other:stacks}',
  noun_network: '{n} {n|one:network|other:networks}', noun_other: '{n} {n|one:resource|other:resources}',
  field_vcpus: 'Processors of each', field_memory_mb: 'Memory of each, in MiB', field_disk_gb: 'Disk of each, in GiB',
  field_affinity: 'On one host', field_flavor_id: 'Flavor', field_network_name: 'Name of the network',
  field_network_description: 'Description of the network', field_network_id: 'External network',
  field_required_floatingips: 'Addresses that must be among them', field_on_end: 'At the end', field_before_end: 'Shortly before the end',
  field_volume_id: 'A volume of mine', field_size: 'Size of each, in GiB', field_volume_type: 'Volume type',
  field_availability_zone: 'Availability zone', field_snapshot_id: 'From a snapshot', field_image_id: 'From an image',
  field_source_volid: 'Copy of a volume', field_name: 'Its name', field_guarantee: 'Book room for it', field_room_only: 'Only book the room',
  field_server_id: 'A server of mine', field_image: 'Image', field_flavor: 'Flavor', field_networks: 'Networks', field_key_name: 'Key pair',
  field_user_data: 'User data', field_block_device_mapping: 'Disks', field_metadata: 'Metadata', field_security_groups: 'Security groups',
  field_stack_id: 'A stack of mine', field_template: 'Template', field_environment: 'Environment', field_parameters: 'Parameters', field_files: 'Files',
  field_spread: 'Where they lie',
  help_flavor_id: 'The ID of the flavor in Nova.', help_network_id: 'The ID of the network in Neutron.',
  help_server_id: 'The ID of a server that exists. Leave it empty to start a new one.',
  help_volume_id: 'The ID of a volume that exists. Leave it empty to make new ones.',
  help_stack_id: 'The ID or name of a stack that exists. Leave it empty to make one.',
  help_image: 'The ID of the image in Glance.', help_flavor: 'The ID of the flavor in Nova.', help_networks: 'IDs of networks, separated by commas.',
  help_volume_type: 'By name. Empty for the usual one.',
  choice_true: 'Yes', choice_false: 'No', choice_nothing: 'Nothing', choice_any: 'Anywhere', choice_together: 'Together', choice_apart: 'Apart',
  choice_delete: 'delete', choice_snapshot: 'snapshot', choice_create_image: 'make an image', choice_backup: 'back up', choice_detach: 'detach',
  choice_stop: 'stop', choice_shelve: 'shelve', choice_suspend: 'suspend', choice_notify: 'notify',
};
export type FormWords = Record<keyof typeof en, string>;
