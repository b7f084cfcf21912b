import type { RawResponse } from '../contract.ts';

declare const WebAssembly: object | undefined;

/** Words for a fault of the network, chosen by its code: an error's own text may hold anything. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_DESTROYED: 'the connection was closed',
  UND_ERR_CLOSED: 'the connection was closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
  HPE_INVALID_EOF_STATE: 'the answer was cut off',
  EMFILE: 'too many files are open in this process',
  ENFILE: 'too many files are open on this computer',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ETIMEDOUT: 'the connection was not made in time',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  NO_WASM: 'Node has no room for WebAssembly, with which answers are read',
  PROXY_407: 'the proxy wants a user name and password (407)',
};

export function faultMessage(code: string): string {
  if (isWithoutWasm(code)) return 'Node runs without WebAssembly, with which answers are read';
  const words = WORDS[code];
  if (words !== undefined) return words;
  if (code.startsWith('PROXY_')) return `the proxy refused the connection (${code.slice(6)})`;
  if (/CERT|TLS|SSL|EPROTO|SELF_SIGNED|ISSUER/.test(code)) {
    return `no trusted TLS connection came about (${code})`;
  }
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  return `the connection failed (${code})`;
}

/** What helps where the network is not to blame. */
export function faultHint(code: string): string | undefined {
  if (code === 'EMFILE') return 'Let a process open more of them: ulimit -n 1024';
  if (isWithoutWasm(code))
    return 'Start node without --jitless, which may stand in NODE_OPTIONS too.';
  return code === 'NO_WASM'
    ? 'Where "ulimit -v" leaves a process less than some 10 GiB of addresses, Node does with less when NODE_OPTIONS holds --disable-wasm-trap-handler.'
    : undefined;
}

function isWithoutWasm(code: string): boolean {
  return code === 'NO_WASM' && typeof WebAssembly === 'undefined';
}

/** An exchange without a whole response. What is thrown never is undici's own error. */
export class Fault extends Error {
  /** The first byte may have left, so that the service may have acted on the request. */
  readonly sent: boolean;
  /** Ended by the call's own signal: its deadline or an interrupt. */
  readonly stopped: boolean;
  /** See {@link faultHint}. */
  readonly hint: string | undefined;
  /** What had come of the response, where its head had come. */
  readonly partial: RawResponse | undefined;

  constructor(
    words: string,
    details: {
      sent: boolean;
      stopped?: boolean;
      hint?: string | undefined;
      partial?: RawResponse | undefined;
    },
  ) {
    super(words);
    this.sent = details.sent;
    this.stopped = details.stopped ?? false;
    this.hint = details.hint;
    this.partial = details.partial;
  }

  /** The same fault as the end of several tries, one of which may have left. */
  asSent(sent: boolean): Fault {
    if (sent === this.sent) return this;
    const { stopped, hint, partial } = this;
    return new Fault(this.message, { sent, stopped, hint, partial });
  }
}
