import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Debian's Chromium (`apt-get install chromium`), or what `CHROMIUM` names; `undefined` where there is none. */
export const chromiumPath: string | undefined = [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) =>
  existsSync(path),
);

export const NO_CHROMIUM = 'there is no Chromium: apt-get install chromium, or set CHROMIUM';

/** A page of text as a browser has it, with what it complained of. */
export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings of the console, and errors of scripts. */
  readonly complaints: readonly string[];
  /** Everything it asked for, the page itself left out. */
  readonly requests: readonly string[];
}

/** Starts a browser that reaches nothing but the machine itself, and shows the page of a file. */
export async function openPage(t: TestContext, path: string, colorScheme: 'light' | 'dark'): Promise<OpenPage> {
  const { chromium } = await import('playwright-core');
  const browser: Browser = await chromium.launch({
    executablePath: chromiumPath!,
    // Root, as in containers, has no sandbox; the rest keeps it from calling home.
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'],
  });
  t.after(() => browser.close());
  const page = await browser.newPage({ colorScheme, viewport: { width: 1360, height: 900 } });
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== `file://${path}`) requests.push(request.url());
  });
  await page.goto(`file://${path}`);
  return { page, complaints, requests };
}
