import type { RawResponse } from '../contract.ts';

declare const WebAssembly: object | undefined;

/** Messages by fault code. An error's own text may contain anything, so it is never shown. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  UND_ERR_DESTROYED: 'connection closed',
  UND_ERR_CLOSED: 'connection closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'response cut off',
  HPE_INVALID_EOF_STATE: 'response cut off',
  EMFILE: 'too many open files in this process',
  ENFILE: 'too many open files on this computer',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'could not look up the host name',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'network unreachable',
  NO_WASM: 'Node.js has too little memory for WebAssembly, which is required',
  PROXY_407: 'the proxy requires a user name and password (407)',
};

export function faultMessage(code: string): string {
  if (isWithoutWasm(code)) return 'Node.js runs without WebAssembly, which is required';
  const words = WORDS[code];
  if (words !== undefined) return words;
  if (code.startsWith('PROXY_')) return `the proxy refused the connection (${code.slice(6)})`;
  if (isUntrusted(code) || /CERT|TLS|SSL|EPROTO/.test(code)) {
    return `could not open a trusted TLS connection (${code})`;
  }
  if (code.startsWith('HPE_')) return `the response is not HTTP (${code})`;
  return `connection failed (${code})`;
}

/** The hint for a certificate of an unknown authority. */
const UNTRUSTED =
  'Set NODE_EXTRA_CA_CERTS to a PEM file with the CA certificate of the service, or of the proxy that inspects your traffic. If it is set, correct the file.';

/** Hints for faults not caused by the network. */
export function faultHint(code: string): string | undefined {
  if (isUntrusted(code)) return UNTRUSTED;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'The certificate is for another host: check the base URL.';
  }
  if (/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) return "Check this computer's clock.";
  if (code === 'EMFILE') return 'Raise the limit: ulimit -n 1024';
  if (isWithoutWasm(code)) return 'Start node without --jitless (check NODE_OPTIONS too).';
  return code === 'NO_WASM'
    ? 'If "ulimit -v" is below 10 GiB, set NODE_OPTIONS=--disable-wasm-trap-handler.'
    : undefined;
}

function isUntrusted(code: string): boolean {
  return /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code);
}

function isWithoutWasm(code: string): boolean {
  return code === 'NO_WASM' && typeof WebAssembly === 'undefined';
}

/** Reports an exchange without a complete response. undici's own errors never leave this folder. */
export class Fault extends Error {
  /** The first byte may have been sent, so the service may have acted on the request. */
  readonly sent: boolean;
  /** The call's deadline or an interrupt stopped the exchange. */
  readonly stopped: boolean;
  /** See {@link faultHint}. */
  readonly hint: string | undefined;
  /** Partial response, if its head arrived. */
  readonly partial: RawResponse | undefined;

  constructor(
    words: string,
    details: {
      sent: boolean;
      stopped: boolean;
      hint?: string | undefined;
      partial?: RawResponse | undefined;
    },
  ) {
    super(words);
    this.sent = details.sent;
    this.stopped = details.stopped;
    this.hint = details.hint;
    this.partial = details.partial;
  }

  /** Returns the same fault for several tries; `sent` is true if any of them may have been sent. */
  asSent(sent: boolean): Fault {
    if (sent === this.sent) return this;
    const { stopped, hint, partial } = this;
    return new Fault(this.message, { sent, stopped, hint, partial });
  }
}
