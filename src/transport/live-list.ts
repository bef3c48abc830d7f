/** What can be a member of one `LiveList`. */
export interface LiveMember {
  /** Its place in the list; −1: in none. The list's to write. */
  liveIndex: number;
}

/**
 * What is under way: members come and go with each request, in no order. Not a `Set`: each time that makes itself another
 * table, the old one keeps its members and points to the new one. Once one of them is old, a chain of tables holds requests
 * that ended, until the next full collection; each young collection then copies a quarter of all that was allocated.
 */
export class LiveList<Member extends LiveMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: Member): void {
    member.liveIndex = this.#members.push(member) - 1;
  }

  /** @returns whether it was a member */
  delete(member: Member): boolean {
    const { liveIndex } = member;
    if (liveIndex < 0) return false;
    const last = this.#members.pop()!;
    if (last !== member) {
      this.#members[liveIndex] = last;
      last.liveIndex = liveIndex;
    }
    member.liveIndex = -1;
    return true;
  }

  /** Those of now: the list may change while they are gone through. */
  snapshot(): Member[] {
    return this.#members.slice();
  }
}
