import type { Socket } from 'node:net';
import { fieldValues } from './fields.ts';
import type { ConnectionEntry, JournalRecord, RequestEntry } from './journal.ts';
import { createMessageReader, type Framing } from './message-reader.ts';
import type { Behaviour, ConnectionBehaviour, OriginScript, RequestPoint, Step, Then } from './origin-script.ts';
import { behaviourFor, connectionBehaviourFor, stepsFor, toBuffer } from './origin-steps.ts';
import type { Signal } from './signal.ts';

/** Resolves after so long. @throws when the signal is aborted before */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export interface OriginConnection {
  readonly socket: Socket;
  readonly entry: ConnectionEntry;
  readonly journal: JournalRecord;
  readonly signal: Signal;
  readonly script: () => OriginScript;
  readonly retryEcho: (target: string) => Behaviour;
  readonly gateOpen: (name: string) => boolean;
  readonly wait: Wait;
  /** A fault of the script or of this file, never of the client. */
  readonly problem: (error: unknown) => void;
}

/** A behaviour must not outlive a client that is gone, but may be kept waiting as long as a test likes. */
const behaviourPatienceMs = 120_000;

const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([!-~\x80-\xff]+) (HTTP\/\d\.\d)$/;

/** Reads and records what arrives on one connection, and plays the behaviours of its requests, one after another. */
export function serveConnection(connection: OriginConnection): void {
  const { socket, entry, journal, signal } = connection;
  const behaviour: ConnectionBehaviour = connectionBehaviourFor(connection.script(), entry.number);
  const limit = typeof behaviour === 'object' && 'afterBytes' in behaviour ? behaviour : undefined;
  const answers = behaviour === 'serve' || typeof behaviour === 'object';
  let current: RequestEntry | undefined;
  const open = new Set<RequestEntry>();
  let playing: Promise<void> = Promise.resolve();
  const abort = new AbortController();

  const fault = (message: string): void => {
    if (current !== undefined) current.fault ??= message;
  };
  const reader = createMessageReader({
    begin() {
      current = journal.request(entry, open.size > 0);
      open.add(current);
    },
    head(startLine, fields) {
      const request = current!;
      const match = requestLine.exec(startLine);
      if (match === null) fault(`not a request line: ${JSON.stringify(startLine)}`);
      [, request.method, request.target, request.version] = match ?? [startLine, '', startLine, ''];
      request.fields = fields;
      request.headAtMs = journal.nowMs();
      const framing = requestFraming(request, fault);
      request.framing = framing.kind === 'until-close' ? 'none' : framing.kind;
      if (answers) playing = playing.then(() => play(connection, request, abort.signal, () => open.delete(request)));
      return framing;
    },
    body(chunk) {
      current!.bytes.add(chunk);
    },
    complete(trailers) {
      current!.trailers = trailers;
      current!.completeAtMs = journal.nowMs();
    },
    fault,
  });

  const clientLeft = (): void => {
    if (entry.endedByOriginAtMs !== undefined) return;
    for (const request of open) request.closedByClientAtMs ??= journal.nowMs();
  };
  socket.on('data', (chunk: Buffer) => {
    entry.bytes.add(chunk);
    reader.push(chunk);
    if (limit !== undefined && entry.bytesReceived >= limit.afterBytes) end(socket, limit.then);
    signal.changed();
  });
  socket.on('end', () => {
    entry.finByClientAtMs = journal.nowMs();
    reader.end();
    clientLeft();
    signal.changed();
    // Only a behaviour that is still sending may go on after the client's FIN (a half-closed client wants its answer).
    if (!answers) socket.end();
    void playing.then(() => socket.end());
  });
  socket.on('error', () => {
    entry.resetByClientAtMs = journal.nowMs();
    clientLeft();
  });
  socket.on('close', () => {
    entry.closedAtMs = journal.nowMs();
    abort.abort();
    signal.changed();
  });

  if (behaviour === 'stop-reading') return;
  if (behaviour === 'reset' || behaviour === 'close' || behaviour === 'destroy') end(socket, behaviour);
  if (typeof behaviour === 'object' && 'send' in behaviour) socket.write(toBuffer(behaviour.send));
  socket.resume();
}

function requestFraming(request: RequestEntry, fault: (message: string) => void): Framing {
  const codings = fieldValues(request.fields, 'transfer-encoding');
  const lengths = fieldValues(request.fields, 'content-length');
  if (codings.length > 0 && lengths.length > 0) fault('both Content-Length and Transfer-Encoding');
  if (codings.length > 1 || (codings.length === 1 && codings[0]!.toLowerCase() !== 'chunked'))
    fault(`Transfer-Encoding: ${codings.join(', ')}`);
  if (lengths.length > 1 || (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0]!)))
    fault(`Content-Length: ${lengths.join(', ')}`);
  if (codings.length > 0) return { kind: 'chunked' };
  if (lengths.length > 0) return { kind: 'length', bytes: Number(lengths[0]) || 0 };
  return { kind: 'none' };
}

async function play(
  connection: OriginConnection,
  request: RequestEntry,
  closed: AbortSignal,
  answered: () => void,
): Promise<void> {
  try {
    for (const step of stepsFor(behaviourFor(connection.script(), request), request, connection.retryEcho)) {
      if (closed.aborted || !connection.socket.writable) return;
      await playStep(connection, request, step, closed, answered);
    }
  } catch (error) {
    // A client that leaves in the middle is what most tests are about.
    if (!closed.aborted && connection.socket.writable) connection.problem(error);
  }
}

async function playStep(
  connection: OriginConnection,
  request: RequestEntry,
  step: Step,
  closed: AbortSignal,
  answered: () => void,
): Promise<void> {
  const { socket, signal } = connection;
  const until = (check: () => boolean, what: string): Promise<boolean> =>
    signal.until(() => closed.aborted || check(), {
      what,
      describe: () => connection.journal.dump(),
      timeoutMs: behaviourPatienceMs,
    });
  switch (step.step) {
    case 'until':
      await until(() => reached(request, step.point), 'the request to come so far');
      return;
    case 'wait':
      await connection.wait(step.ms, closed);
      return;
    case 'gate':
      await until(() => connection.gateOpen(step.name), `the gate ${step.name}`);
      return;
    case 'send':
      await send(socket, toBuffer(step.bytes), closed);
      return;
    case 'answer': {
      const body = step.with();
      await send(socket, toBuffer(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`), closed);
      return;
    }
    case 'drip': {
      const bytes = toBuffer(step.bytes);
      for (let at = 0; at < bytes.length && !closed.aborted; at += step.pieceBytes) {
        if (at > 0) await connection.wait(step.everyMs, closed);
        await send(socket, bytes.subarray(at, at + step.pieceBytes), closed);
      }
      return;
    }
    case 'send-for-ever': {
      const bytes = toBuffer(step.bytes);
      while (!closed.aborted && socket.writable) await send(socket, bytes, closed);
      return;
    }
    case 'resume-reading':
      socket.resume();
      return;
    case 'answered':
      request.answeredAtMs = connection.journal.nowMs();
      answered();
      signal.changed();
      return;
    case 'hang':
      await until(() => connection.entry.finByClientAtMs !== undefined, 'the client to leave');
      return;
    default:
      connection.entry.endedByOriginAtMs ??= step.step === 'keep-alive' ? undefined : connection.journal.nowMs();
      end(socket, step.step);
      signal.changed();
  }
}

function reached(request: RequestEntry, point: RequestPoint): boolean {
  if (point === 'head') return request.headComplete;
  if (point === 'complete') return request.complete;
  return request.complete || request.bodyBytes >= point.bodyBytes;
}

/** Resolves when the operating system has the bytes, so that a reset after it does not overtake them. */
function send(socket: Socket, bytes: Buffer, closed: AbortSignal): Promise<void> {
  if (bytes.length === 0 || closed.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      closed.removeEventListener('abort', done);
      resolve();
    };
    closed.addEventListener('abort', done);
    socket.write(bytes, done);
  });
}

function end(socket: Socket, then: Then): void {
  if (then === 'close') socket.end();
  else if (then === 'destroy') socket.destroy();
  else if (then === 'reset') socket.resetAndDestroy();
  else if (then === 'stop-reading') socket.pause();
}
