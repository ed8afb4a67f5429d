// The types of the API at microversion 1.7. Do not edit: "make web-types" writes them.

export type Allocation = {
  resource_id: string;
  resource_name: string;
  reservations: Array<{
    id: string;
    lease_id: string | null;
    start_date: Time;
    end_date: Time;
    held_until: Time | null;
  }>;
};

export type AllocationOfAny = {
  resource_id: string;
  resource_name: string;
  reservations: Array<{
    id: string;
    lease_id: string | null;
    start_date: Time;
    end_date: Time;
    held_until: Time | null;
    resources: { [name: string]: number };
  }>;
};

export type ApiError = {
  error_code: number;
  error_message: string;
  error_name: string;
  reasons?: Array<{
    resource_type?: string;
    reservation?: number;
    matched?: number;
    free?: number;
    first_blocker_ends?: Time;
    detail?: string;
  }>;
  alternatives?: Array<StoredOffer | Offer>;
};

export type Availability = {
  resource_type: string;
  start: Time;
  end: Time;
  step: number;
  buckets: number;
  resources: { [name: string]: number };
  group_by: string | null;
  groups: Array<{
    value: string | null;
    whole: Figures;
    classes: { [name: string]: Figures };
    slots: Figures | null;
  }>;
};

/** Instants are seconds since 1970. */
export type Calendar = {
  resource_type: string;
  start: number;
  end: number;
  generation: string;
  total: number;
  group_by: string | null;
  groups?: {
    value: Array<string | null>;
    count: Array<number>;
  };
  resources: {
    id: Array<number>;
    name: Array<string>;
    disabled: Array<0 | 1>;
    failed: Array<0 | 1>;
    capacity: Array<number>;
    group?: Array<string | null>;
  };
  capacities: Array<{ [name: string]: number }>;
  main: Array<string | null>;
  allocations: {
    resource: Array<number>;
    start: Array<number>;
    end: Array<number>;
    amount: Array<number>;
    share: Array<number>;
    lease: Array<number>;
  };
  held: Array<number>;
  leases: {
    id: Array<string>;
    name: Array<string>;
    status: Array<"PENDING" | "STARTING" | "ACTIVE" | "UPDATING" | "TERMINATING" | "TERMINATED" | "DELETING" | "DELETED" | "ERROR">;
    mine: Array<0 | 1>;
    project_id?: Array<string>;
  };
  maintenances: {
    resource: Array<number>;
    start: Array<number>;
    end: Array<number>;
    id?: Array<string>;
  };
  next_marker?: number;
};

export type Caller = {
  user_id: string | null;
  user_name: string | null;
  project_id: string | null;
  project_name: string | null;
  roles: Array<string>;
  admin: boolean;
  token_expires_at: Time | null;
  may: { [name: string]: boolean };
  server_time: number;
};

export type ChangedProperty = {
  id: string;
  resource_type: string;
  property_name: string;
  private: boolean;
  created_at: Time | null;
  updated_at: Time | null;
};

export type ChangedWebhook = {
  id: string;
  name: string;
  project_id: string;
  user_id: string;
  url: string;
  event_types: Array<string>;
  all_projects: boolean;
  enabled: boolean;
  previous_secret_until: Time | null;
  created_at: Time | null;
  updated_at: Time | null;
  stopped_reason: string | null;
  /** Only right after it was created. */
  secret?: string;
};

export type Delivery = {
  id: string;
  event_id: string;
  event_type: string;
  lease_id: string | null;
  state: "waiting" | "delivered" | "dead";
  attempts: number;
  status_code: number | null;
  error: string | null;
  next_attempt_at: Time | null;
  created_at: Time;
  finished_at: Time | null;
};

export type Event = {
  id: string;
  lease_id: string;
  event_type: string;
  time: Time;
  status: string;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
};

export type Extension = {
  end_date: Time;
  blocked_by: Array<Shortage>;
  offers: Array<Offer>;
  searched_until: Time;
};

export type Feed = {
  id: string;
  name: string;
  project_id: string;
  user_id: string;
  kind: "project" | "lease" | "resource";
  lease_id: string | null;
  resource_id: string | null;
  time_zone: string;
  alarms_before_start: Array<number>;
  alarms_before_end: Array<number>;
  created_at: Time;
  expires_at: Time;
  stopped_reason: string | null;
};

export type Figures = {
  free: Array<number>;
  total: Array<number>;
};

export type Floatingip = {
  id: string;
  reservable: boolean;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
  [key: string]: unknown;
};

export type HeldResource = {
  id: string;
  name: string;
};

export type History = {
  lease_id: string;
  steps: Array<{
    event_id: string;
    reservation_id: string | null;
    resource_type: string | null;
    effect: "prepare" | "start" | "update" | "check" | "before_end" | "end" | "undo";
    state: "done" | "waiting" | "failed" | "undone";
    attempts: number;
    first_at: Time | null;
    last_at: Time | null;
    waiting_for: string | null;
    error: string | null;
    lines: Array<{
      at: Time;
      text: string;
    }>;
  }>;
  awaited: Array<{
    event_id: string;
    event_type: string;
    time: Time;
    due: Time | null;
    failures: number;
    why: string | null;
  }>;
};

export type Host = {
  id: string;
  reservable: boolean;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
  [key: string]: unknown;
};

export type Instruction = {
  name: string;
  title: string;
  command: string;
  value: string;
};

export type Inventories = { [name: string]: {
  total: number;
  reserved: number;
  min_unit: number;
  max_unit: number;
  step_size: number;
  allocation_ratio: number;
} };

export type Lease = {
  id: string;
  name: string;
  user_id: string;
  project_id: string;
  start_date: Time;
  end_date: Time;
  trust_id: null;
  status: "PENDING" | "STARTING" | "ACTIVE" | "UPDATING" | "TERMINATING" | "TERMINATED" | "DELETING" | "DELETED" | "ERROR";
  degraded: boolean;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
  reservations: Array<Reservation>;
  events: Array<Event>;
  before_end_date: Time | null;
  notify_before_start: Array<number> | null;
  notices: Array<"before_start" | "started" | "before_end" | "degraded" | "error"> | null;
  readiness: Readiness | null;
  end_reason: string | null;
  user_name: string | null;
  project_name: string | null;
};

export type ListedLease = {
  id?: string;
  name?: string;
  user_id?: string;
  project_id?: string;
  start_date?: Time;
  end_date?: Time;
  trust_id?: null;
  status?: "PENDING" | "STARTING" | "ACTIVE" | "UPDATING" | "TERMINATING" | "TERMINATED" | "DELETING" | "DELETED" | "ERROR";
  degraded?: boolean;
  created_at?: RecordTime | null;
  updated_at?: RecordTime | null;
  reservations?: Array<ListedReservation>;
  events?: Array<Event>;
  before_end_date?: Time | null;
  notify_before_start?: Array<number> | null;
  notices?: Array<"before_start" | "started" | "before_end" | "degraded" | "error"> | null;
  readiness?: Readiness | null;
  end_reason?: string | null;
  user_name?: string | null;
  project_name?: string | null;
};

export type ListedReservation = {
  id: string;
  lease_id: string;
  resource_id: string;
  resource_type: string;
  status: string;
  missing_resources: boolean;
  resources_changed: boolean;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
  part_of: string | null;
  placement?: { [name: string]: unknown };
  [key: string]: unknown;
};

export type Maintenance = {
  id: string;
  resource_id: string;
  resource_type: string;
  resource_name: string;
  start_date: Time;
  end_date: Time;
  reason: string;
  user_id: string;
  created_at: Time | null;
};

export type NewFeed = {
  id: string;
  name: string;
  project_id: string;
  user_id: string;
  kind: "project" | "lease" | "resource";
  lease_id: string | null;
  resource_id: string | null;
  time_zone: string;
  alarms_before_start: Array<number>;
  alarms_before_end: Array<number>;
  created_at: Time;
  expires_at: Time;
  stopped_reason: string | null;
  /** The secret link, which only this response has. */
  url: string;
};

export type NewWebhook = {
  id: string;
  name: string;
  project_id: string;
  user_id: string;
  url: string;
  event_types: Array<string>;
  all_projects: boolean;
  enabled: boolean;
  previous_secret_until: Time | null;
  created_at: Time | null;
  updated_at: Time | null;
  stopped_reason: string | null;
  /** Only right after it was created. */
  secret: string;
};

export type Offer = {
  start_date: Time;
  end_date: Time;
  reason: "soonest" | "next" | "most" | "longest" | "other_property" | "extended" | "replaced" | "following" | "cheapest" | "fewest_resources" | "same";
  reservations: Array<{
    reservation: number;
    resource_type: string;
    amount: number;
    classes: { [name: string]: number };
  }>;
  blocked_before: Array<Shortage>;
  requirements?: Array<{
    reservation: number;
    property: string;
    values: Array<string>;
  }>;
  cost?: number;
  resources?: number;
};

export type Placement = {
  same?: Array<string>;
  same_as?: Array<{
    reservation: number;
    property: string;
  }>;
  spread?: Array<{
    property: string;
    max_skew?: number;
  }>;
  apart_from?: Array<number>;
  prefer?: Array<{
    trait?: string;
    property?: string;
    value?: string;
    weight?: number;
  }>;
};

export type Properties = {
  resource_properties: Array<PropertyChoices>;
  traits: Array<TraitChoice>;
} | {
  resource_properties: Array<Property>;
};

export type Property = {
  property: string;
  private?: boolean;
  values?: Array<string>;
};

export type PropertyChoices = {
  property: string;
  private: boolean;
  values: Array<{
    value: string;
    resources: number;
  }>;
  values_count: number;
};

export type Readiness = {
  ready: Array<string>;
  waiting: Array<string>;
  by: string;
  detail: string;
  said_at: Time;
};

export type RecordTime = string;

export type Rehearsal = {
  lease: Lease;
  reservations: Array<{
    id: string;
    resource_type: string;
    resources: number;
    classes: { [name: string]: number };
    resource_names?: Array<string>;
  }>;
  filters_not_asked: Array<string>;
};

/** A reservation of a declared type; GET /resource-types has its schema. */
export type RequestDeclared = {
  resource_type: string;
  placement?: Placement;
  [key: string]: unknown;
};

export type RequestFlavorInstance = {
  resource_type: "flavor:instance";
  /** The flavor, by its id in Nova. It cannot be changed once the lease runs. */
  flavor_id: string | number;
  /** The number of servers. */
  amount: number | string;
  /** A requirement on the hosts. */
  resource_properties?: string | unknown | Requirement | null;
  /** Not supported yet: only an empty text or none. */
  affinity?: string | null;
  placement?: Placement;
};

export type RequestNetwork = {
  resource_type: "network";
  /** Nothing is done before the end: only an empty text or ``default``. */
  before_end?: "" | "default" | null;
  /** The name of the network. */
  network_name: string | number;
  /** The description of the network. */
  network_description?: string | number | null;
  /** A requirement on the segment. It cannot be changed once the lease runs. */
  network_properties?: string | unknown | Requirement | null;
  /** A further requirement on the segment. It cannot be changed once the lease runs. */
  resource_properties?: string | unknown | Requirement | null;
  placement?: Placement;
};

/** min must not be larger than max. */
export type RequestPhysicalHost = {
  resource_type: "physical:host";
  /** The smallest number of hosts. */
  min: number | string;
  /** The largest number of hosts. */
  max: number | string;
  /** A requirement on what Nova reports about the hosts. */
  hypervisor_properties?: string | unknown | Requirement | null;
  /** A requirement on the properties that operators set on hosts. */
  resource_properties?: string | unknown | Requirement | null;
  /** What to do shortly before the end: make an image of each server (``snapshot``), nothing (an empty text), or what the operator has configured (``default``). */
  before_end?: "" | "default" | "snapshot" | null;
  placement?: Placement;
};

/** min must not be larger than max. */
export type RequestPhysicalStorage = {
  resource_type: "physical:storage";
  /** The smallest number of pools. */
  min: number | string;
  /** The largest number of pools. */
  max: number | string;
  /** A requirement on the pools. */
  resource_properties?: string | unknown | Requirement | null;
  /** What becomes of the volumes that are left, step by step. */
  on_end?: Array<"backup" | "delete" | "detach"> | string | null;
  placement?: Placement;
};

/** required_floatingips must not have more addresses than amount. */
export type RequestVirtualFloatingip = {
  resource_type: "virtual:floatingip";
  /** The external network, by its id in Neutron. It cannot be changed once booked. */
  network_id: string | number;
  /** The number of floating IPs. */
  amount: number | string;
  /** Addresses that have to be among them; once the lease runs none can be added. */
  required_floatingips?: Array<unknown> | "" | null;
  placement?: Placement;
};

export type RequestVirtualInstance = {
  resource_type: "virtual:instance";
  /** Processors of each server. It cannot be changed once the lease runs. */
  vcpus: number | string;
  /** Memory of each server, in MiB. It cannot be changed once the lease runs. */
  memory_mb: number | string;
  /** Local disk of each server, in GiB. It cannot be changed once the lease runs. */
  disk_gb: number | string;
  /** The number of servers. */
  amount: number | string;
  /** Whether all servers are on one host (true) or each on another one (false); none if it does not matter. It cannot be changed once the lease runs. */
  affinity?: boolean | string | null;
  /** A requirement on the hosts. */
  resource_properties?: string | unknown | Requirement | null;
  placement?: Placement;
};

/** user_data must not be longer than 49149 bytes, as it is sent in base64. */
export type RequestVirtualServer = {
  resource_type: "virtual:server";
  /** A server that exists, by its id in Nova; without it a server is booted. It cannot be changed once booked. */
  server_id?: string | null | "";
  /** The name of the server to boot. It cannot be changed once booked. */
  name?: string | number | null | "";
  /** The image to boot, by its id in Glance; with block_device_mapping there may be none. It cannot be changed once booked. */
  image?: string | null | "";
  /** The flavor of the server to boot, by its id in Nova. It cannot be changed once booked. */
  flavor?: string | number | null | "";
  /** The networks of the server to boot, each with ``uuid`` or ``port``, and perhaps ``fixed_ip``; by default it has none. It cannot be changed once booked. */
  networks?: Array<{
    uuid?: null | string;
    port?: null | string;
    fixed_ip?: null | string;
  }> | null;
  /** The key pair of the user, by name. It cannot be changed once booked. */
  key_name?: string | number | null | "";
  /** What the server reads when it boots; it is not shown. It cannot be changed once booked. */
  user_data?: string | null | "";
  /** The disks of the server to boot, as in Nova's ``block_device_mapping_v2``. It cannot be changed once booked. */
  block_device_mapping?: Array<{
    boot_index?: number | string | null;
    delete_on_termination?: boolean | null;
    destination_type?: string | null;
    device_name?: string | null;
    device_type?: string | null;
    disk_bus?: string | null;
    guest_format?: string | null;
    source_type: string;
    tag?: string | null;
    uuid?: string | null;
    volume_size?: number | string | null;
    volume_type?: string | null;
  }> | null;
  /** The metadata of the server to boot. It cannot be changed once booked. */
  metadata?: { [name: string]: string } | null;
  /** The availability zone of the server to boot. It cannot be changed once booked. */
  availability_zone?: string | number | null | "";
  /** The security groups of the server to boot. It cannot be changed once booked. */
  security_groups?: Array<string> | null;
  /** What is done with the server at the end, step by step. */
  on_end?: Array<"create_image" | "delete" | "shelve" | "snapshot" | "stop" | "suspend"> | string | null;
  /** What is done shortly before the end, when its owner is notified. */
  before_end?: Array<"create_image" | "notify" | "snapshot"> | string | null | "";
  /** Whether room for the server is booked on the reservable hosts. It cannot be changed once booked. */
  guarantee?: boolean | string | null | "";
  /** A requirement on these hosts. It cannot be changed once booked. */
  resource_properties?: string | unknown | Requirement | null;
  placement?: Placement;
};

/** template, environment, parameters and files must not be larger together than the operator allows. */
export type RequestVirtualStack = {
  resource_type: "virtual:stack";
  /** A stack that exists, by its id or name in Heat; without it a stack is made. It cannot be changed once booked. */
  stack_id?: string | number | null | "";
  /** The name of the stack to make: a letter, then letters, digits, dots, hyphens and underscores. It cannot be changed once booked. */
  name?: string | number | null | "";
  /** The template of the stack to make. It cannot be changed once booked. */
  template?: string | null | "";
  /** The environment of the stack to make. It cannot be changed once booked. */
  environment?: string | null | "";
  /** Values for the parameters of the template. It cannot be changed once booked. */
  parameters?: Storable | null;
  /** Texts that template and environment name, by their names. It cannot be changed once booked. */
  files?: { [name: string]: string } | null;
  /** What is done with the stack at the end, step by step; by default one that exists is saved and suspended. */
  on_end?: Array<"delete" | "snapshot" | "suspend"> | string | "default" | null | "";
  /** What is done shortly before the end, when its owner is notified. */
  before_end?: Array<"notify" | "snapshot"> | string | "default" | null | "";
  /** Whether room is booked for what a stack to make contains. It cannot be changed once booked. */
  guarantee?: boolean | string | null | "";
  placement?: Placement;
};

export type RequestVirtualVolume = {
  resource_type: "virtual:volume";
  /** A volume that exists, by its id in Cinder; without it volumes are made. It cannot be changed once booked. */
  volume_id?: string | null | "";
  /** The size of each volume, in GiB; by default that of the snapshot or volume that it is made of. It cannot be changed once the lease runs. */
  size?: number | string | null | "";
  /** The volume type, by name; by default that of the source, or the cloud's default. It cannot be changed once the lease runs. */
  volume_type?: string | number | null | "";
  /** The availability zone. It cannot be changed once the lease runs. */
  availability_zone?: string | number | null | "";
  /** The snapshot to make each volume of. It cannot be changed once booked. */
  snapshot_id?: string | null | "";
  /** The image to make each volume of. It cannot be changed once booked. */
  image_id?: string | null | "";
  /** The volume to copy. It cannot be changed once booked. */
  source_volid?: string | null | "";
  /** The name of the volumes; by default that of the lease. It cannot be changed once the lease runs. */
  name?: string | number | null | "";
  /** The number of volumes; once the lease runs it can only grow. */
  amount?: number | string | null | "";
  /** Whether room for the volumes is booked. It cannot be changed once the lease runs. */
  guarantee?: boolean | string | null | "";
  /** Whether room is booked and nothing else done: something else makes the volumes. It cannot be changed once booked. */
  room_only?: boolean | string | null | "";
  /** What becomes of the volumes at the end, step by step; by default nothing happens to a volume that exists. */
  on_end?: Array<"backup" | "delete" | "detach" | "snapshot"> | string | null;
  placement?: Placement;
};

/** An expression: at most 16 levels, 100 comparisons and traits, and 65536 characters of names and values. Traits need microversion 1.5. */
export type Requirement = unknown;

export type Reservation = {
  id: string;
  lease_id: string;
  resource_id: string;
  resource_type: string;
  status: string;
  missing_resources: boolean;
  resources_changed: boolean;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
  part_of: string | null;
  placement?: { [name: string]: unknown };
  resources: Array<HeldResource>;
  resources_count: number;
  instructions: Array<Instruction>;
  [key: string]: unknown;
};

export type Resource = {
  id: string;
  resource_type: string;
  name: string;
  reservable: boolean;
  disabled: boolean;
  failed_at: Time | null;
  attributes: { [name: string]: unknown };
  properties: { [name: string]: string | null };
  inventories: Inventories;
  traits: Array<string>;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
  degraded: string | null;
};

export type ResourceType = {
  name: string;
  description: string;
  origin: string;
  exclusive: boolean;
  noun: string;
  classes: Array<string>;
  inventories: Inventories | null;
  announce: Array<string> | null;
  reservation_schema: { [name: string]: unknown };
  resource_schema: { [name: string]: unknown } | null;
  created_at: RecordTime | null;
  updated_at: RecordTime | null;
  noun_one: string;
};

export type Shortage = {
  reservation: number;
  resource_type: string;
  resource_class: string | null;
  missing: number;
  until: Time | null;
};

/** A value without the characters that no database can store. */
export type Storable = boolean | number | null | string | Array<unknown> | { [name: string]: unknown };

export type StoredOffer = {
  id: string;
  start_date: Time;
  end_date: Time;
  reason: "soonest" | "next" | "most" | "longest" | "other_property" | "extended" | "replaced" | "following" | "cheapest" | "fewest_resources" | "same";
  reservations: Array<{
    reservation: number;
    resource_type: string;
    amount: number;
    classes: { [name: string]: number };
  }>;
  blocked_before: Array<Shortage>;
  requirements?: Array<{
    reservation: number;
    property: string;
    values: Array<string>;
  }>;
  cost?: number;
  resources?: number;
  expires_at: Time | null;
  held_until: Time | null;
  lease_id: string | null;
};

export type Time = string;

export type TraitChoice = {
  trait: string;
  resources: number;
};

export type Usage = {
  start: Time;
  end: Time;
  by: "project" | "type" | "class";
  rows: Array<{
    project_id?: string;
    resource_type?: string;
    resource_class: string | null;
    leases: number;
    /** Units of the class, multiplied by seconds. */
    booked: number;
    /** Units of the class, multiplied by seconds. */
    used: number;
    /** Units of the class, multiplied by seconds. */
    unused: number;
    /** Units of the class, multiplied by seconds. */
    ahead: number;
    /** Units of the class, multiplied by seconds. */
    refused: number;
    refusals: number;
  }>;
};

export type Webhook = {
  id: string;
  name: string;
  project_id: string;
  user_id: string;
  url: string;
  event_types: Array<string>;
  all_projects: boolean;
  enabled: boolean;
  previous_secret_until: Time | null;
  created_at: Time | null;
  updated_at: Time | null;
  stopped_reason: string | null;
};

export interface Operations {
  /** Show what is free of a resource type over time. */
  'GET /availability': {
    query: {
      end?: string;
      group_by?: string;
      resource_properties?: string;
      resource_type: string;
      resources?: string;
      start?: string;
      step?: string;
    };
    answer: {
      availability: Availability;
    };
  };
  /** Show a page of resources, and when they are reserved. */
  'GET /calendar': {
    query: {
      end?: string;
      group_by?: string;
      lease_id?: string;
      limit?: number;
      marker?: string;
      mine?: unknown;
      offset?: number;
      resource_type: string;
      search?: string;
      start?: string;
    };
    answer: {
      calendar: Calendar;
    };
  };
  /** List calendar feeds, a page at a time. */
  'GET /feeds': {
    query?: {
      limit?: number;
      marker?: string;
    };
    answer: {
      feeds: Array<Feed>;
      feeds_links?: Array<{
        rel: string;
        href: string;
      }>;
    };
  };
  /** Create a calendar feed; only this response has its link. */
  'POST /feeds': {
    body: {
      name?: string;
      lease_id?: string;
      resource_id?: number | string;
      time_zone?: string;
      alarms_before_start?: Array<number>;
      alarms_before_end?: Array<number>;
      lifetime?: number | string;
    };
    answer: {
      feed: NewFeed;
    };
  };
  /** Show a calendar feed, without its link. */
  'GET /feeds/{feed_id}': {
    answer: {
      feed: Feed;
    };
  };
  /** Revoke the link of a calendar feed. */
  'DELETE /feeds/{feed_id}': {
    answer: void;
  };
  /** List the resources. */
  'GET /floatingips': {
    answer: {
      floatingips: Array<Floatingip>;
    };
  };
  /** Register a resource. */
  'POST /floatingips': {
    body: {
      floating_network_id: string;
      floating_ip_address: string;
    };
    answer: {
      floatingip: Floatingip;
    };
  };
  /** Show a resource. */
  'GET /floatingips/{floatingip_id}': {
    answer: {
      floatingip: Floatingip;
    };
  };
  /** Unregister a resource. */
  'DELETE /floatingips/{floatingip_id}': {
    answer: void;
  };
  /** List the leases that the caller can see. */
  'GET /leases': {
    query?: {
      end_after?: string;
      end_before?: string;
      fields?: string;
      limit?: number;
      marker?: string;
      name?: string;
      project_id?: string;
      resource_type?: string;
      sort_dir?: Array<"asc" | "desc">;
      sort_key?: Array<"id" | "name" | "start_date" | "end_date" | "status" | "project_id" | "created_at">;
      start_after?: string;
      start_before?: string;
      status?: "PENDING" | "STARTING" | "ACTIVE" | "UPDATING" | "TERMINATING" | "TERMINATED" | "DELETING" | "DELETED" | "ERROR";
      user?: "me";
      user_id?: string;
    };
    answer: {
      leases: Array<ListedLease>;
      leases_links?: Array<{
        rel: string;
        href: string;
      }>;
    };
  };
  /** Create a lease. */
  'POST /leases': {
    body: {
      name: string;
      start_date: string;
      end_date?: string | null;
      before_end_date?: string | null;
      reservations?: Array<RequestFlavorInstance | RequestNetwork | RequestPhysicalHost | RequestPhysicalStorage | RequestVirtualFloatingip | RequestVirtualInstance | RequestVirtualServer | RequestVirtualStack | RequestVirtualVolume | RequestDeclared> | null;
      events?: Array<{
        event_type: "notification" | "before_end_lease";
        time?: string | null;
        event_date?: string | null;
      }> | null;
      duration?: number | string | null;
      notify_before_start?: Array<number> | null;
      notices?: Array<"before_start" | "started" | "before_end" | "degraded" | "error"> | null;
      dry_run?: boolean;
    } | {
      name: string;
      before_end_date?: string | null;
      events?: Array<{
        event_type: "notification" | "before_end_lease";
        time?: string | null;
        event_date?: string | null;
      }> | null;
      notify_before_start?: Array<number> | null;
      notices?: Array<"before_start" | "started" | "before_end" | "degraded" | "error"> | null;
      dry_run?: boolean;
      offer_id: string;
    };
    answer: {
      dry_run: Rehearsal;
    } | {
      lease: Lease;
    };
  };
  /** Show a lease. */
  'GET /leases/{lease_id}': {
    answer: {
      lease: Lease;
    };
  };
  /** Change a lease. */
  'PUT /leases/{lease_id}': {
    body: {
      name?: string;
      start_date?: string;
      end_date?: string;
      duration?: number | string;
      before_end_date?: string | null;
      notify_before_start?: Array<number> | null;
      reservations?: Array<{
        id: string;
        [key: string]: unknown;
      }>;
      notices?: Array<"before_start" | "started" | "before_end" | "degraded" | "error"> | null;
      dry_run?: boolean;
      end_reason?: string;
    };
    answer: {
      lease: Lease;
    } | {
      dry_run: Rehearsal;
    };
  };
  /** Delete a lease; a manager cleans up the cloud afterwards. */
  'DELETE /leases/{lease_id}': {
    answer: void;
  };
  /** Show how far a lease can be extended, and what is in the way; nothing is kept. */
  'GET /leases/{lease_id}/extension': {
    query?: {
      latest?: string;
    };
    answer: {
      extension: Extension;
    };
  };
  /** Show what was done for a lease in the cloud, and the events it awaits. */
  'GET /leases/{lease_id}/history': {
    answer: {
      history: History;
    };
  };
  /** Record which resources of a lease are ready. */
  'POST /leases/{lease_id}/readiness': {
    body: {
      ready?: Array<string>;
      waiting?: Array<string>;
      by: string;
      detail?: string;
    };
    answer: {
      lease: Lease;
    };
  };
  /** Replace a resource of a lease with another one. */
  'POST /leases/{lease_id}/reallocate': {
    body: {
      reservation_id: string;
      resource_id?: number | string;
      resource_name?: string;
      reason?: string;
      force?: boolean;
    };
    answer: {
      lease: Lease;
    };
  };
  /** List the maintenances that have not ended. */
  'GET /maintenances': {
    answer: {
      maintenances: Array<Maintenance>;
    };
  };
  /** Announce a maintenance. */
  'POST /maintenances': {
    body: {
      resource_id?: number | string;
      resource_type?: string;
      resource_name?: string;
      start_date: string;
      end_date: string;
      reason?: string;
    };
    answer: {
      maintenance: Maintenance;
    };
  };
  /** Show a maintenance. */
  'GET /maintenances/{maintenance_id}': {
    answer: {
      maintenance: Maintenance;
    };
  };
  /** Change the period or the reason of a maintenance. */
  'PUT /maintenances/{maintenance_id}': {
    body: {
      start_date?: string;
      end_date?: string;
      reason?: string;
    };
    answer: {
      maintenance: Maintenance;
    };
  };
  /** Cancel a maintenance. */
  'DELETE /maintenances/{maintenance_id}': {
    answer: void;
  };
  /** Show who calls, and what they may do. */
  'GET /me': {
    answer: {
      me: Caller;
    };
  };
  /** Find periods in which a lease could be booked, and hold the first if requested. */
  'POST /offers': {
    body: {
      reservations: Array<RequestFlavorInstance | RequestNetwork | RequestPhysicalHost | RequestPhysicalStorage | RequestVirtualFloatingip | RequestVirtualInstance | RequestVirtualServer | RequestVirtualStack | RequestVirtualVolume | RequestDeclared>;
      duration?: number | string;
      min_duration?: number | string;
      earliest?: string;
      latest?: string;
      limit?: number;
      hold?: number | string;
      prefer?: "soonest" | "cheapest" | "fewest_resources" | "same";
      property?: string;
    };
    answer: {
      offers: Array<StoredOffer>;
      searched_until: Time;
    };
  };
  /** Show a stored offer. */
  'GET /offers/{offer_id}': {
    answer: {
      offer: StoredOffer;
    };
  };
  /** Delete a stored offer, and release what is held for it. */
  'DELETE /offers/{offer_id}': {
    answer: void;
  };
  /** List the resources. */
  'GET /os-hosts': {
    answer: {
      hosts: Array<Host>;
    };
  };
  /** Register a resource. */
  'POST /os-hosts': {
    body: {
      name?: string;
      id?: string | number;
      [key: string]: unknown;
    };
    answer: {
      host: Host;
    };
  };
  /** List every host, reserved or not. */
  'GET /os-hosts/allocations': {
    query?: {
      lease_id?: string;
      reservation_id?: string;
    };
    answer: {
      allocations: Array<Allocation>;
    };
  };
  /** List the names of properties and, with ``detail`` or ``values``, their values. */
  'GET /os-hosts/properties': {
    query?: {
      all?: unknown;
      detail?: unknown;
      values?: unknown;
    };
    answer: Properties;
  };
  /** Make a property private or public. */
  'PATCH /os-hosts/properties/{property_name}': {
    body: {
      private: boolean;
    };
    answer: {
      resource_property: ChangedProperty;
    };
  };
  /** Show a resource. */
  'GET /os-hosts/{host_id}': {
    answer: {
      host: Host;
    };
  };
  /** Set or remove properties; from 1.6 on, also follow a new name. */
  'PUT /os-hosts/{host_id}': {
    body: { [name: string]: unknown };
    answer: {
      host: Host;
    };
  };
  /** Unregister a resource. */
  'DELETE /os-hosts/{host_id}': {
    answer: void;
  };
  /** Show one host. */
  'GET /os-hosts/{host_id}/allocation': {
    query?: {
      lease_id?: string;
      reservation_id?: string;
    };
    answer: {
      allocation: Allocation;
    };
  };
  /** List the available resource types. */
  'GET /resource-types': {
    answer: {
      resource_types: Array<ResourceType>;
    };
  };
  /** Declare a type. */
  'POST /resource-types': {
    body: {
      name: string;
      description?: string;
      exclusive?: boolean;
      noun?: string;
      noun_one?: string;
      classes?: { [name: string]: number | {
        total: number;
        reserved?: number;
        allocation_ratio?: number;
        min_unit?: number;
        max_unit?: number;
        step_size?: number;
      } };
      announce?: Array<string>;
    };
    answer: {
      resource_type: ResourceType;
    };
  };
  /** Show a type. */
  'GET /resource-types/{type_name}': {
    answer: {
      resource_type: ResourceType;
    };
  };
  /** Change a declared type. */
  'PUT /resource-types/{type_name}': {
    body: {
      description?: string;
      exclusive?: boolean;
      noun?: string;
      noun_one?: string;
      classes?: { [name: string]: number | {
        total: number;
        reserved?: number;
        allocation_ratio?: number;
        min_unit?: number;
        max_unit?: number;
        step_size?: number;
      } };
      announce?: Array<string>;
    };
    answer: {
      resource_type: ResourceType;
    };
  };
  /** Delete a declared type. */
  'DELETE /resource-types/{type_name}': {
    answer: void;
  };
  /** List resources, a page at a time. */
  'GET /resources': {
    query?: {
      limit?: number;
      marker?: string;
      name?: string;
      sort_dir?: Array<"asc" | "desc">;
      sort_key?: Array<"id" | "name" | "resource_type" | "created_at">;
      type?: string;
    };
    answer: {
      resources: Array<Resource>;
      resources_links?: Array<{
        rel: string;
        href: string;
      }>;
    };
  };
  /** Register a resource. */
  'POST /resources': {
    body: {
      resource_type: string;
      name?: string;
      attributes?: { [name: string]: unknown };
      properties?: { [name: string]: unknown };
      inventories?: { [name: string]: number | {
        total: number;
        reserved?: number;
        allocation_ratio?: number;
        min_unit?: number;
        max_unit?: number;
        step_size?: number;
      } };
    };
    answer: {
      resource: Resource;
    };
  };
  /** List every resource of a type, or of all types, reserved or not. */
  'GET /resources/allocations': {
    query?: {
      lease_id?: string;
      reservation_id?: string;
      type?: string;
    };
    answer: {
      allocations: Array<AllocationOfAny>;
    };
  };
  /** List the names of properties of a type; their values with ``detail`` or ``values``. */
  'GET /resources/properties': {
    query: {
      all?: unknown;
      detail?: unknown;
      type: string;
      values?: unknown;
    };
    answer: Properties;
  };
  /** Make a property of the type in ``type`` private or public. */
  'PATCH /resources/properties/{property_name}': {
    query: {
      type: string;
    };
    body: {
      private: boolean;
    };
    answer: {
      resource_property: ChangedProperty;
    };
  };
  /** Show a resource. */
  'GET /resources/{resource_id}': {
    answer: {
      resource: Resource;
    };
  };
  /** Change the name, properties or inventories of a resource, or disable it. */
  'PUT /resources/{resource_id}': {
    body: {
      name?: string;
      disabled?: boolean;
      properties?: { [name: string]: unknown };
      inventories?: { [name: string]: number | {
        total: number;
        reserved?: number;
        allocation_ratio?: number;
        min_unit?: number;
        max_unit?: number;
        step_size?: number;
      } };
    };
    answer: {
      resource: Resource;
    };
  };
  /** Unregister a resource. */
  'DELETE /resources/{resource_id}': {
    answer: void;
  };
  /** Show one resource of any type. */
  'GET /resources/{resource_id}/allocations': {
    query?: {
      lease_id?: string;
      reservation_id?: string;
    };
    answer: {
      allocation: AllocationOfAny;
    };
  };
  /** Read a resource again from the cloud. */
  'POST /resources/{resource_id}/refresh': {
    answer: {
      resource: Resource;
    };
  };
  /** Show how much leases booked and used in a period. */
  'GET /usage': {
    query?: {
      by?: "project" | "type" | "class";
      end?: string;
      project_id?: string;
      resource_type?: string;
      start?: string;
    };
    answer: {
      usage: Usage;
    };
  };
  /** List webhooks, a page at a time. */
  'GET /webhooks': {
    query?: {
      limit?: number;
      marker?: string;
    };
    answer: {
      webhooks: Array<Webhook>;
      webhooks_links?: Array<{
        rel: string;
        href: string;
      }>;
    };
  };
  /** Create a webhook; only this response has its secret. */
  'POST /webhooks': {
    body: {
      name?: string;
      url: string;
      event_types?: Array<string>;
      all_projects?: boolean;
      enabled?: boolean;
    };
    answer: {
      webhook: NewWebhook;
    };
  };
  /** Show a webhook, without its secret. */
  'GET /webhooks/{webhook_id}': {
    answer: {
      webhook: Webhook;
    };
  };
  /** Change a webhook, or give it a new secret. */
  'PUT /webhooks/{webhook_id}': {
    body: {
      name?: string;
      url?: string;
      event_types?: Array<string>;
      enabled?: boolean;
      rotate_secret?: boolean;
      keep_previous_secret_for?: number | string;
    };
    answer: {
      webhook: ChangedWebhook;
    };
  };
  /** Delete a webhook. */
  'DELETE /webhooks/{webhook_id}': {
    answer: void;
  };
  /** List deliveries to a webhook, newest first. */
  'GET /webhooks/{webhook_id}/deliveries': {
    query?: {
      limit?: number;
      marker?: string;
      state?: "waiting" | "delivered" | "dead";
    };
    answer: {
      deliveries: Array<Delivery>;
      deliveries_links?: Array<{
        rel: string;
        href: string;
      }>;
    };
  };
  /** Send dead letters again. */
  'POST /webhooks/{webhook_id}/redeliver': {
    body: {
      delivery_ids?: Array<string>;
      all?: boolean;
    };
    answer: {
      redelivered: number;
    };
  };
  /** Send a test event. */
  'POST /webhooks/{webhook_id}/test': {
    answer: {
      delivery_id: string;
    };
  };
}
