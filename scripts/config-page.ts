/** One object or map of the gateway file, or one setting in it. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
}

interface Section {
  readonly path: string;
  readonly schema: Schema;
}

const head = `# The gateway file

<!-- Written by \`npm run schema\` from the schema in src/config: change the descriptions there. -->

\`mulligan serve -c FILE\` reads it, \`mulligan check -c FILE\` looks at it and prints every fault as
\`file:line:column path: message (hint)\`. A setting that is not in this list is a fault, never ignored.

* Durations are a number and \`ms\`, \`s\`, \`m\` or \`h\`: \`250ms\`, \`1.5s\`. Where 0 is allowed, \`0s\` switches off.
* Sizes are a whole number and \`B\`, \`KiB\`, \`MiB\` or \`GiB\`: \`64KiB\`.
* Addresses are \`host:port\`; IPv6 in brackets and quotes: \`'[::1]:8080'\`.
* It is YAML 1.2 of the core schema: no tags, no merge keys; anchors and aliases are fine.

An editor that knows JSON Schema completes and checks the file with \`mulligan/config.schema.json\`.

## While it runs

* **SIGHUP, or a change of the file,** takes the new file into use as a whole; a file with faults changes nothing and
  says why. Requests under way end under the configuration they began with, their retries too. An upstream that did not
  change goes on as it is. One that did keeps its requests in flight (they count against the new limit), what is known
  of addresses that stay, and its connections and budget unless it is their own settings that changed. Other limits of
  a listener take effect without closing it; only another \`server\` for the same address means a moment in which
  connections are refused.
* **SIGTERM or SIGINT** drains: the listener closes, answers say \`Connection: close\`, a connection on which nothing is
  asked for is closed after a second, and what is in flight may take \`shutdown.drain\`. Tunnels
  that are open after that are closed on both sides. A second signal ends it now.
* **SIGUSR2** opens the access log anew. To rotate it, move the file away and send the signal: what was being written
  goes to the file that was moved, everything after it to the new one, and no line is lost.

## Endpoints from DNS

A name in \`endpoints\` is resolved as every program of the machine does it (hosts file, search domains), in the
background and never for a request. That way the time to live of an answer cannot be seen: \`refresh\` says how often to
ask. A start or a reload waits at most five seconds for the first answer, and then goes on without.

While a name cannot be answered, its last good addresses stay in use for one hour, and the log says so once; a name that
never had an address answers its requests with 503 and says why in the record. Attempts on an address that goes end where
they are; the next attempt goes to an address of the new list. Addresses that are link-local, unspecified, multicast or
broadcast (also in their IPv6 forms) are never connected to.

## Unhealthy endpoints

An endpoint that fails its health checks gets no request while there is another one. When none is left, the fault is more
likely that of the checks: all of them are used (panic rule), the log says so, and so do the metrics. An endpoint counts
as well until checks have said otherwise, so a new one serves at once.
`;

/** The page of every setting: a section an object, a row a setting. */
export function configPage(schema: unknown): string {
  const sections: Section[] = [];
  collect({ path: '', schema: schema as Schema }, sections);
  const blocks = sections.map((section) => {
    const { path, schema: own } = section;
    const title = path === '' ? '## Settings' : `### \`${path}\``;
    const text = path === '' ? 'What stands at the top of the file.' : (own.description ?? '');
    return [title, '', ...(text === '' ? [] : [text, '']), table(section)].join('\n');
  });
  return `${[head, ...blocks].join('\n').trimEnd()}\n`;
}

function collect(section: Section, into: Section[]): void {
  into.push(section);
  for (const [name, inner] of Object.entries(section.schema.properties ?? {})) {
    const found = objectIn(inner, section.path === '' ? name : `${section.path}.${name}`);
    if (found !== undefined) collect(found, into);
  }
}

/** The object with settings of its own that a setting holds, directly, in a list or by name. */
function objectIn(schema: Schema, path: string): Section | undefined {
  if (schema.properties !== undefined) return { path, schema };
  if (schema.items !== undefined) return objectIn(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') return objectIn(schema.additionalProperties, `${path}.NAME`);
  for (const form of schema.anyOf ?? []) {
    const found = objectIn(form, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

function table({ path, schema }: Section): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, setting]) => {
    const inner = objectIn(setting, path === '' ? name : `${path}.${name}`);
    const value = inner === undefined ? kindOf(setting) : `${kindOf(setting)}, [below](#${anchorOf(inner.path)})`;
    const fallback = schema.required?.includes(name) === true ? 'required' : defaultOf(setting);
    return `| \`${name}\` | ${cell(value)} | ${cell(fallback)} | ${cell(setting.description ?? '')} |`;
  });
  return ['| setting | value | default | what it does |', '|---|---|---|---|', ...rows, ''].join('\n');
}

/** What GitHub makes of the heading. */
function anchorOf(path: string): string {
  return path.toLowerCase().replaceAll(/[^\w-]/g, '');
}

function kindOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${String(word)}\``).join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.anyOf !== undefined) return schema.anyOf.map(kindOf).join(' or ');
  if (schema.items !== undefined) return `list of: ${kindOf(schema.items)}`;
  if (schema.pattern?.includes('ms|s|m|h') === true) return 'duration';
  if (schema.pattern?.includes('KiB') === true) return 'size';
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.map((type) => kindOfType(type, schema)).join(' or ');
}

function kindOfType(type: string, { minimum, maximum }: Schema): string {
  switch (type) {
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'whole number' : 'number'}${minimum === undefined ? '' : ` ${minimum} to ${maximum}`}`;
    case 'boolean':
      return '`true` or `false`';
    case 'object':
      return 'mapping';
    case 'string':
      return 'text';
    default:
      return type;
  }
}

function defaultOf({ default: fallback }: Schema): string {
  if (fallback === undefined || (typeof fallback === 'object' && fallback !== null && !Array.isArray(fallback)))
    return '';
  if (Array.isArray(fallback)) return `\`[${fallback.join(', ')}]\``;
  return `\`${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}
