import { z } from 'zod';
import { hostName, ignoredField, objectName, port, resourceSchema } from './parts.ts';

export interface LabelSelector {
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?:
    | { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] | undefined }[]
    | undefined;
}

export interface ListenerSpec {
  name: string;
  hostname?: string | undefined;
  port: number;
  protocol: string;
  allowedRoutes: {
    namespaces: { from: 'All' | 'Same' | 'Selector' | 'None'; selector?: LabelSelector | undefined };
    kinds?: { group: string; kind: string }[] | undefined;
  };
}

export interface GatewaySpec {
  spec: {
    gatewayClassName: string;
    listeners: ListenerSpec[];
    addresses?: { type: string; value?: string | undefined }[] | undefined;
  };
}

const selector = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string().min(1),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});

const listener = z
  .strictObject({
    name: objectName('The name of the listener.'),
    hostname: hostName(true).optional(),
    port,
    protocol: z.string().min(1),
    // Judged with the protocol: a listener that needs it is not served at all.
    tls: z.unknown().optional(),
    allowedRoutes: z
      .strictObject({
        namespaces: z
          .strictObject({
            from: z.enum(['All', 'Same', 'Selector', 'None']).prefault('Same'),
            selector: selector.optional(),
          })
          .prefault({}),
        kinds: z
          .array(z.strictObject({ group: z.string().prefault('gateway.networking.k8s.io'), kind: z.string() }))
          .optional(),
      })
      .prefault({}),
  })
  .superRefine(({ protocol, tls }, context) => {
    if (protocol !== 'HTTP' || tls === undefined) return;
    context.addIssue({
      code: 'custom',
      path: ['tls'],
      message: 'does not belong to protocol HTTP',
      params: { hint: 'remove it' },
    });
  });

export const gateway: z.ZodType<GatewaySpec> = resourceSchema(
  z.strictObject({
    gatewayClassName: z.string().min(1),
    listeners: z.array(listener).min(1).max(64),
    addresses: z
      .array(z.strictObject({ type: z.string().prefault('IPAddress'), value: z.string().optional() }))
      .max(16)
      .optional(),
    infrastructure: ignoredField('this gateway makes no infrastructure'),
    allowedListeners: ignoredField('listeners stand in the Gateway itself'),
    tls: ignoredField('listeners speak HTTP only'),
    backendTLS: ignoredField('backends are spoken to in HTTP only'),
    defaultScope: ignoredField('routes name their Gateway'),
  }),
);
