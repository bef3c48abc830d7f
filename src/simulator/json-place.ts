import type { DataPath } from '../config/fault.ts';

/** In a longer text nobody looks for a line, and looking for it would take longer than reading it did. */
const LONGEST_SEARCHED = 8 * 1024 * 1024;

/** Where the value at a path of a JSON text begins; where its nearest existing parent does when it is not there. */
export function jsonOffset(text: string, path: DataPath): number {
  if (text.length > LONGEST_SEARCHED) return 0;
  return new Search(text).offsetOf(path);
}

/** The text is one that `JSON.parse` takes. */
class Search {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  offsetOf(path: DataPath): number {
    this.#skipSpace();
    let found = this.#at;
    for (const part of path) {
      if (!(typeof part === 'number' ? this.#enterItem(part) : this.#enterMember(part))) return found;
      found = this.#at;
    }
    return found;
  }

  #enterItem(index: number): boolean {
    if (!this.#enter('[', ']')) return false;
    for (let passed = 0; passed < index; passed += 1) if (!this.#skipEntry()) return false;
    return true;
  }

  #enterMember(name: string): boolean {
    if (!this.#enter('{', '}')) return false;
    for (;;) {
      const key = JSON.parse(this.#take()) as string;
      this.#skipSpace();
      this.#at += 1;
      this.#skipSpace();
      if (key === name) return true;
      if (!this.#skipEntry()) return false;
    }
  }

  /** @returns whether there is something in it */
  #enter(open: string, close: string): boolean {
    if (this.#text[this.#at] !== open) return false;
    this.#at += 1;
    this.#skipSpace();
    return this.#text[this.#at] !== close;
  }

  /** @returns whether another one follows */
  #skipEntry(): boolean {
    this.#take();
    this.#skipSpace();
    if (this.#text[this.#at] !== ',') return false;
    this.#at += 1;
    this.#skipSpace();
    return true;
  }

  /** The text of the value that begins here. */
  #take(): string {
    const from = this.#at;
    let depth = 0;
    do {
      const character = this.#text[this.#at];
      if (character === '"') this.#skipString();
      else if (character === '{' || character === '[') depth += 1;
      else if (character === '}' || character === ']') depth -= 1;
      else if (depth === 0) {
        this.#skipPlain();
        break;
      }
      this.#at += 1;
    } while (depth > 0 && this.#at < this.#text.length);
    return this.#text.slice(from, this.#at);
  }

  /** To its closing quote. */
  #skipString(): void {
    this.#at += 1;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"')
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
  }

  #skipPlain(): void {
    while (this.#at < this.#text.length && !/[,\]}\s]/.test(this.#text[this.#at]!)) this.#at += 1;
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
