/** Milliseconds until a list comes round again: longer than most timeouts are. */
const BUCKET_COUNT = 16_384;
const BUCKET_MASK = BUCKET_COUNT - 1;
const ARITY = 4;
const NONE = -1;

/**
 * An event is one record of 32 bytes, so that to look at it costs the processor one line of memory: with an array for each
 * field it would be six. As doubles: its time, its number; as integers after them: target, ticket, following record, kind.
 */
const DOUBLES = 4;
const INTEGERS = 8;
const TIME = 0;
const ORDER = 1;
const TARGET = 4;
const TICKET = 5;
const NEXT = 6;
const KIND = 7;

/**
 * What is to happen, in the order of virtual time; events of one instant in the order in which they were scheduled.
 *
 * Three stores, so that what most events need is cheap: those of this very instant stand in a line, those of this
 * millisecond in a heap, later ones in one list a millisecond, sorted when it comes.
 * Everything is kept in numeric arrays: an event costs no object.
 */
export class EventQueue {
  /** Virtual time in milliseconds; it never goes back. */
  nowMs = 0;
  /** The event that `next` has taken out. */
  kind = 0;
  target = 0;
  ticket = 0;

  #doubles = new Float64Array(1024 * DOUBLES);
  #integers = new Int32Array(this.#doubles.buffer);
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

  /** Events that have not happened yet. */
  get size(): number {
    let lineLength = 0;
    for (let id = this.#lineHead; id !== NONE; id = this.#nextOf(id)) lineLength += 1;
    return lineLength + this.#heapSize + this.#laterCount;
  }

  /** @param atMs an instant; one that has passed, or is no number, means now */
  schedule(atMs: number, kind: number, target: number, ticket: number): void {
    const timeMs = atMs > this.nowMs ? atMs : this.nowMs;
    if (timeMs === Infinity) return;
    const id = this.#take();
    this.#doubles[id * DOUBLES + TIME] = timeMs;
    this.#doubles[id * DOUBLES + ORDER] = this.#order++;
    const integers = id * INTEGERS;
    this.#integers[integers + TARGET] = target;
    this.#integers[integers + TICKET] = ticket;
    this.#integers[integers + KIND] = kind;
    if (timeMs === this.nowMs) this.#joinLine(id);
    else if (timeMs < this.#bucket + 1) this.#push(id);
    else {
      const index = Math.floor(timeMs) & BUCKET_MASK;
      this.#follow(id, this.#buckets[index]!);
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
      this.#lineHead = this.#nextOf(first);
      if (this.#lineHead === NONE) this.#lineTail = NONE;
      return this.#happens(first);
    }
    const top = this.#heap[0]!;
    if (this.#timeOf(top) >= endMs) return false;
    this.#pop();
    return this.#happens(top);
  }

  #happens(id: number): true {
    const integers = id * INTEGERS;
    this.nowMs = this.#timeOf(id);
    this.kind = this.#integers[integers + KIND]!;
    this.target = this.#integers[integers + TARGET]!;
    this.ticket = this.#integers[integers + TICKET]!;
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
      const following = this.#nextOf(id);
      if (this.#timeOf(id) >= endMs) {
        this.#follow(id, this.#buckets[index]);
        this.#buckets[index] = id;
      } else {
        this.#laterCount -= 1;
        this.#push(id);
      }
      id = following;
    }
  }

  #timeOf(id: number): number {
    return this.#doubles[id * DOUBLES + TIME]!;
  }

  #nextOf(id: number): number {
    return this.#integers[id * INTEGERS + NEXT]!;
  }

  #follow(id: number, next: number): void {
    this.#integers[id * INTEGERS + NEXT] = next;
  }

  #joinLine(id: number): void {
    this.#follow(id, NONE);
    if (this.#lineTail === NONE) this.#lineHead = id;
    else this.#follow(this.#lineTail, id);
    this.#lineTail = id;
  }

  #isBefore(one: number, other: number): boolean {
    const oneMs = this.#timeOf(one);
    const otherMs = this.#timeOf(other);
    if (oneMs !== otherMs) return oneMs < otherMs;
    return this.#doubles[one * DOUBLES + ORDER]! < this.#doubles[other * DOUBLES + ORDER]!;
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
      this.#free = this.#nextOf(id);
      return id;
    }
    if (this.#usedCount === this.#heap.length) this.#grow();
    return this.#usedCount++;
  }

  #release(id: number): void {
    this.#follow(id, this.#free);
    this.#free = id;
  }

  #grow(): void {
    const length = this.#heap.length * 2;
    // As integers: a copy of doubles may change those of them that are no numbers.
    const integers = new Int32Array(length * INTEGERS);
    integers.set(this.#integers);
    this.#integers = integers;
    this.#doubles = new Float64Array(integers.buffer);
    const heap = new Int32Array(length);
    heap.set(this.#heap);
    this.#heap = heap;
  }
}
