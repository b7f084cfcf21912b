import { Option } from '../../../command-line/command.ts';
import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import { asUserOfJob } from '../../../jobs/verbs/sign-in-of.ts';
import { escapeUnseen, mask } from '../../../output/index.ts';
import { field, type View } from '../../../output/output.ts';
import { openInBrowser } from '../../../ssh/browser.ts';
import { type Reached, reach } from '../../../ssh/reach.ts';
import { tunnelArgv } from '../../../ssh/ssh-argv.ts';
import { howToReach, withSshFlags } from '../../../ssh/ssh-flags.ts';
import { holdTunnel } from '../../../ssh/tunnel.ts';
import { localPort, parsePorts, type RemoteEnd, remoteEnd } from '../../../ssh/tunnel-ports.ts';
import { printCommand } from './printed-command.ts';

const tunnelView: View<Tunnel> = {
  columns: [
    field('name', 'NAME'),
    field('endpoint', 'ENDPOINT'),
    field('url', 'LINK'),
    field('address', 'ADDRESS'),
    field('local_port', 'LOCAL', { hidden: true }),
    field('remote_port', 'REMOTE', { hidden: true }),
  ],
  id: (tunnel) => tunnel.address,
  empty: 'No tunnel.',
  secrets: ['secrets'],
  json: ({ secrets: _secrets, ...tunnel }) => tunnel,
};

export const tunnel = verb({
  summary: 'Forward a port to this computer',
  view: tunnelView,
  notes:
    'REMOTE is a port of the instance or an endpoint name (default: the main endpoint). ' +
    'LOCAL defaults to REMOTE, or to a free port if that one is in use; 0 selects a free port.\n\n' +
    'The tunnel listens on 127.0.0.1 and reconnects until Ctrl-C. Tokens in the link are ' +
    'masked; --show-secrets shows them.',
  examples: [
    'gpucloud instances tunnel lab',
    'gpucloud instances tunnel lab jupyter --open',
    'gpucloud instances tunnel trainer 6006',
    'gpucloud instances tunnel trainer 9000:8080 --json',
  ],
  completes: { ports: 'nothing', '--user': 'nothing' },
  ends: ['deadline'],
  takes: (command) =>
    withSshFlags(
      command
        .argument('<instance>', 'name or ID')
        .argument('[ports]', '[LOCAL:]REMOTE')
        .addOption(new Option('--open', 'open the link in the browser').conflicts('print'))
        .option('--no-reconnect', 'exit when the connection is lost'),
    ),
  run: async (context, instance, ports, { open, reconnect, print, ...flags }) => {
    const wanted = parsePorts(ports);
    const how = await howToReach(flags, context);
    const reached = await reach(instance, how, context, { earlier: asUserOfJob(context) });
    const end = await remoteEnd(wanted.remote, reached, context);
    const forwarding = { local: await localPort(wanted.local, end, context), remote: end.port };
    if (print) {
      return printCommand(tunnelArgv(reached.endpoint, reached.ssh, forwarding), context);
    }
    const opened = async () => {
      const shown = tunnelOf(reached, end, forwarding.local);
      await show(shown, context);
      if (open) await startBrowser(shown, context);
    };
    await holdTunnel(forwarding, reached, { reconnect, opened }, context);
  },
});

type Tunnel = ReturnType<typeof tunnelOf>;

/** Describes an open tunnel. */
function tunnelOf({ target, instance }: Reached, { port, endpoint }: RemoteEnd, local: number) {
  return {
    instance_id: target.id,
    name: target.name,
    endpoint: endpoint?.name ?? null,
    /** A browser link; null if the program behind the port is unknown. */
    url: localLink(endpoint?.url ?? null, local),
    address: `127.0.0.1:${local}`,
    local_port: local,
    remote_port: port,
    /** Secrets to hide in the link. */
    secrets: instance.connection_info?.secrets,
  };
}

/** Replaces an endpoint's host with the local end of the tunnel. */
function localLink(url: string | null, local: number): string | null {
  if (url === null) return null;
  const link = new URL(url);
  link.hostname = '127.0.0.1';
  link.port = String(local);
  return link.href;
}

async function show(tunnel: Tunnel, { out, err, flags }: Context): Promise<void> {
  const shown = mask(tunnel, ['secrets'], flags.showSecrets === true);
  const isShaped = flags.query !== undefined || flags.columns !== undefined;
  if (out.format === 'json' && !isShaped) {
    // Prints one line, so that a script can read it without waiting for the end of stdout.
    await out.text(`${escapeUnseen(JSON.stringify(tunnelView.json?.(shown)))}\n`);
  } else if (out.format === 'table') {
    err.note(`Forwarding port ${tunnel.remote_port} of ${tunnel.name} until Ctrl-C:`);
    await out.text(`${shown.url ?? shown.address}\n`);
    if (shown.url !== tunnel.url) {
      err.note('The token in the link is masked: --show-secrets shows it, --open opens the link.');
    }
  } else {
    await out.item(tunnel, tunnelView);
  }
}

/** Opens the browser without waiting. A failure leaves the tunnel open. */
async function startBrowser({ url, address }: Tunnel, context: Context): Promise<void> {
  const warn = (text: string) => context.err.warn('connection', text);
  openInBrowser(url ?? `http://${address}/`, context).then(
    (problem) => {
      if (problem) warn(`${problem} Open the link above; --show-secrets shows its token.`);
    },
    (error: unknown) => {
      if (context.signal.aborted) return;
      warn(error instanceof Error ? error.message : 'Could not start the browser.');
    },
  );
}
