import type { Scenario } from '../scenario.ts';
import { awaiting } from './awaiting.ts';
import { connecting } from './connect.ts';
import { continuing } from './continuing.ts';
import { framing } from './frames.ts';
import { http2 } from './http2.ts';
import { leaving } from './leaving.ts';
import { reusing } from './reuse.ts';
import { sending } from './sending.ts';
import { streaming } from './streaming.ts';
import { switching } from './switching.ts';

export const scenarios: readonly Scenario[] = [
  ...connecting,
  ...reusing,
  ...sending,
  ...continuing,
  ...awaiting,
  ...streaming,
  ...http2,
  ...leaving,
  ...framing,
  ...switching,
];
