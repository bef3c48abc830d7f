/**
 * `npm run test:unit [-- FILE or FOLDER …]`: runs the tests alone, without the checks of `npm test`.
 * Exits 1 when a test failed or when none ran.
 */
import { runTests, totalsLine } from './test-run.ts';

const totals = await runTests(process.argv.slice(2));
process.exitCode = totals.failedCount === 0 && totals.passedCount > 0 ? 0 : 1;
console.log(totalsLine(totals));
