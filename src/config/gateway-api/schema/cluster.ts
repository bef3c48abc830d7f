import { z } from 'zod';
import { gatewayDuration, ignoredField, port, resourceSchema } from './parts.ts';

// Kinds of Kubernetes itself have many fields that mean nothing to a gateway: those are passed over in silence.

export interface ServicePort {
  name?: string | null | undefined;
  port: number;
  targetPort?: number | string | undefined;
  protocol?: string | undefined;
  appProtocol?: string | null | undefined;
}

export interface ServiceSpec {
  spec: { type?: string | undefined; ports: ServicePort[] };
}

export const service: z.ZodType<ServiceSpec> = z.object({
  spec: z.object({
    type: z.string().optional(),
    ports: z
      .array(
        z.object({
          name: z.string().nullish(),
          port,
          targetPort: z.union([z.int(), z.string()]).optional(),
          protocol: z.string().optional(),
          appProtocol: z.string().nullish(),
        }),
      )
      .prefault([]),
  }),
});

export interface EndpointSliceSpec {
  addressType: string;
  endpoints: {
    addresses: string[];
    conditions: {
      ready?: boolean | null | undefined;
      serving?: boolean | null | undefined;
      terminating?: boolean | null | undefined;
    };
  }[];
  ports: { name?: string | null | undefined; port?: number | null | undefined; protocol?: string | null | undefined }[];
}

export const endpointSlice: z.ZodType<EndpointSliceSpec> = z.object({
  addressType: z.enum(['IPv4', 'IPv6', 'FQDN']),
  endpoints: z
    .array(
      z.object({
        addresses: z.array(z.string().min(1).max(253)).min(1).max(100),
        conditions: z
          .object({ ready: z.boolean().nullish(), serving: z.boolean().nullish(), terminating: z.boolean().nullish() })
          .nullish()
          .transform((conditions) => conditions ?? {}),
      }),
    )
    .max(1000)
    .nullish()
    .transform((endpoints) => endpoints ?? []),
  ports: z
    .array(z.object({ name: z.string().nullish(), port: port.nullish(), protocol: z.string().nullish() }))
    .max(100)
    .nullish()
    .transform((ports) => ports ?? []),
});

export interface ReferenceGrantSpec {
  spec: {
    from: { group: string; kind: string; namespace: string }[];
    to: { group: string; kind: string; name?: string | undefined }[];
  };
}

export const referenceGrant: z.ZodType<ReferenceGrantSpec> = resourceSchema(
  z.strictObject({
    from: z
      .array(z.strictObject({ group: z.string(), kind: z.string().min(1), namespace: z.string().min(1) }))
      .min(1)
      .max(16),
    to: z
      .array(z.strictObject({ group: z.string(), kind: z.string().min(1), name: z.string().optional() }))
      .min(1)
      .max(16),
  }),
);

export interface TrafficPolicySpec {
  spec: {
    targetRefs: { group: string; kind: string; name: string }[];
    retryConstraint?:
      | {
          budget: { percent: number; interval: number };
          minRetryRate: { count: number; interval: number };
        }
      | undefined;
  };
}

const budgetInterval = gatewayDuration.superRefine((intervalMs, context) => {
  if (intervalMs >= 1000 && intervalMs <= 3_600_000) return;
  context.addIssue({
    code: 'custom',
    message: intervalMs < 1000 ? 'is too short' : 'is too long',
    params: { hint: 'from 1s to 1h' },
  });
});

const rateInterval = gatewayDuration.superRefine((intervalMs, context) => {
  if (intervalMs > 0 && intervalMs <= 3_600_000) return;
  context.addIssue({
    code: 'custom',
    message: intervalMs === 0 ? 'is no time' : 'is too long',
    params: { hint: 'above 0s, at most 1h' },
  });
});

/** BackendTrafficPolicy, and XBackendTrafficPolicy; GEP-3388's defaults. */
export const trafficPolicy: z.ZodType<TrafficPolicySpec> = resourceSchema(
  z.strictObject({
    targetRefs: z
      .array(z.strictObject({ group: z.string(), kind: z.string().min(1), name: z.string().min(1) }))
      .min(1)
      .max(16),
    retryConstraint: z
      .strictObject({
        budget: z
          .strictObject({ percent: z.int().min(0).max(100).prefault(20), interval: budgetInterval.prefault('10s') })
          .prefault({}),
        minRetryRate: z
          .strictObject({ count: z.int().min(1).max(1_000_000).prefault(10), interval: rateInterval.prefault('1s') })
          .prefault({}),
      })
      .optional(),
    sessionPersistence: ignoredField('requests are not bound to an endpoint'),
  }),
);
