import { z } from 'zod';
import { fieldName, fieldValue, hostName, port } from './parts.ts';

export interface BackendObject {
  group: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  port?: number | undefined;
}

export interface BackendRef extends BackendObject {
  weight: number;
  filters: FilterSpec[];
}

export interface FieldChangeSpec {
  set: { name: string; value: string }[];
  add: { name: string; value: string }[];
  remove: string[];
}

export interface PathModifier {
  type: 'ReplaceFullPath' | 'ReplacePrefixMatch';
  replaceFullPath?: string | undefined;
  replacePrefixMatch?: string | undefined;
}

export interface RedirectSpec {
  scheme?: 'http' | 'https' | undefined;
  hostname?: string | undefined;
  path?: PathModifier | undefined;
  port?: number | undefined;
  statusCode: 301 | 302 | 303 | 307 | 308;
}

export interface MirrorSpec {
  backendRef: BackendObject;
  percent?: number | undefined;
  fraction?: { numerator: number; denominator: number } | undefined;
}

export interface FilterSpec {
  type: string;
  requestHeaderModifier?: FieldChangeSpec | undefined;
  responseHeaderModifier?: FieldChangeSpec | undefined;
  requestRedirect?: RedirectSpec | undefined;
  urlRewrite?: { hostname?: string | undefined; path?: PathModifier | undefined } | undefined;
  requestMirror?: MirrorSpec | undefined;
}

const backendObject = z.strictObject({
  group: z.string().prefault(''),
  kind: z.string().prefault('Service'),
  namespace: z.string().optional(),
  name: z.string().min(1),
  port: port.optional(),
});

const header = z.strictObject({ name: fieldName, value: fieldValue });

const fieldChange = z.strictObject({
  set: z.array(header).max(16).prefault([]),
  add: z.array(header).max(16).prefault([]),
  remove: z.array(fieldName).max(16).prefault([]),
});

const path = z
  .strictObject({
    type: z.enum(['ReplaceFullPath', 'ReplacePrefixMatch']),
    replaceFullPath: z.string().max(1024).optional(),
    replacePrefixMatch: z.string().max(1024).optional(),
  })
  .superRefine((modifier, context) => {
    const wanted = modifier.type === 'ReplaceFullPath' ? 'replaceFullPath' : 'replacePrefixMatch';
    if (modifier[wanted] !== undefined) return;
    context.addIssue({
      code: 'custom',
      path: [],
      message: `has no ${wanted}`,
      params: { hint: `type ${modifier.type} needs it` },
    });
  });

const redirect = z.strictObject({
  scheme: z.enum(['http', 'https']).optional(),
  hostname: hostName(false).optional(),
  path: path.optional(),
  port: port.optional(),
  statusCode: z.literal([301, 302, 303, 307, 308]).prefault(302),
});

const mirror = z
  .strictObject({
    backendRef: backendObject,
    percent: z.int().min(0).max(100).optional(),
    fraction: z.strictObject({ numerator: z.int().min(0), denominator: z.int().min(1).prefault(100) }).optional(),
  })
  .superRefine(({ percent, fraction }, context) => {
    if (percent !== undefined && fraction !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['fraction'],
        message: 'stands beside percent',
        params: { hint: 'give one of the two' },
      });
    else if (fraction !== undefined && fraction.numerator > fraction.denominator)
      context.addIssue({
        code: 'custom',
        path: ['fraction'],
        message: 'is more than all requests',
        params: { hint: 'numerator ≤ denominator' },
      });
  });

/** The field that belongs to each type that is supported. */
export const filterFields: Readonly<Record<string, keyof FilterSpec>> = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  RequestMirror: 'requestMirror',
};

export const filter: z.ZodType<FilterSpec> = z
  .strictObject({
    type: z.string().min(1),
    requestHeaderModifier: fieldChange.optional(),
    responseHeaderModifier: fieldChange.optional(),
    requestRedirect: redirect.optional(),
    urlRewrite: z.strictObject({ hostname: hostName(false).optional(), path: path.optional() }).optional(),
    requestMirror: mirror.optional(),
    // Types that are not supported: told by type, where the rule is judged.
    cors: z.unknown().optional(),
    externalAuth: z.unknown().optional(),
    extensionRef: z.unknown().optional(),
  })
  .superRefine((one, context) => {
    const own = filterFields[one.type];
    if (own === undefined) return;
    if (one[own as keyof typeof one] === undefined)
      context.addIssue({
        code: 'custom',
        path: [],
        message: `has no ${own}`,
        params: { hint: `type ${one.type} needs it` },
      });
    for (const other of Object.values(filterFields)) {
      if (other !== own && one[other as keyof typeof one] !== undefined)
        context.addIssue({
          code: 'custom',
          path: [other],
          message: `does not belong to type ${one.type}`,
          params: { hint: 'one filter, one field' },
        });
    }
  });

export const backendRef: z.ZodType<BackendRef> = backendObject.extend({
  weight: z.int().min(0).max(1_000_000).prefault(1),
  filters: z.array(filter).max(16).prefault([]),
});
