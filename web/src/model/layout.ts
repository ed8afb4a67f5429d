// SPDX-License-Identifier: Apache-2.0

/** Which resource is in which row of the grid: groups have heads, and can be folded. */

export interface Group { value: string | null; count: number }
/** A group in the grid: the row where its head begins, and the number of its first resource. */
export interface Section extends Group { key: string; row: number; first: number; folded: boolean }

/** Return what identifies a group; resources without a value are a group, too. */
export const keyOf = (value: string | null): string => (value === null ? '' : `=${value}`);

export class Layout {
  readonly sections: Section[] = [];
  /** Rows of the grid, those of heads included; -1 as long as it is not known. */
  readonly total: number;

  /**
   * `groups` are in the order of the resources, null for none; `head` is how many rows a head
   * needs; `folded` has keys of groups, and `only` the key of the one that is shown, or null.
   */
  constructor(
    groups: Group[] | null, resources: number, readonly head = 1,
    folded: ReadonlySet<string> = new Set(), only: string | null = null,
  ) {
    let row = 0;
    let first = 0;
    for (const group of groups ?? []) {
      const key = keyOf(group.value);
      if (only === null || only === key) {
        this.sections.push({ ...group, key, row, first, folded: folded.has(key) });
        row += head + (folded.has(key) ? 0 : group.count);
      }
      first += group.count;
    }
    this.total = groups ? row : resources;
    this.grouped = groups !== null;
  }

  readonly grouped: boolean;

  /** Return the group of a row. */
  section(row: number): Section | null {
    let [low, high] = [0, this.sections.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sections[middle]!.row <= row) low = middle + 1;
      else high = middle;
    }
    return row < this.total ? this.sections[low - 1] ?? null : null;
  }

  /** Return the group whose head is in a row. */
  headAt(row: number): Section | null {
    const section = this.section(row);
    return section && row < section.row + this.head ? section : null;
  }

  /** Return the number of the resource in a row; -1 if there is none. */
  resource(row: number): number {
    if (!this.grouped) return row;
    const section = this.section(row);
    if (!section) return -1;
    const place = row - section.row - this.head;
    return place < 0 ? -1 : section.first + place;
  }

  /** Return the pages that have the resources of some rows, the last one included. */
  pages(first: number, last: number, page: number): number[] {
    const found = new Set<number>();
    for (let row = first; row <= last; row++) {
      const resource = this.resource(row);
      if (resource >= 0) found.add(Math.floor(resource / page));
    }
    return [...found];
  }

  /** Return the next row that the keyboard can reach: a head, or a resource. */
  step(row: number, by: number): number {
    const last = this.total - 1;
    let to = Math.max(0, Math.min(row + by, last));
    const head = this.headAt(to);
    if (!head) return to;
    // The rows of a head are one.
    to = by > 0 && to > head.row && row >= head.row ? head.row + this.head : head.row;
    return Math.min(to, last);
  }
}
