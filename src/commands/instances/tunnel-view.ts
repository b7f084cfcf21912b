import type { View } from '../../output/output.ts';

/** An open tunnel, as it is told. */
export interface Tunnel {
  readonly instance_id: string;
  readonly name: string;
  readonly endpoint: string | null;
  /** A link for a browser; null where it is not known what speaks there. */
  readonly url: string | null;
  /** `127.0.0.1:9000`. */
  readonly address: string;
  readonly local_port: number;
  readonly remote_port: number;
  /** What the link may carry, to be masked in it. */
  readonly secrets: unknown;
}

export const tunnelView: View<Tunnel> = {
  columns: [
    { id: 'name', header: 'NAME', value: (tunnel) => tunnel.name },
    { id: 'endpoint', header: 'ENDPOINT', value: (tunnel) => tunnel.endpoint },
    { id: 'url', header: 'LINK', value: (tunnel) => tunnel.url },
    { id: 'address', header: 'ADDRESS', value: (tunnel) => tunnel.address },
    { id: 'local_port', header: 'LOCAL', value: (tunnel) => tunnel.local_port, hidden: true },
    { id: 'remote_port', header: 'REMOTE', value: (tunnel) => tunnel.remote_port, hidden: true },
  ],
  id: (tunnel) => tunnel.address,
  empty: 'There is no tunnel.',
  secrets: ['secrets'],
  json: ({ secrets: _secrets, ...tunnel }) => tunnel,
};
