import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LiveList } from '../../src/transport/live-list.ts';
import type { LiveMember } from '../../src/transport/live-list.ts';

test('whatever comes and goes in whatever order, the list holds what a set would', () => {
  const step = fc.record({ add: fc.boolean(), place: fc.nat(19) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const things: LiveMember[] = Array.from({ length: 20 }, () => ({ liveIndex: -1 }));
      const list = new LiveList<LiveMember>();
      const set = new Set<LiveMember>();
      for (const { add, place } of steps) {
        const thing = things[place]!;
        if (!add) assert.equal(list.delete(thing), set.delete(thing));
        else if (!set.has(thing)) {
          list.add(thing);
          set.add(thing);
        }
        assert.equal(list.size, set.size);
        assert.deepEqual(new Set(list.snapshot()), set);
      }
    }),
  );
});

test('a member that takes itself out while the list is gone through hides no other', () => {
  const list = new LiveList<LiveMember>();
  for (let i = 0; i < 5; i += 1) list.add({ liveIndex: -1 });
  for (const member of list.snapshot()) assert.ok(list.delete(member));
  assert.equal(list.size, 0);
});
