import { isNamed, listMembers } from './field-list.ts';
import type { BodyKind, FieldList } from './message.ts';
import type { ParseFaultCode } from './parse-fault.ts';

/** What a header section says about framing, connection and routing, gathered in one walk over the fields. */
export interface HeadFacts {
  /** −1: no Content-Length. */
  contentLength: number;
  chunked: boolean;
  close: boolean;
  keepAlive: boolean;
  /** `Connection: upgrade` was seen. */
  connectionUpgrade: boolean;
  upgradeField: boolean;
  /** Milliseconds; −1: none. */
  keepAliveTimeoutMs: number;
  host: string | undefined;
  expectContinue: boolean;
}

export interface BodyFraming {
  readonly kind: BodyKind;
  /** False when the message leaves doubt about where the next one begins. */
  readonly reusable: boolean;
}

/**
 * Reads the facts into `facts` (all of it is overwritten); returns the fault that makes the head unusable, if any.
 * Host and Expect mean something in a request only.
 */
export function readHeadFacts(
  kind: 'request' | 'response',
  fields: FieldList,
  versionMinor: 0 | 1,
  facts: HeadFacts,
): ParseFaultCode | undefined {
  resetFacts(facts);
  let coding: string | undefined;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    switch (name.length) {
      case 4:
        if (kind === 'response' || !isNamed(name, 'host')) break;
        if (facts.host !== undefined) return 'DUPLICATE_HOST';
        facts.host = value;
        break;
      case 6:
        if (kind === 'response' || !isNamed(name, 'expect')) break;
        if (facts.expectContinue || value.toLowerCase() !== '100-continue') return 'BAD_EXPECT';
        facts.expectContinue = true;
        break;
      case 7:
        if (isNamed(name, 'upgrade')) facts.upgradeField = true;
        break;
      case 10:
        if (isNamed(name, 'connection')) readConnection(value, facts);
        else if (isNamed(name, 'keep-alive')) facts.keepAliveTimeoutMs = keepAliveTimeoutMs(value);
        break;
      case 14:
        if (!isNamed(name, 'content-length')) break;
        if (facts.contentLength !== -1) return 'DUPLICATE_CONTENT_LENGTH';
        facts.contentLength = decimal(value);
        if (facts.contentLength === -1) return value.includes(',') ? 'DUPLICATE_CONTENT_LENGTH' : 'BAD_CONTENT_LENGTH';
        break;
      case 16:
        // Not a standard field, but some peers close by it, Node among them; waiting for more would be in vain.
        if (isNamed(name, 'proxy-connection') && listMembers(value.toLowerCase()).includes('close')) facts.close = true;
        break;
      case 17:
        if (!isNamed(name, 'transfer-encoding')) break;
        if (coding !== undefined) return 'BAD_TRANSFER_ENCODING';
        coding = value;
        break;
    }
  }
  if (coding === undefined) return undefined;
  return readCoding(coding, versionMinor, facts);
}

export function emptyHeadFacts(): HeadFacts {
  return {
    contentLength: -1,
    chunked: false,
    close: false,
    keepAlive: false,
    connectionUpgrade: false,
    upgradeField: false,
    keepAliveTimeoutMs: -1,
    host: undefined,
    expectContinue: false,
  };
}

function resetFacts(facts: HeadFacts): void {
  facts.contentLength = -1;
  facts.chunked = false;
  facts.close = false;
  facts.keepAlive = false;
  facts.connectionUpgrade = false;
  facts.upgradeField = false;
  facts.keepAliveTimeoutMs = -1;
  facts.host = undefined;
  facts.expectContinue = false;
}

/** Whether the connection may carry another message, as far as the head says (RFC 9112 §9.3); `close` beats all. */
export function persists(facts: HeadFacts, versionMinor: 0 | 1): boolean {
  return !facts.close && (versionMinor === 1 || facts.keepAlive);
}

/**
 * Body of a response (RFC 9112 §6.3). A 204 may not declare one; when it does, none is read and the connection is not
 * reused, for the peer may well send it. HEAD and 304 declare what they would have sent.
 */
export function responseBody(facts: HeadFacts, status: number, requestMethod: string): BodyFraming {
  if (requestMethod === 'HEAD' || status === 304) return { kind: 'none', reusable: true };
  if (status === 204) return { kind: 'none', reusable: !facts.chunked && facts.contentLength <= 0 };
  if (facts.chunked) return { kind: 'chunked', reusable: true };
  if (facts.contentLength !== -1) return { kind: 'length', reusable: true };
  return { kind: 'until-close', reusable: false };
}

function readCoding(coding: string, versionMinor: 0 | 1, facts: HeadFacts): ParseFaultCode | undefined {
  if (versionMinor === 0) return 'CODING_IN_HTTP_1_0';
  // Whoever reads one and whoever reads the other see different messages: the classic smuggling pair.
  if (facts.contentLength !== -1) return 'LENGTH_AND_CODING';
  const lower = coding.toLowerCase();
  if (lower === 'chunked') {
    facts.chunked = true;
    return undefined;
  }
  // `gzip, chunked` is well framed but not understood; anything else has no safe length.
  const members = listMembers(lower);
  const wellFramed = members.length > 1 && members.indexOf('chunked') === members.length - 1;
  return wellFramed ? 'UNKNOWN_TRANSFER_ENCODING' : 'BAD_TRANSFER_ENCODING';
}

function readConnection(value: string, facts: HeadFacts): void {
  if (value === 'keep-alive') {
    facts.keepAlive = true;
    return;
  }
  for (const member of listMembers(value.toLowerCase())) {
    if (member === 'close') facts.close = true;
    else if (member === 'keep-alive') facts.keepAlive = true;
    else if (member === 'upgrade') facts.connectionUpgrade = true;
  }
}

/** 1*DIGIT without leading zeros up to 2^53 − 1, else −1. `010` is eight to some peers and ten to others. */
function decimal(value: string): number {
  const length = value.length;
  if (length === 0 || length > 16 || (length > 1 && value.charCodeAt(0) === 0x30)) return -1;
  let number = 0;
  for (let i = 0; i < length; i++) {
    const digit = value.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number <= Number.MAX_SAFE_INTEGER ? number : -1;
}

/** `timeout=5, max=100`: the timeout in milliseconds, or −1. It only shortens how long we keep a connection. */
function keepAliveTimeoutMs(value: string): number {
  for (const member of listMembers(value)) {
    if (!isNamed(member.slice(0, 8), 'timeout=')) continue;
    const seconds = decimal(member.slice(8));
    if (seconds !== -1) return Math.min(seconds * 1000, 2 ** 31 - 1);
  }
  return -1;
}
