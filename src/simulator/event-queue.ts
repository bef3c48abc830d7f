/** Milliseconds until a list comes round again: longer than most timeouts are. */
const BUCKET_COUNT = 16_384;
const BUCKET_MASK = BUCKET_COUNT - 1;
const ARITY = 4;
const NONE = -1;

/**
 * What is to happen, in the order of virtual time; events of one instant in the order in which they were scheduled.
 *
 * Three stores, so that what most events need is cheap: those of this very instant stand in a line, those of this
 * millisecond in a heap, later ones in one list a millisecond. Most timeouts never fire: they are asked about only
 * when their millisecond comes, and dropped there without ever having been sorted.
 * Everything is kept in numeric arrays: an event costs no object.
 */
export class EventQueue {
  /** Virtual time in milliseconds; it never goes back. */
  nowMs = 0;
  /** The event that `next` has taken out. */
  kind = 0;
  target = 0;
  ticket = 0;

  readonly #isStale: (kind: number, target: number, ticket: number) => boolean;
  #times = new Float64Array(1024);
  #orders = new Float64Array(1024);
  #kinds = new Uint8Array(1024);
  #targets = new Int32Array(1024);
  #tickets = new Int32Array(1024);
  #nexts = new Int32Array(1024);
  #heap = new Int32Array(1024);
  #heapSize = 0;
  #free = NONE;
  #usedCount = 0;
  #order = 0;
  #lineHead = NONE;
  #lineTail = NONE;
  readonly #buckets = new Int32Array(BUCKET_COUNT).fill(NONE);
  /** Number of the millisecond whose events are in the heap. */
  #bucket = 0;
  #laterCount = 0;

  /** @param isStale whether an event needs not happen any more; it stays so */
  constructor(isStale: (kind: number, target: number, ticket: number) => boolean) {
    this.#isStale = isStale;
  }

  /** Events that have not happened yet, stale ones included. */
  get size(): number {
    let lineLength = 0;
    for (let id = this.#lineHead; id !== NONE; id = this.#nexts[id]!) lineLength += 1;
    return lineLength + this.#heapSize + this.#laterCount;
  }

  /** @param atMs an instant; one that has passed, or is no number, means now */
  schedule(atMs: number, kind: number, target: number, ticket: number): void {
    const timeMs = atMs > this.nowMs ? atMs : this.nowMs;
    if (timeMs === Infinity) return;
    const id = this.#take();
    this.#times[id] = timeMs;
    this.#orders[id] = this.#order++;
    this.#kinds[id] = kind;
    this.#targets[id] = target;
    this.#tickets[id] = ticket;
    if (timeMs === this.nowMs) this.#joinLine(id);
    else if (timeMs < this.#bucket + 1) this.#push(id);
    else {
      const index = Math.floor(timeMs) & BUCKET_MASK;
      this.#nexts[id] = this.#buckets[index]!;
      this.#buckets[index] = id;
      this.#laterCount += 1;
    }
  }

  /** Takes the next event that happens before `endMs` out and moves the time to it; false when there is none. */
  next(endMs: number): boolean {
    while (this.#heapSize === 0 && this.#lineHead === NONE) {
      if (this.#laterCount === 0 || this.#bucket + 1 >= endMs) return false;
      this.#bucket += 1;
      this.#openBucket();
    }
    const first = this.#lineHead;
    if (first !== NONE && (this.#heapSize === 0 || this.#isBefore(first, this.#heap[0]!))) {
      this.#lineHead = this.#nexts[first]!;
      if (this.#lineHead === NONE) this.#lineTail = NONE;
      return this.#happens(first);
    }
    const top = this.#heap[0]!;
    if (this.#times[top]! >= endMs) return false;
    this.#pop();
    return this.#happens(top);
  }

  #happens(id: number): true {
    this.nowMs = this.#times[id]!;
    this.kind = this.#kinds[id]!;
    this.target = this.#targets[id]!;
    this.ticket = this.#tickets[id]!;
    this.#release(id);
    return true;
  }

  /** Events more than 16 s ahead share a list with nearer ones and stay in it until their turn. */
  #openBucket(): void {
    const index = this.#bucket & BUCKET_MASK;
    let id = this.#buckets[index]!;
    if (id === NONE) return;
    this.#buckets[index] = NONE;
    const endMs = this.#bucket + 1;
    while (id !== NONE) {
      const following = this.#nexts[id]!;
      if (this.#isStale(this.#kinds[id]!, this.#targets[id]!, this.#tickets[id]!)) {
        this.#laterCount -= 1;
        this.#release(id);
      } else if (this.#times[id]! >= endMs) {
        this.#nexts[id] = this.#buckets[index]!;
        this.#buckets[index] = id;
      } else {
        this.#laterCount -= 1;
        this.#push(id);
      }
      id = following;
    }
  }

  #joinLine(id: number): void {
    this.#nexts[id] = NONE;
    if (this.#lineTail === NONE) this.#lineHead = id;
    else this.#nexts[this.#lineTail] = id;
    this.#lineTail = id;
  }

  #isBefore(one: number, other: number): boolean {
    const oneMs = this.#times[one]!;
    const otherMs = this.#times[other]!;
    return oneMs < otherMs || (oneMs === otherMs && this.#orders[one]! < this.#orders[other]!);
  }

  #push(id: number): void {
    let place = this.#heapSize++;
    while (place > 0) {
      const above = (place - 1) >> 2;
      const other = this.#heap[above]!;
      if (!this.#isBefore(id, other)) break;
      this.#heap[place] = other;
      place = above;
    }
    this.#heap[place] = id;
  }

  #pop(): void {
    this.#heapSize -= 1;
    const size = this.#heapSize;
    if (size === 0) return;
    const id = this.#heap[size]!;
    let place = 0;
    for (;;) {
      const firstChild = place * ARITY + 1;
      if (firstChild >= size) break;
      let least = firstChild;
      const end = Math.min(firstChild + ARITY, size);
      for (let child = firstChild + 1; child < end; child += 1) {
        if (this.#isBefore(this.#heap[child]!, this.#heap[least]!)) least = child;
      }
      if (!this.#isBefore(this.#heap[least]!, id)) break;
      this.#heap[place] = this.#heap[least]!;
      place = least;
    }
    this.#heap[place] = id;
  }

  #take(): number {
    const id = this.#free;
    if (id !== NONE) {
      this.#free = this.#nexts[id]!;
      return id;
    }
    if (this.#usedCount === this.#times.length) this.#grow();
    return this.#usedCount++;
  }

  #release(id: number): void {
    this.#nexts[id] = this.#free;
    this.#free = id;
  }

  #grow(): void {
    const length = this.#times.length * 2;
    const floats = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(length);
      grown.set(old);
      return grown;
    };
    const whole = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const grown = new Int32Array(length);
      grown.set(old);
      return grown;
    };
    this.#times = floats(this.#times);
    this.#orders = floats(this.#orders);
    const kinds = new Uint8Array(length);
    kinds.set(this.#kinds);
    this.#kinds = kinds;
    this.#targets = whole(this.#targets);
    this.#tickets = whole(this.#tickets);
    this.#nexts = whole(this.#nexts);
    this.#heap = whole(this.#heap);
  }
}
