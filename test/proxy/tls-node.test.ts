import { downstreamContract } from '../contracts/downstream.ts';

downstreamContract('node', true);
