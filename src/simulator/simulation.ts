import { CallState } from './call-state.ts';
import { Caller } from './caller.ts';
import { EVENT, type SimulationClock } from './clock.ts';
import { EventQueue } from './event-queue.ts';
import { Faults } from './faults.ts';
import { Instance } from './instance.ts';
import { Measures } from './measures.ts';
import { inMode, type SimulationMode } from './mode.ts';
import { OperationState, type ServiceState } from './operation-state.ts';
import { QueueSamples } from './queue-samples.ts';
import { Random } from './random.ts';
import { buildResult } from './build-result.ts';
import type { SimulationResult } from './result.ts';
import { RootState } from './root-state.ts';
import { intervalFor } from './series.ts';
import { Server } from './server.ts';
import type { Topology } from './topology.ts';

export interface SimulationOptions {
  /** Which protections take part. Default `file`: all that the topology has. */
  readonly mode?: SimulationMode | undefined;
  /** Default: the topology's. The same seed gives the same result, on every machine. */
  readonly seed?: number | undefined;
  /** Default: the topology's. */
  readonly durationMs?: number | undefined;
}

/** A run under way. */
export interface Simulation {
  /** Virtual time in milliseconds. */
  readonly nowMs: number;
  readonly durationMs: number;
  /** Attempts that arrived at a service so far. */
  readonly hopCount: number;
  /** Lets at most `maxEvents` events happen; true when the run has come to its end. */
  advance(maxEvents: number): boolean;
  /** What there is so far. */
  result(): SimulationResult;
}

/** Streams of random numbers; those of the roots follow, so that arrivals are the same in every mode. */
const WORLD_STREAM = 1;
const CALLERS_STREAM = 2;
const FIRST_ROOT_STREAM = 3;

/** @throws RangeError for a topology with a number out of its range; one that was read from a file has none */
export function createSimulation(topology: Topology, options: SimulationOptions = {}): Simulation {
  const { mode = 'file', seed = topology.seed, durationMs = topology.durationMs } = options;
  return new Run({ ...inMode(topology, mode), seed, durationMs }, mode);
}

/** Runs it to its end. Takes as long as it takes: `createSimulation` is for those who want to see how far it is. */
export function simulate(topology: Topology, options: SimulationOptions = {}): SimulationResult {
  const simulation = createSimulation(topology, options);
  while (!simulation.advance(1_000_000));
  return simulation.result();
}

class Run implements Simulation {
  readonly durationMs: number;
  readonly #topology: Topology;
  readonly #mode: SimulationMode;
  readonly #intervalMs: number;
  readonly #clock: SimulationClock;
  readonly #services: readonly ServiceState[];
  readonly #operations: readonly OperationState[];
  readonly #calls: readonly CallState[];
  readonly #roots: readonly RootState[];
  readonly #caller: Caller;
  readonly #server: Server;
  readonly #faults: Faults;
  readonly #samples: QueueSamples;
  #isOver = false;

  constructor(topology: Topology, mode: SimulationMode) {
    const { seed, durationMs } = topology;
    this.#topology = topology;
    this.#mode = mode;
    this.durationMs = durationMs;
    const intervalMs = intervalFor(durationMs);
    this.#intervalMs = intervalMs;
    this.#services = topology.services.map((spec) => ({
      spec,
      instances: Array.from(
        { length: spec.instanceCount },
        (_, index) => new Instance(`${spec.name}-${index}`, spec.capacity),
      ),
    }));
    this.#operations = topology.operations.map(
      (spec, index) => new OperationState(spec, this.#services[spec.service]!, index, new Measures(intervalMs)),
    );
    this.#calls = topology.calls.map((spec) => new CallState(spec, this.#operations[spec.to]!, topology, intervalMs));
    for (const operation of this.#operations)
      operation.steps = operation.spec.steps.map((step) => step.map((call) => this.#calls[call]!));
    this.#clock = {
      queue: new EventQueue(),
      world: new Random(seed, WORLD_STREAM),
      callers: new Random(seed, CALLERS_STREAM),
    };
    this.#roots = topology.roots.map((spec, index) => {
      const call = this.#calls[spec.call]!;
      const root = new RootState(spec, call, new Random(seed, FIRST_ROOT_STREAM + index), intervalMs);
      call.root = root;
      return root;
    });
    this.#caller = new Caller(this.#clock, topology.deadlines.marginMs, intervalMs);
    this.#server = new Server(this.#clock, this.#caller, topology);
    this.#caller.connect(this.#server);
    this.#faults = new Faults(topology, this.#services, this.#operations);
    this.#samples = new QueueSamples(this.#services);
    this.#scheduleFirst();
  }

  get nowMs(): number {
    return this.#isOver ? this.durationMs : this.#clock.queue.nowMs;
  }

  get hopCount(): number {
    return this.#operations.reduce((sum, { measures }) => sum + measures.arrived.total, 0);
  }

  advance(maxEvents: number): boolean {
    const { queue } = this.#clock;
    for (let count = 0; count < maxEvents && !this.#isOver; count += 1) {
      if (queue.next(this.durationMs)) this.#happen(queue.kind, queue.target, queue.ticket);
      else this.#isOver = true;
    }
    return this.#isOver;
  }

  result(): SimulationResult {
    return buildResult({
      topology: this.#topology,
      mode: this.#mode,
      intervalMs: this.#intervalMs,
      nowMs: this.nowMs,
      intervalCount: this.#intervalCount(),
      services: this.#services,
      operations: this.#operations,
      calls: this.#calls,
      roots: this.#roots,
      retries: this.#caller.retries,
      suppressed: this.#caller.suppressed,
      samples: this.#samples,
    });
  }

  /** With the one that has begun. */
  #intervalCount(): number {
    return this.#isOver
      ? Math.ceil(this.durationMs / this.#intervalMs)
      : Math.floor(this.#clock.queue.nowMs / this.#intervalMs) + 1;
  }

  #happen(kind: number, target: number, ticket: number): void {
    switch (kind) {
      case EVENT.arrival:
        return this.#arrive(this.#roots[target]!, target);
      case EVENT.workDone:
        return this.#server.workDone(this.#server.requests.items[target]!);
      case EVENT.answer:
        return this.#server.answer(this.#server.requests.items[target]!);
      case EVENT.faults:
        for (const instance of this.#faults.apply(this.#clock.queue.nowMs)) this.#server.wake(instance);
        return;
      case EVENT.sample:
        this.#samples.take();
        return this.#clock.queue.schedule(this.#clock.queue.nowMs + this.#intervalMs, EVENT.sample, 0, 0);
      default:
        return this.#callEvent(kind, target, ticket);
    }
  }

  #callEvent(kind: number, target: number, ticket: number): void {
    const run = this.#caller.runs.items[target]!;
    if (kind === EVENT.alarm) return this.#caller.alarm(run);
    if (run.ticket !== ticket) return;
    if (kind === EVENT.retry) this.#caller.retry(run);
    else this.#caller.failed(run, run.dueFailure!);
  }

  #arrive(root: RootState, index: number): void {
    root.arrived.add(this.#clock.queue.nowMs);
    this.#scheduleArrival(root, index);
    this.#caller.start(root.call, undefined);
  }

  #scheduleArrival(root: RootState, index: number): void {
    this.#clock.queue.schedule(root.nextArrivalMs(), EVENT.arrival, index, 0);
  }

  #scheduleFirst(): void {
    const { queue } = this.#clock;
    for (const atMs of this.#faults.changesAtMs) queue.schedule(atMs, EVENT.faults, 0, 0);
    queue.schedule(this.#intervalMs, EVENT.sample, 0, 0);
    for (const [index, root] of this.#roots.entries()) this.#scheduleArrival(root, index);
  }
}
