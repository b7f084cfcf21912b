import type { Transport } from './transport.ts';

interface TransportSettings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nodeVersion?: string | undefined;
}

/**
 * Opens the way to a service at the first request. undici loads then, since it costs more than the
 * rest of a command.
 *
 * @throws CliError `usage` at the first request if the environment names an unusable proxy or turns
 * certificate checks off.
 */
export function openTransport(target: URL, { env, nodeVersion }: TransportSettings): Transport {
  let opened: Promise<Transport> | undefined;
  const open = () => {
    opened ??= import('./transport.ts').then(({ createTransport }) =>
      createTransport(target, env, nodeVersion),
    );
    return opened;
  };
  return {
    async exchange(request, signal, onSending) {
      return (await open()).exchange(request, signal, onSending);
    },
    async close() {
      await opened?.then(
        (transport) => transport.close(),
        () => undefined,
      );
    },
  };
}
