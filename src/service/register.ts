/**
 * `node --import mulligan/register app.js`: makes a service a citizen of error ownership without a line of code. What it
 * does is said by `mulligan.service.yaml` and by variables MULLIGAN_…
 */
import { readConfiguration } from './configuration.ts';
import { installedService, installService } from './install.ts';
import { tellOnStderr } from './stderr-line.ts';

async function register(tell: (line: string) => void): Promise<void> {
  // Preloaded twice (NODE_OPTIONS and the command line, say) it is there once.
  if (installedService() !== undefined) return;
  const configuration = await readConfiguration(process.env);
  if (!configuration.ok) {
    tell('mulligan: error ownership is off, for its configuration has faults:');
    for (const fault of configuration.faults) tell(`mulligan: ${fault}`);
    return;
  }
  const { options } = configuration;
  if (options.mode !== 'off' && (options.trust ?? []).length === 0) {
    tell(
      'mulligan: nobody is trusted, so no claim is read or written; name your network in MULLIGAN_TRUST (10.0.0.0/8)',
    );
  }
  installService(options, { tell });
}

// An application must start whatever becomes of us.
try {
  await register(tellOnStderr);
} catch (error) {
  tellOnStderr(`mulligan: error ownership is off: ${error instanceof Error ? error.message : String(error)}`);
}
