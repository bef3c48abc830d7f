export { formatResults } from './format-results.ts';
export { isSimulationMode, SIMULATION_MODES } from './mode.ts';
export { htmlReport } from './report/html-report.ts';
export { readSource } from './read-source.ts';
export { readTopology } from './read-topology.ts';
export { createSimulation, simulate } from './simulation.ts';
export { verdictLine } from './verdict-line.ts';

export type { SimulationMode } from './mode.ts';
export type { ReportOptions } from './report/html-report.ts';
export type { ReadTopology } from './read-topology.ts';
export type {
  CallResult,
  FaultResult,
  LatencyResult,
  NodeResult,
  RecoveryResult,
  RootResult,
  ServiceResult,
  SimulationResult,
  SimulationTotals,
  StopCounts,
  TotalSeries,
} from './result.ts';
export type { ServiceTime } from './service-time.ts';
export type { Simulation, SimulationOptions } from './simulation.ts';
export type {
  Capacity,
  DeadlineRules,
  FaultEffect,
  Topology,
  TopologyCall,
  TopologyFault,
  TopologyOperation,
  TopologyRoot,
  TopologyService,
} from './topology.ts';
export type { ReadSource, SourceFormat, SourcePlace, TopologySource, Untold } from './topology-source.ts';
