// SPDX-License-Identifier: Apache-2.0

/** What a form asks for a reservation, as the JSON schema of its type describes it. */

export interface Schema {
  type?: string | string[]; title?: string; description?: string; required?: string[];
  properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; enum?: unknown[];
  minimum?: number; maximum?: number; maxLength?: number; const?: unknown;
}
/** `choices` are texts as the API reads them; `longest` is in characters. */
export interface Control {
  key: string; kind: 'number' | 'choice' | 'text' | 'long' | 'list' | 'json';
  required: boolean; first: boolean; choices: string[]; least?: number; most?: number;
  longest?: number; title: string; about: string;
}

/** What each type is asked for at once; other fields that are not required come after a click. */
const FIRST: Record<string, string[]> = {
  'virtual:volume': ['size', 'volume_type'],
  'virtual:server': ['server_id', 'name', 'flavor', 'image', 'networks'],
  'virtual:stack': ['stack_id', 'name', 'template'],
};
/** Fields with inputs of their own. */
const OWN = /^(resource_type|min|max|amount|\w+_properties)$/;
const LONG = 256;
/** The choice of an empty list; an empty text is what the service does by default. */
export const NOTHING = 'nothing';

/** Return the inputs of a type, in the order in which a form shows them. */
export function controlsOf(type: string, schema: Schema | undefined): Control[] {
  const order = FIRST[type] ?? [];
  const found = Object.entries(schema?.properties ?? {}).filter(([key]) => !OWN.test(key))
    .flatMap(([key, field]) => (key === 'resources' ? classesOf(field) : [controlOf(key, field)]))
    .filter((one) => one !== null);
  for (const one of found) {
    one.required ||= schema?.required?.includes(one.key) ?? false;
    one.first = one.required || order.includes(one.key);
  }
  const rank = ({ key }: Control): number => (order.indexOf(key) + 1 || order.length + 1);
  return found.sort((one, other) => rank(one) - rank(other));
}

/** Return an input for the units of each class. */
function classesOf(field: Schema): (Control | null)[] {
  const classes = field.anyOf?.find((one) => one.properties)?.properties ?? field.properties ?? {};
  return Object.entries(classes).map(([name, one]) => controlOf(`resources.${name}`, one));
}

function controlOf(key: string, field: Schema): Control | null {
  const kinds = field.anyOf ?? [field];
  const common = {
    key, required: false, first: false, choices: [] as string[], title: field.title ?? '', about: field.description ?? '',
  };
  const is = (name: string): Schema | undefined => kinds.find(({ type }) => type === name);
  const whole = is('integer');
  const text = is('string');
  const listed = kinds.find((one) => one.enum?.some((value) => value !== null && value !== ''));
  if (listed && !whole) {
    const choices = listed.enum!.map((value) => (Array.isArray(value) && !value.length ? NOTHING : String(value ?? '')))
      .filter((value) => value && value !== 'default');
    return choices.length ? { ...common, kind: 'choice', choices } : null;
  }
  if (is('boolean')) return { ...common, kind: 'choice', choices: ['true', 'false'] };
  if (is('array')) {
    const item = is('array')!.items;
    return { ...common, kind: item?.type === 'string' || item?.properties?.uuid ? 'list' : 'json' };
  }
  if (is('object')) return { ...common, kind: 'json' };
  // A number of its own, not a name that may be written as a number.
  if (whole && whole.minimum !== undefined && whole.minimum >= 0) {
    return { ...common, kind: 'number', least: whole.minimum, ...(whole.maximum ? { most: whole.maximum } : {}) };
  }
  if (!text && !whole) return null;
  // Nothing but "none" is possible.
  if (key === 'affinity') return null;
  const longest = text?.maxLength;
  return { ...common, kind: !longest || longest > LONG ? 'long' : 'text', ...(longest ? { longest } : {}) };
}

/** Return the value of a field that was typed; throws a SyntaxError if it is to be JSON and is not. */
export function valueOf(control: Control, text: string): unknown {
  switch (control.kind) {
    case 'number': return Number(text);
    case 'json': return JSON.parse(text);
    case 'list': {
      const words = text.split(/[\s,]+/).filter(Boolean);
      return control.key === 'networks' ? words.map((uuid) => ({ uuid })) : words;
    }
    default: return text === NOTHING ? [] : text;
  }
}
