import { Composer, isScalar, Lexer, Parser } from 'yaml';
import type { Document } from 'yaml';
import type { DataPath } from './fault.ts';
import { printable } from './fault.ts';
import type { TextFault } from './yaml-walk.ts';
import { locate, tooDeep, walkDocument, yamlLimits } from './yaml-walk.ts';

/** A YAML text as plain data: null-prototype objects, arrays, strings, numbers, booleans, null. */
export interface YamlSource {
  /** `undefined` when the text could not be read at all. */
  readonly data: unknown;
  readonly faults: readonly TextFault[];
  /** Where the value (or its key) at a path begins; the nearest existing parent when the path is not in the text. */
  offsetOf(path: DataPath, atKey: boolean): number;
}

const refusal = (message: string, hint: string, offset: number = 0): TextFault => ({ offset, path: [], message, hint });

/**
 * Reads one YAML 1.2 document of the core schema: unique keys, no tags of one's own, no merge keys. Never throws.
 * @param emptyHint What an empty text should have in it.
 */
export function readYaml(text: string, emptyHint: string = ''): YamlSource {
  try {
    return read(text, emptyHint);
  } catch (error) {
    return gaveUp(error);
  }
}

/** The parser is not ours: whatever it throws on an odd text is a fault of that text, never a crash of a running gateway's reload. */
function gaveUp(error: unknown): YamlSource {
  return unreadable([
    refusal('cannot be read as YAML', error instanceof Error ? printable(error.message) : 'the parser gave up'),
  ]);
}

function unreadable(faults: readonly TextFault[]): YamlSource {
  return { data: undefined, faults, offsetOf: () => 0 };
}

/**
 * Reads a text of several documents (`---` between them), empty ones left out. The limits hold for the text as a whole.
 * A fault of one document leaves the others readable: its `data` is `undefined`. Never throws.
 */
export function readYamlDocuments(text: string): readonly YamlSource[] {
  try {
    const documents = composeText(text);
    if ('fault' in documents) return [unreadable([documents.fault])];
    return documents.filter((document) => !isEmpty(document)).map((document) => readDocument(document, text));
  } catch (error) {
    return [gaveUp(error)];
  }
}

function read(text: string, emptyHint: string): YamlSource {
  const documents = composeText(text);
  if ('fault' in documents) return unreadable([documents.fault]);
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
  if (document === undefined || isEmpty(document)) {
    return unreadable([refusal('is empty', emptyHint)]);
  }
  return readDocument(document, text);
}

function composeText(text: string): readonly Document.Parsed[] | { readonly fault: TextFault } {
  if (Buffer.byteLength(text) > yamlLimits.textBytes)
    return {
      fault: refusal('is larger than 1 MiB', 'such files have a few hundred lines; was another file meant?'),
    };
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return {
      fault: refusal('holds a NUL character', 'is it a binary file, or UTF-16? save it as UTF-8 text', nul),
    };
  return compose(text);
}

function isEmpty({ errors, contents }: Document.Parsed): boolean {
  return errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null));
}

function readDocument(document: Document.Parsed, text: string): YamlSource {
  // What a broken text means is a guess: settings are checked only when it can be read for sure.
  if (document.errors.length > 0) return unreadable(syntaxFaults(document, text));
  const walk = walkDocument(document);
  return {
    data: walk.data,
    faults: [...refusedFeatures(document), ...walk.faults],
    offsetOf: (path, atKey) => locate(walk.places, path, atKey),
  };
}

function compose(text: string): readonly Document.Parsed[] | { readonly fault: TextFault } {
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
  return [...composer.compose(tokens, false, text.length)];
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
