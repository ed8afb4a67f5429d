// SPDX-License-Identifier: Apache-2.0

/**
 * Requirements as people write them, such as `vcpus >= 32 and not rack in (A, B)`: the language
 * of the commands. The API has JSON lists: `["and", [">=", "$vcpus", "32"], ["not", …]]`.
 */
export type Requirement = unknown[];
const TOKENS = /\s*(?:("(?:[^"\\]|\\.)*")|(==|=|!=|>=|<=|>|<|[(),])|([^\s()<>=!,"]+))/y;
const PLAIN = /^[^\s()<>=!,"]+$/;
const KEYWORDS = new Set(['and', 'or', 'not', 'in']);
const TRAIT = 'trait:';

/** Return a requirement of the API as people write it; what cannot be read stays as it is. */
export function written(given: unknown): string {
  try {
    const found: unknown = typeof given === 'string' && given ? JSON.parse(given) : given;
    return Array.isArray(found) && found.length > 0 ? text(found) : '';
  } catch {
    return String(given);
  }
}

function text([operator, ...parts]: Requirement): string {
  const inner = parts as Requirement[];
  switch (operator) {
    case 'and': case 'or':
      return inner.length === 1 ? text(inner[0]!) : inner.map(grouped).join(` ${operator} `);
    case 'not': return `not ${grouped(inner[0]!)}`;
    case 'trait': return TRAIT + String(parts[0]);
    default:
      return `${quoted(String(parts[0]).replace(/^\$/, ''))} ${String(operator)} ${quoted(String(parts[1]))}`;
  }
}

function grouped(part: Requirement): string {
  const several = (part[0] === 'and' || part[0] === 'or') && part.length > 2;
  return several ? `(${text(part)})` : text(part);
}

function quoted(word: string): string {
  const plain = PLAIN.test(word) && !KEYWORDS.has(word) && !word.startsWith(TRAIT) && !word.startsWith('$');
  return plain ? word : JSON.stringify(word);
}

/** Return the JSON text of the API for what a person wrote; null if it cannot be read. */
export function read(wanted: string): string | null {
  const trimmed = wanted.trim();
  if (!trimmed) return '';
  try {
    const found: unknown = trimmed.startsWith('[') ? JSON.parse(trimmed) : new Reader(trimmed).whole();
    return JSON.stringify(found);
  } catch {
    return null;
  }
}

interface Token { word: string; sign: boolean; quoted: boolean }

/** Reads one text. Throws a SyntaxError where it is wrong. */
class Reader {
  private readonly tokens: Token[] = [];
  private at = 0;

  constructor(given: string) {
    TOKENS.lastIndex = 0;
    for (let end = 0; end < given.length; end = TOKENS.lastIndex) {
      const found = TOKENS.exec(given);
      if (!found) throw new SyntaxError(given);
      const [, quotation, sign, word] = found;
      this.tokens.push({
        word: quotation ? String(JSON.parse(quotation)) : (sign ?? word)!,
        sign: sign !== undefined, quoted: quotation !== undefined,
      });
    }
  }

  whole(): Requirement {
    const found = this.either();
    if (this.at < this.tokens.length) throw new SyntaxError();
    return found;
  }

  private next(): Token {
    const token = this.tokens[this.at++];
    if (!token) throw new SyntaxError();
    return token;
  }

  /** Go on after a sign or keyword; false if something else is next. */
  private skip(word: string): boolean {
    const token = this.tokens[this.at];
    const found = token?.word === word && !token.quoted;
    if (found) this.at += 1;
    return found;
  }

  private either(): Requirement {
    return this.joined('or', () => this.both());
  }

  private both(): Requirement {
    return this.joined('and', () => this.one());
  }

  private joined(word: string, part: () => Requirement): Requirement {
    const parts = [part()];
    while (this.skip(word)) parts.push(part());
    return parts.length === 1 ? parts[0]! : [word, ...parts];
  }

  private one(): Requirement {
    if (this.skip('not')) return ['not', this.one()];
    if (this.skip('(')) {
      const inner = this.either();
      this.need(')');
      return inner;
    }
    const key = this.value();
    if (key.startsWith(TRAIT)) return ['trait', key.slice(TRAIT.length)];
    if (this.skip('not')) return ['not', this.among(key)];
    if (this.tokens[this.at]?.word === 'in') return this.among(key);
    const operator = this.next();
    if (!operator.sign || /[(),]/.test(operator.word)) throw new SyntaxError();
    return compared(operator.word, key, this.value());
  }

  private among(key: string): Requirement {
    this.need('in');
    this.need('(');
    const values = [this.value()];
    while (this.skip(',')) values.push(this.value());
    this.need(')');
    const each = values.map((value) => compared('==', key, value));
    return each.length === 1 ? each[0]! : ['or', ...each];
  }

  private need(word: string): void {
    if (!this.skip(word)) throw new SyntaxError();
  }

  private value(): string {
    const token = this.next();
    if (token.sign || (!token.quoted && KEYWORDS.has(token.word))) throw new SyntaxError();
    return token.word;
  }
}

const compared = (operator: string, key: string, value: string): Requirement =>
  [operator === '=' ? '==' : operator, `$${key.replace(/^\$/, '')}`, value];
