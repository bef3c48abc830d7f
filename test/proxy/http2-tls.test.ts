import { http2DownstreamContract } from '../contracts/http2-downstream.ts';

http2DownstreamContract('own, HTTP/2 over TLS', 'own', true);
http2DownstreamContract('node, HTTP/2 over TLS', 'node', true);
