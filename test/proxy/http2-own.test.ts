import { http2DownstreamContract } from '../contracts/http2-downstream.ts';

http2DownstreamContract('own, HTTP/2 by prior knowledge', 'own', false);
