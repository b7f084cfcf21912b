import { expect, onTestFinished, test, vi } from 'vitest';
import { codeOf } from '../../src/api/http/connect.ts';
import { faultHint, faultMessage } from '../../src/api/http/fault.ts';

const MORE_FILES = 'Raise the limit: ulimit -n 1024';
const UNTRUSTED =
  'Set NODE_EXTRA_CA_CERTS to a PEM file with the CA certificate of the service, or of the proxy that inspects your traffic. If it is set, correct the file.';
const MEMORY = 'If "ulimit -v" is below 10 GiB, set NODE_OPTIONS=--disable-wasm-trap-handler.';
const trust = (code: string) => `could not open a trusted TLS connection (${code})`;

test.each<[string, string, hint?: string]>([
  ['ECONNREFUSED', 'connection refused'],
  ...['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'].map(
    (code): [string, string] => [code, 'connection closed'],
  ),
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'response cut off'],
  ['HPE_INVALID_EOF_STATE', 'response cut off'],
  ['EMFILE', 'too many open files in this process', MORE_FILES],
  ['ENFILE', 'too many open files on this computer'],
  ['ENOTFOUND', 'unknown host name'],
  ['EAI_AGAIN', 'could not look up the host name'],
  ['ETIMEDOUT', 'connection timed out'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'network unreachable'],
  ['NO_WASM', 'Node.js has too little memory for WebAssembly, which is required', MEMORY],
  ['PROXY_407', 'the proxy requires a user name and password (407)'],
  ['PROXY_502', 'the proxy refused the connection (502)'],
  ...[
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
    ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  ].map((code): [string, string, string] => [code, trust(code), UNTRUSTED]),
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    trust('ERR_TLS_CERT_ALTNAME_INVALID'),
    'The certificate is for another host: check the base URL.',
  ],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'].map((code): [string, string, string] => [
    code,
    trust(code),
    "Check this computer's clock.",
  ]),
  ...['CERT_HAS_EXPIRED_X', 'X_CERT_HAS_EXPIRED', 'EPROTO', 'ERR_SSL_X', 'ERR_TLS_NOT_READY'].map(
    (code): [string, string] => [code, trust(code)],
  ),
  ['HPE_INVALID_CONSTANT', 'the response is not HTTP (HPE_INVALID_CONSTANT)'],
  ['X_HPE_', 'connection failed (X_HPE_)'],
  ['X_UNABLE_TO_', 'connection failed (X_UNABLE_TO_)'],
  ['UNKNOWN', 'connection failed (UNKNOWN)'],
])('explains %s: %s', (code, message, hint) => {
  expect([faultMessage(code), faultHint(code)]).toEqual([message, hint]);
});

test('explains that Node.js runs without WebAssembly', () => {
  vi.stubGlobal('WebAssembly', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect([faultMessage('NO_WASM'), faultHint('NO_WASM'), faultHint('UNKNOWN')]).toEqual([
    'Node.js runs without WebAssembly, which is required',
    'Start node without --jitless (check NODE_OPTIONS too).',
    undefined,
  ]);
});

test.each<[string, object]>([
  ['ECONNRESET', { code: 'ECONNRESET', name: 'HTTPParserError' }],
  ['HPE_UNKNOWN', { code: 'a b', name: 'HTTPParserError' }],
  ['NO_WASM', { code: 7, message: 'WebAssembly.Memory(): out of memory' }],
  ['UNKNOWN', {}],
  ['UNKNOWN', { code: 'x ECONNRESET' }],
  ['UNKNOWN', { code: 'ECONNRESET x' }],
])('returns the code %s for the error %j', (code, fields) => {
  expect(codeOf(Object.assign(new Error('x'), fields))).toBe(code);
});
