/**
 * Compares the public surface with its reviewed record in `api/`: the list of public names, and one report per entry of
 * package.json's `exports`, made from the built declarations. `--update` writes the record anew: look at the difference
 * before it is committed.
 * A type that can be reached from the surface but imported from no entry is a fault too: nobody could name it.
 * Exit codes: 0 current, 1 not.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import type { ExtractorMessage } from '@microsoft/api-extractor';
import { exportedNames, publicEntries } from './entries.ts';
import type { Entry } from './entries.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const update = process.argv.includes('--update');
const entries = publicEntries();
const importable = new Set(entries.flatMap(namesOf));
let faultCount = 0;

const list = `${entries.flatMap(linesOf).join('\n')}\n`;
const listFile = `${root}/api/exports.txt`;
if (update) {
  writeFileSync(listFile, list);
} else if (!existsSync(listFile) || readFileSync(listFile, 'utf8') !== list) {
  console.error('api/exports.txt is not current; run npm run api -- --update and review the difference');
  faultCount += 1;
}

for (const entry of entries) {
  const faults = checkEntry(entry);
  for (const fault of faults) console.error(`${entry.specifier}: ${fault}`);
  faultCount += faults.length;
}
process.exitCode = faultCount === 0 ? 0 : 1;

function namesOf(entry: Entry): string[] {
  return linesOf(entry).map((line) => line.slice(line.lastIndexOf(' ') + 1));
}

/** The lines of one entry in api/exports.txt. */
function linesOf(entry: Entry): string[] {
  if (!existsSync(`${root}/${entry.source}`)) return [];
  const { values, types } = exportedNames(readFileSync(`${root}/${entry.source}`, 'utf8'));
  return [
    ...values.map((name) => `${entry.specifier} ${name}`),
    ...types.map((name) => `${entry.specifier} type ${name}`),
  ];
}

function checkEntry(entry: Entry): string[] {
  if (!existsSync(`${root}/${entry.types}`)) return [`${entry.types} does not exist; run npm run build`];
  const faults: string[] = [];
  const onMessage = (message: ExtractorMessage): void => {
    message.handled = true;
    if (message.logLevel === ExtractorLogLevel.Error) faults.push(message.text);
    const symbol = /symbol "(.+?)"/.exec(message.text)?.[1];
    if (message.messageId === 'ae-forgotten-export' && symbol !== undefined && !importable.has(symbol)) {
      faults.push(`${symbol} is part of the surface but no entry exports it`);
    }
  };
  const result = Extractor.invoke(configFor(entry), { localBuild: update, messageCallback: onMessage });
  if (result.apiReportChanged && !update) {
    faults.push(`api/${entry.name}.api.md is not current; run npm run api -- --update and review the difference`);
  }
  return faults;
}

function configFor(entry: Entry): ExtractorConfig {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: `${root}/${entry.types}`,
      compiler: {
        // API Extractor reads the declarations with a TypeScript of its own, which need not know our options.
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2024',
            lib: ['es2024'],
            module: 'nodenext',
            moduleResolution: 'nodenext',
            types: ['node'],
            strict: true,
            skipLibCheck: true,
            noEmit: true,
          },
          files: [`${root}/${entry.types}`],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${entry.name}.api.md`,
        reportFolder: `${root}/api`,
        reportTempFolder: `${root}/temp`,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: { extractorMessageReporting: { 'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None } } },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: `${root}/package.json`,
  });
}
