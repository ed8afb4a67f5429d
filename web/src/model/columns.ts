// SPDX-License-Identifier: Apache-2.0

/** A page of the calendar, as typed arrays that can be drawn without making objects. */

/** What GET /v1/calendar answers; times in seconds since 1970, parallel arrays. */
export interface CalendarAnswer {
  resource_type: string;
  start: number;
  end: number;
  generation: string;
  total: number;
  group_by: string | null;
  groups?: { value: (string | null)[]; count: number[] };
  resources: {
    id: number[];
    name: string[];
    disabled: number[];
    failed: number[];
    capacity: number[];
    group?: (string | null)[];
  };
  capacities: Record<string, number>[];
  main: (string | null)[];
  allocations: {
    resource: number[];
    start: number[];
    end: number[];
    amount: number[];
    share: number[];
    lease: number[];
  };
  held?: number[];
  leases: { id: string[]; name: string[]; status: string[]; mine: number[]; project_id?: string[];
    /** When a flexible lease stops moving; null if its start is fixed. */
    firm_at: (number | null)[];
  };
  maintenances: { resource: number[]; start: number[]; end: number[]; id?: string[] };
}

/** Consecutive rows of the grid, with their bars sorted by row and start. */
export interface Chunk {
  first: number;
  count: number;
  start: number;
  end: number;
  id: number[];
  name: string[];
  group: (string | null)[];
  disabled: number[];
  failed: number[];
  /** Bars of row r are from[r] to from[r + 1]. */
  from: Uint32Array;
  begins: Uint32Array;
  ends: Uint32Array;
  amount: number[];
  /** Thousandths of the resource. */
  share: Uint16Array;
  /** Thousandths of the height of the row, above the bar. */
  top: Uint16Array;
  lease: Int32Array;
  held: Set<number>;
  leases: CalendarAnswer['leases'];
  maintenances: CalendarAnswer['maintenances'];
  main: (string | null)[];
}

/** Return whether a lease may still begin at another time: it is flexible, and not firm yet. */
export function moves(leases: CalendarAnswer['leases'], lease: number, now: number): boolean {
  return leases.status[lease] === 'PENDING' && (leases.firm_at[lease] ?? 0) > now;
}

/** Return the chunk that an answer describes; `first` is the number of its first row. */
export function parse(answer: CalendarAnswer, first: number): Chunk {
  const { resources, allocations } = answer;
  const from = rowStarts(allocations.resource, resources.id.length);
  const begins = Uint32Array.from(allocations.start);
  const ends = Uint32Array.from(allocations.end);
  const share = Uint16Array.from(allocations.share);
  return {
    first,
    count: resources.id.length,
    start: answer.start,
    end: answer.end,
    id: resources.id,
    name: resources.name,
    group: resources.group ?? [],
    disabled: resources.disabled,
    failed: resources.failed,
    from,
    begins,
    ends,
    amount: allocations.amount,
    share,
    top: tops(from, begins, ends, share),
    lease: Int32Array.from(allocations.lease),
    held: new Set(answer.held ?? []),
    leases: answer.leases,
    maintenances: answer.maintenances,
    main: resources.capacity.map((index) => answer.main[index] ?? null),
  };
}

function rowStarts(resource: number[], rows: number): Uint32Array {
  const from = new Uint32Array(rows + 1);
  for (const row of resource) from[row + 1]! += 1;
  for (let row = 0; row < rows; row++) from[row + 1]! += from[row]!;
  return from;
}

/** Stack bars that overlap: each at the lowest place where its share is free. */
export function tops(
  from: Uint32Array, begins: Uint32Array, ends: Uint32Array, share: Uint16Array,
): Uint16Array {
  const top = new Uint16Array(begins.length);
  for (let row = 0; row + 1 < from.length; row++) {
    let open: number[] = [];
    for (let bar = from[row]!; bar < from[row + 1]!; bar++) {
      open = open.filter((other) => ends[other]! > begins[bar]!);
      top[bar] = lowest(open, top, share, share[bar]!);
      open.push(bar);
    }
  }
  return top;
}

function lowest(open: number[], top: Uint16Array, share: Uint16Array, wanted: number): number {
  const taken = open.map((bar) => [top[bar]!, top[bar]! + share[bar]!] as const);
  taken.sort((one, other) => one[0] - other[0]);
  let place = 0;
  for (const [begin, end] of taken) {
    if (begin - place >= wanted) break;
    place = Math.max(place, end);
  }
  // Two whole bars in one row, such as of a lease that is released late: on top of each other.
  return Math.max(0, Math.min(place, 1000 - wanted));
}
