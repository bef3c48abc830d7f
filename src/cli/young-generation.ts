import { setFlagsFromString } from 'node:v8';

/**
 * Imported first, for its effect: keeps V8's young generation at its first size, 1 MB, instead of up to 32 MB.
 *
 * What a request makes is garbage when its answer is sent. A small nursery is collected more often, each time for next
 * to nothing, and stays in the processor's cache: 30 MB less memory for no more time. V8 reads this number whenever the
 * nursery would grow; its limit (`--max-semi-space-size`) is read only before a program begins.
 */
setFlagsFromString('--semi-space-growth-factor=1');
