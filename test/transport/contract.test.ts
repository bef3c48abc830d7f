import { transportContract } from '../contracts/transport.ts';
import { failOnLeaks } from '../support/leak-check.ts';

failOnLeaks();

for (const wire of ['http1', 'http1+tls', 'http2', 'http2+tls'] as const) transportContract(wire);
