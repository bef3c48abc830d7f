import { encodeChunked, encodeFields, fieldPairs, hasField } from './fields.ts';
import type { JournalRequest } from './journal.ts';
import { matchesRequest } from './journal.ts';
import type {
  Behaviour,
  Bytes,
  ConnectionBehaviour,
  Endless,
  FullScript,
  OriginScript,
  RequestScript,
  Respond,
  Rule,
  Step,
} from './origin-script.ts';

const reasons: Readonly<Record<number, string>> = {
  100: 'Continue',
  101: 'Switching Protocols',
  103: 'Early Hints',
  200: 'OK',
  204: 'No Content',
  304: 'Not Modified',
  401: 'Unauthorized',
  404: 'Not Found',
  413: 'Content Too Large',
  421: 'Misdirected Request',
  425: 'Too Early',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

export function toBuffer(bytes: Bytes | undefined): Buffer {
  if (bytes === undefined) return Buffer.alloc(0);
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}

function last<T>(list: readonly T[], number: number): T | undefined {
  return list[Math.min(number, list.length) - 1];
}

function isFull(script: OriginScript): script is FullScript {
  return typeof script !== 'function' && !Array.isArray(script) && !('do' in script);
}

function matchesRule(request: JournalRequest, when: Rule['when']): boolean {
  if (when.number !== undefined && when.number !== request.number) return false;
  if (when.requestOnConnection !== undefined && when.requestOnConnection !== request.requestOnConnection) return false;
  return matchesRequest(request, when);
}

const ok: Behaviour = { do: 'respond', body: 'ok' };

/** Which behaviour a request meets. */
export function behaviourFor(script: OriginScript, request: JournalRequest): Behaviour {
  if (isFull(script)) {
    const rule = script.rules?.find((one) => matchesRule(request, one.when));
    if (rule !== undefined) return rule.behave;
    if (script.onConnection !== undefined) return last(script.onConnection, request.requestOnConnection) ?? ok;
    return script.requests === undefined ? ok : behaviourFor(script.requests, request);
  }
  if (typeof script === 'function') return script(request);
  if (Array.isArray(script)) return last(script, request.number) ?? ok;
  return script as Exclude<RequestScript, readonly Behaviour[] | ((request: JournalRequest) => Behaviour)>;
}

export function connectionBehaviourFor(script: OriginScript, connection: number): ConnectionBehaviour {
  if (!isFull(script) || script.connections === undefined) return 'serve';
  if (Array.isArray(script.connections))
    return last(script.connections as readonly ConnectionBehaviour[], connection) ?? 'serve';
  return script.connections as ConnectionBehaviour;
}

/** Turns a behaviour into the steps that the origin plays. */
export function stepsFor(
  behaviour: Behaviour,
  request: JournalRequest,
  retryEcho: (target: string) => Behaviour,
): readonly Step[] {
  switch (behaviour.do) {
    case 'respond':
      return respondSteps(behaviour, request);
    case 'raw':
      return [
        ...opening(behaviour),
        { step: 'send', bytes: behaviour.bytes },
        { step: 'answered' },
        { step: behaviour.then ?? 'keep-alive' },
      ];
    case 'endless':
      return endlessSteps(behaviour);
    case 'retry-echo':
      return stepsFor(retryEcho(request.target), request, retryEcho);
    case 'steps':
      return behaviour.steps;
    case 'reset':
    case 'close':
    case 'destroy':
    case 'hang':
    case 'stop-reading':
      return [...opening(behaviour), { step: behaviour.do }];
  }
}

function opening(behaviour: {
  readonly at?: Respond['at'];
  readonly delayMs?: number;
  readonly gate?: string;
}): Step[] {
  const steps: Step[] = [{ step: 'until', point: behaviour.at ?? 'complete' }];
  if (behaviour.delayMs !== undefined) steps.push({ step: 'wait', ms: behaviour.delayMs });
  if (behaviour.gate !== undefined) steps.push({ step: 'gate', name: behaviour.gate });
  return steps;
}

function statusLine(version: string | undefined, status: number, reason: string | undefined): string {
  return `${version ?? 'HTTP/1.1'} ${String(status).padStart(3, '0')} ${reason ?? reasons[status] ?? 'Status'}\r\n`;
}

function respondSteps(response: Respond, request: JournalRequest): Step[] {
  const status = response.status ?? 200;
  const body = toBuffer(response.body);
  const bodiless = request.method === 'HEAD' || status === 204 || status === 304 || (status >= 100 && status < 200);
  const framing = response.framing ?? (status === 204 || status === 304 || status === 101 ? 'none' : 'length');
  const pairs = fieldPairs(response.headers);
  if (framing === 'length' && !hasField(pairs, 'content-length') && !hasField(pairs, 'transfer-encoding')) {
    pairs.push(['Content-Length', String(response.declaredBytes ?? body.length)]);
  }
  if (framing === 'chunked') pairs.push(['Transfer-Encoding', 'chunked']);

  let head = Buffer.from(
    `${statusLine(response.version, status, response.reason)}${encodeFields(pairs)}\r\n`,
    'latin1',
  );
  const chunks: Buffer[] = [];
  const chunkBytes = response.chunkBytes ?? (body.length || 1);
  for (let at = 0; at < body.length; at += chunkBytes) chunks.push(body.subarray(at, at + chunkBytes));
  const withBody = !bodiless || response.forceBody === true;
  let tail = withBody ? (framing === 'chunked' ? encodeChunked(chunks, response.trailers) : body) : Buffer.alloc(0);
  if (response.cut !== undefined && 'headBytes' in response.cut) {
    head = head.subarray(0, response.cut.headBytes);
    tail = Buffer.alloc(0);
  } else if (response.cut !== undefined) {
    tail = tail.subarray(0, response.cut.bodyBytes);
  }
  tail = Buffer.concat([tail, toBuffer(response.extra)]);

  const steps = opening(response);
  for (const interim of response.interim ?? []) {
    const bytes = `${statusLine(undefined, interim.status, undefined)}${encodeFields(fieldPairs(interim.headers))}\r\n`;
    for (let i = 0; i < (interim.count ?? 1); i++) steps.push({ step: 'send', bytes });
  }
  const dripped = (part: 'head' | 'body', bytes: Buffer): Step => {
    const drip = response.drip;
    if (drip === undefined || (drip.part !== part && drip.part !== 'all')) return { step: 'send', bytes };
    return { step: 'drip', bytes, pieceBytes: drip.pieceBytes, everyMs: drip.everyMs };
  };
  const paused = response.bodyGate !== undefined || response.bodyDelayMs !== undefined;
  if (!paused && response.drip === undefined) {
    // One write, as most servers do: a proxy must also cope with head and body in one segment.
    steps.push({ step: 'send', bytes: Buffer.concat([head, tail]) });
  } else {
    steps.push(dripped('head', head));
    if (response.bodyGate !== undefined) steps.push({ step: 'gate', name: response.bodyGate });
    if (response.bodyDelayMs !== undefined) steps.push({ step: 'wait', ms: response.bodyDelayMs });
    steps.push(dripped('body', tail));
  }
  if (response.cut === undefined) steps.push({ step: 'answered' });
  steps.push({ step: response.then ?? (framing === 'until-close' ? 'close' : 'keep-alive') });
  return steps;
}

function endlessSteps(behaviour: Endless): Step[] {
  const pieceBytes = behaviour.pieceBytes ?? 16 * 1024;
  const start = statusLine(undefined, behaviour.status ?? 200, undefined);
  const pairs = fieldPairs(behaviour.headers);
  if (behaviour.part === 'head') {
    return [
      ...opening({}),
      { step: 'send', bytes: start + encodeFields(pairs) },
      { step: 'send-for-ever', bytes: `X-Filler: ${'f'.repeat(pieceBytes)}\r\n` },
    ];
  }
  const chunked = (behaviour.framing ?? 'chunked') === 'chunked';
  if (chunked) pairs.push(['Transfer-Encoding', 'chunked']);
  const piece = 'e'.repeat(pieceBytes);
  return [
    ...opening({}),
    { step: 'send', bytes: `${start}${encodeFields(pairs)}\r\n` },
    { step: 'send-for-ever', bytes: chunked ? `${pieceBytes.toString(16)}\r\n${piece}\r\n` : piece },
  ];
}
