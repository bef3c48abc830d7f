import type { z } from 'zod';

/** A field of a resource, as documents write it: `spec.rules[].retry.codes[]`. */
export interface SchemaField {
  readonly path: string;
  /** False: it is told, and left out. */
  readonly supported: boolean;
}

interface Definition {
  readonly type: string;
  readonly shape?: Record<string, z.ZodType>;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
}

/** Every field that a resource of the schema may have, in order; what stands beside `spec` on every resource is left out. */
export function fieldsOf(schema: z.ZodType): readonly SchemaField[] {
  const fields: SchemaField[] = [];
  visit(schema, '', fields);
  return fields.filter(({ path }) => !/^(apiVersion|kind|metadata|status)$/.test(path));
}

function visit(schema: z.ZodType, path: string, fields: SchemaField[]): void {
  const definition = bare(schema);
  if (definition.type === 'object') {
    for (const [name, inner] of Object.entries(definition.shape ?? {})) {
      const below = path === '' ? name : `${path}.${name}`;
      const before = fields.length;
      visit(inner, below, fields);
      if (fields.length === before) fields.push({ path: below, supported: !isIgnored(inner) });
    }
  } else if (definition.type === 'array' && definition.element !== undefined) {
    const before = fields.length;
    visit(definition.element, `${path}[]`, fields);
    if (fields.length === before) fields.push({ path: `${path}[]`, supported: true });
  }
}

/** Without the wrappers that add a default, make it optional or look at the value once more. */
function bare(schema: z.ZodType): Definition {
  let definition = schema.def as unknown as Definition;
  for (;;) {
    const next = definition.innerType ?? (definition.type === 'pipe' ? definition.in : undefined);
    if (next === undefined) return definition;
    definition = next.def;
  }
}

function isIgnored(schema: z.ZodType): boolean {
  const inner = (schema.def as unknown as Definition).innerType ?? schema;
  return inner.meta()?.description?.startsWith('Not supported yet') === true;
}
