import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Document, Node } from 'yaml';
import type { DataPath } from './fault.ts';
import { printable } from './fault.ts';

/** A fault of the text itself, at an offset. */
export interface TextFault {
  readonly offset: number;
  readonly path: DataPath;
  readonly message: string;
  readonly hint: string;
}

/** What a configuration text may cost. All are far above what people write, and low enough that a hostile text is refused in well under a second. */
export const yamlLimits: {
  readonly textBytes: number;
  readonly depth: number;
  readonly aliasCount: number;
  readonly tokenCount: number;
} = { textBytes: 1024 * 1024, depth: 32, aliasCount: 100, tokenCount: 100_000 };

/** `o.__proto__ = …` and friends: a later merge or assignment by key would reach the prototype of every object. */
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

export function tooDeep(offset: number, path: DataPath): TextFault {
  return {
    offset,
    path,
    message: `is nested deeper than ${yamlLimits.depth} levels`,
    hint: 'the deepest setting of a gateway file is 5 levels down',
  };
}

export interface Place {
  readonly key: number;
  readonly value: number;
}

function placeKey(path: DataPath): string {
  return JSON.stringify(path);
}

export function locate(places: ReadonlyMap<string, Place>, path: DataPath, atKey: boolean): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const place = places.get(placeKey(path.slice(0, length)));
    if (place !== undefined) return atKey && length === path.length ? place.key : place.value;
  }
  return 0;
}

/** The document as plain data, with the place of everything. Aliases are followed, and counted: ten lines of them can stand for a billion values. */
export function walkDocument(document: Document.Parsed): {
  readonly data: unknown;
  readonly faults: TextFault[];
  readonly places: Map<string, Place>;
} {
  const places = new Map<string, Place>();
  const faults: TextFault[] = [];
  const anchors = new Map<string, Node>();
  let aliasCount = 0;
  let nodeCount = 0;
  let gaveUp = false;

  function giveUp(fault: TextFault): undefined {
    if (!gaveUp) faults.push(fault);
    gaveUp = true;
    return undefined;
  }

  function visit(node: Node | null, path: DataPath, key: number, at: number, depth: number): unknown {
    if (gaveUp) return undefined;
    const value = at === -1 ? (node?.range?.[0] ?? key) : at;
    places.set(placeKey(path), { key, value });
    nodeCount += 1;
    if (nodeCount > yamlLimits.tokenCount)
      return giveUp({ offset: value, path, message: 'stands for too many values', hint: 'use fewer aliases' });
    if (depth > yamlLimits.depth) return giveUp(tooDeep(value, path));
    if (node === null) return null;
    if (isAlias(node)) {
      aliasCount += 1;
      if (aliasCount > yamlLimits.aliasCount)
        return giveUp({
          offset: value,
          path,
          message: `uses more than ${yamlLimits.aliasCount} aliases`,
          hint: 'write the values out',
        });
      const target = anchors.get(node.source);
      if (target === undefined)
        return giveUp({
          offset: value,
          path,
          message: `alias *${printable(node.source)} stands before its anchor`,
          hint: 'define &name first',
        });
      return visit(target, path, key, value, depth);
    }
    if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node);
    if (isScalar(node)) return node.value;
    // Inside an alias every value is placed where the alias stands: the person must look there first.
    if (isSeq(node))
      return node.items.map((item, index) =>
        visit(
          item as Node | null,
          [...path, index],
          at === -1 ? ((item as Node | null)?.range?.[0] ?? value) : at,
          at,
          depth + 1,
        ),
      );
    if (!isMap(node))
      return giveUp({ offset: value, path, message: 'is neither a value, a list nor a mapping', hint: 'YAML syntax' });
    const data = Object.create(null) as Record<string, unknown>;
    for (const pair of node.items) {
      const keyNode = pair.key as Node;
      const name = isScalar(keyNode) ? String(keyNode.value) : '';
      const keyAt = at === -1 ? (keyNode.range?.[0] ?? value) : at;
      const keyPath = [...path, name];
      if (isScalar(keyNode) && typeof keyNode.anchor === 'string') anchors.set(keyNode.anchor, keyNode);
      if (!isScalar(keyNode))
        faults.push({ offset: keyAt, path, message: 'has a key that is no plain word', hint: 'write the key out' });
      else if (forbiddenKeys.has(name))
        faults.push({
          offset: keyAt,
          path: keyPath,
          message: 'is a key that no configuration may hold',
          hint: 'rename or remove it',
        });
      else if (Object.hasOwn(data, name))
        faults.push({ offset: keyAt, path: keyPath, message: 'is there twice', hint: 'keep one of the two' });
      else data[name] = visit(pair.value as Node | null, keyPath, keyAt, at, depth + 1);
    }
    return data;
  }

  const data = visit(document.contents, [], document.contents?.range?.[0] ?? 0, -1, 1);
  return { data: gaveUp ? undefined : data, faults, places };
}
