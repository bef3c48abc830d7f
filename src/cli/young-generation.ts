import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8's young generation at its present size instead of letting it grow to 32 MB; called before what runs for long
 * is loaded, it stays at 2 to 4 MB.
 *
 * What a request makes is garbage when its answer is sent. A small nursery is collected more often, each time for next
 * to nothing, and stays in the processor's cache: 30 MB less memory for no more time. V8 reads this number whenever the
 * nursery would grow; its limit (`--max-semi-space-size`) is read only before a program begins.
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
