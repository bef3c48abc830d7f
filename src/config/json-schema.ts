import { z } from 'zod';
import { loadBalancingForms } from './load-balancing-schema.ts';
import { gatewayFile } from './schema.ts';

type JsonSchema = Record<string, unknown>;

/** The JSON Schema of a gateway file (draft 2020-12), for editors; published as `mulligan/config.schema.json`. */
export function gatewayJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(gatewayFile, { io: 'input' }) as JsonSchema;
  return { $schema, title: 'mulligan gateway file', ...(publicForm(schema) as JsonSchema) };
}

/** Without our own `hint` keyword and without what is not supported yet: an editor then marks it like any unknown key. */
function publicForm(value: unknown, key: string = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => publicForm(item));
  if (!isSchema(value)) return value;
  const form: JsonSchema = {};
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'hint' && key !== 'properties') continue;
    if (key === 'properties' && isSchema(inner) && String(inner['description']).startsWith('Not supported yet'))
      continue;
    form[name] = publicForm(inner, name);
  }
  // Short forms are read before the schema sees them.
  if (key === 'endpoints')
    form['items'] = { anyOf: [{ type: 'string', description: 'host:port of a server.' }, form['items']] };
  if (key === 'upstream' && form['type'] === 'array') {
    const { description, ...list } = form;
    return { description, anyOf: [{ type: 'string', minLength: 1 }, list] };
  }
  if (key === 'loadBalancing') return { description: form['description'], anyOf: loadBalancingForms };
  if (key === 'accessLog') {
    const { description, ...object } = form;
    return { description, anyOf: [{ type: 'string', minLength: 1 }, object] };
  }
  if (key === 'ownership' && isSchema(form['properties']) && Object.hasOwn(form['properties'], 'trusted')) {
    const { description, ...object } = form;
    return { description, anyOf: [{ type: 'string', enum: ['trusted'] }, object] };
  }
  return form;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
