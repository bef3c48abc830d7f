import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatFault } from '../../config/fault.ts';
import { readConfigFile } from '../../gateway/config-file.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { gatewayText } from './gateway-text.ts';
import type { Journal } from './journal.ts';
import { createJournal } from './journal.ts';
import { scenarios } from './scenario.ts';
import type { Servers } from './servers.ts';
import { startServers } from './servers.ts';

/** Everything that runs while the demo does: the servers, and a gateway made from a file in front of them. */
export interface Stage {
  readonly journal: Journal;
  readonly servers: Servers;
  /** `host:port` */
  readonly gatewayAddress: string;
  readonly configPath: string;
  readonly configText: string;
  readonly accessLogPath: string;
  /** Stops everything. */
  close(): Promise<void>;
  /** Takes the files away; does not wait, for a process that is about to end. */
  removeFiles(): void;
}

/** @throws Error when a port or the temporary folder is not to be had; nothing is left behind then */
export async function setStage(): Promise<Stage> {
  const folder = makeFolder();
  const removeFiles = (): void => rmSync(folder, { recursive: true, force: true });
  const configPath = join(folder, 'gateway.yaml');
  const accessLogPath = join(folder, 'access.log');
  const journal = createJournal();
  let servers: Servers | undefined;
  try {
    const started = await startServers(journal);
    servers = started;
    const configText = gatewayText(scenarios, started.addressOf, accessLogPath);
    writeFileSync(configPath, configText);
    const gateway = await startGateway(configPath);
    return {
      journal,
      servers: started,
      gatewayAddress: gateway.addresses[0]!,
      configPath,
      configText,
      accessLogPath,
      async close() {
        await gateway.stop();
        await started.close();
      },
      removeFiles,
    };
  } catch (error) {
    removeFiles();
    await servers?.close();
    throw error;
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'mulligan-demo-'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`no folder for the demo's files: ${why}; let TMPDIR name one that can be written to`, {
      cause: error,
    });
  }
}

async function startGateway(configPath: string): Promise<Gateway> {
  const parsed = readConfigFile(configPath);
  if (!parsed.ok) throw new Error(parsed.faults.map(formatFault).join('\n'));
  const gateway = createGateway(parsed.config);
  await gateway.start();
  return gateway;
}
