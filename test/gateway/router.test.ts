import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { bareHost, createRouter } from '../../src/gateway/router.ts';
import { configOf } from '../config/support.ts';

/** A router whose targets are the names of the routes. */
function routerOf(routes: string) {
  const config = configOf(`listeners: [{ address: 127.0.0.1:0 }]
upstreams: { u: { endpoints: [127.0.0.1:1] } }
routes:
${routes.replace(/^- \{/gm, '- { upstream: u,').replace(/^/gm, '  ')}
`);
  return createRouter(config.routes.map((route) => ({ route, target: route.name })));
}

function nameOf(router: ReturnType<typeof routerOf>, method: string, host: string, path: string): string {
  const routing = router.route({ method, host, path, fields: [] });
  return routing.type === 'route' ? routing.target : routing.type;
}

test('a prefix matches whole segments', () => {
  const router = routerOf('- { name: orders, match: { path: { prefix: /orders } } }');
  for (const path of ['/orders', '/orders/', '/orders/1', '/orders?x=1', '/%6frders/1', '//orders//1'])
    equal(nameOf(router, 'GET', 'a', path), 'orders', path);
  for (const path of ['/', '/ordersx', '/order', '/ORDERS', '/orders%2F1', '/orders;v=1', '/x/orders'])
    equal(nameOf(router, 'GET', 'a', path), 'no-route', path);
});

test('a prefix with a final slash matches what it matches without', () => {
  const router = routerOf('- { name: orders, match: { path: { prefix: /orders/ } } }');
  for (const path of ['/orders', '/orders/', '/orders/1']) equal(nameOf(router, 'GET', 'a', path), 'orders', path);
});

test('an exact path matches nothing else', () => {
  const router = routerOf('- { name: orders, match: { path: { exact: /orders } } }');
  equal(nameOf(router, 'GET', 'a', '/orders?x'), 'orders');
  for (const path of ['/orders/', '/orders/1', '/']) equal(nameOf(router, 'GET', 'a', path), 'no-route', path);
});

test('the first route that matches wins', () => {
  const router = routerOf(
    '- { name: one, match: { path: { prefix: /a } } }\n- { name: two, match: { path: { prefix: /a/b } } }\n- { name: rest }',
  );
  deepEqual(
    ['/a/b', '/b'].map((path) => nameOf(router, 'GET', 'x', path)),
    ['one', 'rest'],
  );
});

test('hosts are compared without case, port and final dot', () => {
  const router = routerOf("- { name: shop, match: { hosts: [shop.example, '*.cdn.example', '[::1]'] } }");
  for (const host of [
    'shop.example',
    'SHOP.Example:8080',
    'shop.example.',
    'a.cdn.example',
    'a.b.cdn.example:80',
    '[::1]:8080',
    '[::1]',
  ])
    equal(nameOf(router, 'GET', host, '/'), 'shop', host);
  for (const host of ['', 'example', 'xshop.example', 'cdn.example', '.cdn.example', 'shop.example.evil', '[::2]'])
    equal(nameOf(router, 'GET', host, '/'), 'no-route', host);
});

test('methods are matched as they are', () => {
  const router = routerOf(
    '- { name: read, match: { methods: [GET, HEAD] } }\n- { name: write, match: { methods: [POST] } }',
  );
  deepEqual(
    ['GET', 'HEAD', 'POST', 'PUT', 'get'].map((method) => nameOf(router, method, 'a', '/')),
    ['read', 'read', 'write', 'no-route', 'no-route'],
  );
});

test('what is matched is what the upstream gets', () => {
  const router = routerOf('- { name: all }');
  deepEqual(router.route({ method: 'GET', host: 'a', path: '//%61//b%2fc?x=//..%2f#', fields: [] }), {
    type: 'route',
    target: 'all',
    path: '/a/b%2Fc?x=//..%2f#',
  });
});

test('OPTIONS * is routed, any other * is refused', () => {
  const router = routerOf('- { name: all }');
  equal(nameOf(router, 'OPTIONS', 'a', '*'), 'all');
  equal(nameOf(router, 'GET', 'a', '*'), 'bad-request');
  equal(nameOf(routerOf('- { name: a, match: { path: { prefix: / } } }'), 'OPTIONS', 'a', '*'), 'no-route');
});

test('no spelling of a path reaches a route behind the one it stands for', () => {
  const router = routerOf('- { name: admin, match: { path: { prefix: /admin } } }\n- { name: open }');
  for (const path of ['/admin', '//admin', '/%61dmin', '///admin/x', '/admin//x'])
    equal(nameOf(router, 'GET', 'a', path), 'admin', path);
  for (const path of [
    '/x/../admin',
    '/x/%2e%2e/admin',
    '/./admin',
    '/x/..;/admin',
    '/x%2f..%2fadmin',
    '/x\\..\\admin',
    '/admin%00',
  ])
    equal(nameOf(router, 'GET', 'a', path), 'bad-request', path);
});

test('the bare host keeps brackets and numeric addresses', () => {
  deepEqual(['[::1]:80', '127.0.0.1:80', 'A.b.:1', ''].map(bareHost), ['[::1]', '127.0.0.1', 'a.b', '']);
});
