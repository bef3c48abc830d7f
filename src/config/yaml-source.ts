import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, Parser } from 'yaml';
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

/** A YAML text as plain data: null-prototype objects, arrays, strings, numbers, booleans, null. */
export interface YamlSource {
  /** `undefined` when the text could not be read at all. */
  readonly data: unknown;
  readonly faults: readonly TextFault[];
  /** Where the value (or its key) at a path begins; the nearest existing parent when the path is not in the text. */
  offsetOf(path: DataPath, atKey: boolean): number;
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

const refusal = (message: string, hint: string, offset: number = 0): TextFault => ({ offset, path: [], message, hint });

/** Reads one YAML 1.2 document of the core schema: unique keys, no tags of one's own, no merge keys. Never throws. */
export function readYaml(text: string): YamlSource {
  try {
    return read(text);
  } catch (error) {
    // The parser is not ours: whatever it throws on an odd text is a fault of that text, never a crash of a running gateway's reload.
    return unreadable([
      refusal('cannot be read as YAML', error instanceof Error ? printable(error.message) : 'the parser gave up'),
    ]);
  }
}

function unreadable(faults: readonly TextFault[]): YamlSource {
  return { data: undefined, faults, offsetOf: () => 0 };
}

function read(text: string): YamlSource {
  if (Buffer.byteLength(text) > yamlLimits.textBytes)
    return unreadable([
      refusal('is larger than 1 MiB', 'a gateway file has a few hundred lines; was another file meant?'),
    ]);
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return unreadable([refusal('holds a NUL character', 'is it a binary file, or UTF-16? save it as UTF-8 text', nul)]);
  const parsed = compose(text);
  if ('fault' in parsed) return unreadable([parsed.fault]);
  const { documents } = parsed;
  const document = documents[0];
  const second = documents[1];
  if (second !== undefined) {
    return unreadable([
      refusal(
        'holds more than one document',
        'keep one: remove the `---` line and what follows it',
        second.contents?.range?.[0] ?? second.range[0],
      ),
    ]);
  }
  if (
    document === undefined ||
    (document.errors.length === 0 &&
      (document.contents === null || (isScalar(document.contents) && document.contents.value === null)))
  ) {
    return unreadable([
      refusal(
        'is empty',
        'it needs at least `listeners`, `upstreams` and `routes`; see `mulligan proxy --help` for a gateway without a file',
      ),
    ]);
  }
  // What a broken text means is a guess: settings are checked only when it can be read for sure.
  if (document.errors.length > 0) return unreadable(syntaxFaults(document, text));
  const walk = walkDocument(document);
  return {
    data: walk.data,
    faults: [...refusedFeatures(document), ...walk.faults],
    offsetOf: (path, atKey) => locate(walk.places, path, atKey),
  };
}

function compose(text: string): { readonly documents: Document.Parsed[] } | { readonly fault: TextFault } {
  const parser = new Parser();
  const tokens = [];
  let tokenCount = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokenCount += 1;
    if (tokenCount > yamlLimits.tokenCount)
      return {
        fault: refusal('has too many parts', `at most ${yamlLimits.tokenCount} words and marks`, parser.offset),
      };
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The composer is recursive: the depth is bounded before it runs. A level takes one place on this stack, the document and a scalar one each.
    if (parser.stack.length > yamlLimits.depth + 4) return { fault: tooDeep(parser.offset, []) };
  }
  for (const token of parser.end()) tokens.push(token);
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    strict: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  return { documents: [...composer.compose(tokens, false, text.length)] };
}

function tooDeep(offset: number, path: DataPath): TextFault {
  return {
    offset,
    path,
    message: `is nested deeper than ${yamlLimits.depth} levels`,
    hint: 'the deepest setting of a gateway file is 5 levels down',
  };
}

function syntaxFaults(document: Document.Parsed, text: string): TextFault[] {
  return document.errors.slice(0, 20).map((error) => {
    const [offset] = error.pos;
    const lineEnd = text.indexOf('\n', offset);
    const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, lineEnd === -1 ? undefined : lineEnd);
    let hint = 'YAML syntax; a value with `: `, ` #` or brackets in it needs quotes';
    if (/(^|[\s,[{])\[[0-9a-f]*:[0-9a-f:.]*\]:\d/i.test(line)) hint = "an IPv6 address needs quotes: '[::1]:8080'";
    else if (error.code === 'TAB_AS_INDENT' || /^\s*\t/.test(line)) hint = 'indent with spaces, not with tabs';
    else if (error.code === 'NON_STRING_KEY') hint = 'keys are plain words';
    return refusal(printable(error.message, 200), hint, offset);
  });
}

function refusedFeatures(document: Document.Parsed): TextFault[] {
  const faults: TextFault[] = [];
  for (const warning of document.warnings.slice(0, 20)) {
    faults.push(
      refusal(printable(warning.message, 200), 'tags (`!name`) are not read: write the plain value', warning.pos[0]),
    );
  }
  const version = document.directives.yaml;
  if (version.explicit === true && version.version !== '1.2')
    faults.push(refusal(`asks for YAML ${version.version}`, 'remove the %YAML line: the file is read as YAML 1.2'));
  return faults;
}

interface Place {
  readonly key: number;
  readonly value: number;
}

function placeKey(path: DataPath): string {
  return JSON.stringify(path);
}

function locate(places: ReadonlyMap<string, Place>, path: DataPath, atKey: boolean): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const place = places.get(placeKey(path.slice(0, length)));
    if (place !== undefined) return atKey && length === path.length ? place.key : place.value;
  }
  return 0;
}

/** The document as plain data, with the place of everything. Aliases are followed, and counted: ten lines of them can stand for a billion values. */
function walkDocument(document: Document.Parsed): {
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
