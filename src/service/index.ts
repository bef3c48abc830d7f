export { answersFor, ownsError, remainingTimeMs, serviceMetrics } from './answering.ts';
export { expressOwnership, expressOwnershipErrors } from './adapters/express.ts';
export { fastifyOwnership } from './adapters/fastify.ts';
export { honoOwnership } from './adapters/hono.ts';
export { withOwnership } from './adapters/node-http.ts';
export { fallback, optional, required } from './edges.ts';
export { installService } from './install.ts';
export { outboundTracker } from '../engine/outbound-tracking.ts';
export { servicePrometheusText } from './prometheus-text.ts';

export type { ExpressNext, ExpressRequest } from './adapters/express.ts';
export type { FastifyDone, FastifyHooks, FastifyOwnershipReply, FastifyOwnershipRequest } from './adapters/fastify.ts';
export type { HonoContext } from './adapters/hono.ts';
export type { NodeHandler } from './adapters/node-http.ts';
export type { EdgeMetrics, OperationMetrics, ServiceMetrics } from './counters.ts';
export type { InstalledService, InstallOptions } from './install.ts';
export type { ServiceHost } from './service.ts';
export type { EdgeSettings, ServiceOptions, ServiceSettings } from './settings.ts';
export type { AttemptNote, OutboundStart, OutboundTracker, TrackedCall } from '../engine/outbound-tracking.ts';
