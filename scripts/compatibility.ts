/** `npm run compatibility`: writes docs/compatibility.md from the cases of other projects that the tests run. */
import { writeFileSync } from 'node:fs';
import { COMPATIBILITY_PAGE, compatibilityPage } from '../test/client/compatibility/page.ts';

writeFileSync(COMPATIBILITY_PAGE, compatibilityPage());
