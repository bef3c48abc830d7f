import { downstreamContract } from '../contracts/downstream.ts';

downstreamContract('own', true);
