export { formatFault } from '../config/fault.ts';
export type { ConfigFault } from '../config/fault.ts';
export type {
  AdminConfig,
  BudgetConfig,
  ConnectConfig,
  DnsEndpointSettings,
  EndpointSettings,
  EndpointShare,
  GatewayConfig,
  HealthCheckConfig,
  ListenerConfig,
  ListenerLimits,
  ListenerTlsConfig,
  RouteConfig,
  RouteMatch,
  RouteRetry,
  RouteRewrite,
  RouteTarget,
  SecretSource,
  TracingConfig,
  UpstreamConfig,
  UpstreamTlsConfig,
} from '../config/gateway-config.ts';
export type { TlsFileKind, TlsFileProblem, TlsFiles } from '../config/tls-files.ts';
export type { OwnershipConfig, UpstreamOwnership } from '../config/ownership-config.ts';
export type { HostPort } from '../config/address.ts';
export type {
  FieldChanges,
  FieldSetting,
  PathChange,
  RouteFilters,
  RouteMirror,
  RouteRedirect,
  RouteRefusal,
} from '../config/route-filters.ts';
export type { ConditionType, ResourceCondition } from '../config/gateway-api/condition.ts';
export { parseGatewayApi } from '../config/gateway-api/gateway-api.ts';
export type { GatewayApiReading } from '../config/gateway-api/gateway-api.ts';
export type { ManifestFile } from '../config/gateway-api/resource.ts';
export { parseConfig } from '../config/parse.ts';
export type { ParsedConfig } from '../config/parse.ts';
export { createGateway } from './gateway.ts';
export type { Gateway, GatewayOptions, GatewayPhase } from './gateway.ts';
export { ListenError } from './listener-set.ts';
export type { ResolveName } from './resolve-name.ts';
export type { Clock, Timer } from '../transport/clock.ts';
