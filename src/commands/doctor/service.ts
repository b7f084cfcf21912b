import { certificateFault } from '../../api/http/extra-certificates.ts';
import { proxyFor } from '../../api/http/proxy.ts';
import type { RawResponse, User } from '../../api/index.ts';
import type { Settings } from '../../config/resolve.ts';
import type { Context } from '../../context.ts';
import { asCliError, CliError } from '../../errors.ts';
import { armedStatus } from '../../instances/deadlines/arm.ts';
import { armCommand, FEATURES } from '../../instances/deadlines/armed.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { chooseKey } from '../../ssh/sign-in.ts';
import { privateHalves } from '../../ssh-keys/private-half.ts';
import { CLOCKS } from '../../system/clock.ts';
import {
  type Checks,
  type Finding,
  fail,
  failWith,
  notChecked,
  pass,
  settingsOf,
  warn,
} from './check.ts';

/**
 * Sends one request for three checks: whether the service responds, who owns the key, and its time.
 */
export function serviceChecks(context: Context): Checks {
  const settings = settingsOf(context);
  const heard = settings.then((known) => ask(known, context));
  return {
    proxy: async () => proxyCheck(await settings, context),
    certificates: () => certificatesCheck(context),
    service: async () => reached(await heard, await settings),
    account: async () => owner(await heard),
    ssh_key: async () => sshKeyCheck(await heard, context),
    deadlines: async () => ((await settings) === undefined ? NO_ADDRESS : deadlinesCheck(context)),
    mcp: async () => ((await settings) === undefined ? NO_ADDRESS : mcpCheck(context)),
    clock: async () => ((await settings)?.sandbox ? SANDBOX_CLOCK : clockCheck(await heard)),
  };
}

const SANDBOX_CLOCK = pass('the sandbox uses its own clock');
const NO_ADDRESS = notChecked('the base URL is unknown');

function proxyCheck(settings: Settings | undefined, { env }: Context): Finding {
  if (settings?.sandbox) return pass('not needed: the sandbox runs on this computer');
  if (settings?.baseUrl === undefined) return NO_ADDRESS;
  const target = new URL(settings.baseUrl.value);
  const proxy = proxyFor(target, env);
  if (proxy === undefined) return pass(`none for ${target.host}`);
  const { url, port, authorization } = proxy;
  const user = authorization === undefined ? '' : ', with credentials';
  return pass(`reaches ${target.host} through ${url.protocol}//${url.hostname}:${port}${user}`);
}

function certificatesCheck({ env }: Context): Finding {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    return warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off certificate checks, so gpucloud refuses to use HTTPS',
      'unset the variable; to trust more certificates, set NODE_EXTRA_CA_CERTS to a file that contains them',
    );
  }
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (!extra) return pass("trusts Node.js's bundled CA certificates");
  const fault = certificateFault(extra);
  if (fault === undefined) return pass(`trusts Node.js's bundled CA certificates and ${extra}`);
  const convert = ['openssl', 'x509', '-inform', 'der', '-in', extra, '-out', `${extra}.pem`];
  return warn(
    `NODE_EXTRA_CA_CERTS names ${extra}, which ${fault.what}`,
    fault.isDer
      ? `convert it: ${shellLine(convert)}`
      : 'name a file of PEM certificates, or unset the variable',
  );
}

/** The result of GET /users/me; undefined without an address. */
interface Heard {
  readonly hasKey: boolean;
  /** The last response, whatever its status; undefined if none arrived. */
  readonly answer: (RawResponse & { readonly sent: number; readonly received: number }) | undefined;
  readonly user?: User;
  readonly error?: unknown;
}

/** Stands in for a missing key: any response proves that the service works. */
const NO_KEY = 'no-key';

async function ask(settings: Settings | undefined, context: Context): Promise<Heard | undefined> {
  const { clock, signal } = context;
  const address = settings?.baseUrl?.value;
  if (settings === undefined || (!settings.sandbox && address === undefined)) return undefined;
  const hasKey = settings.sandbox || settings.apiKey !== undefined;
  let sent = clock.now();
  let answer: Heard['answer'];
  try {
    const api = hasKey
      ? await context.api()
      : await context.apiFor({ baseUrl: address ?? '', apiKey: NO_KEY });
    const user = await api.users.me({
      onSending() {
        sent = clock.now();
      },
      async onResponse(raw) {
        answer = { ...raw, sent, received: clock.now() };
      },
    });
    return { hasKey, user, answer };
  } catch (error) {
    signal.throwIfAborted();
    return { hasKey, error, answer };
  }
}

function reached(heard: Heard | undefined, settings: Settings | undefined): Finding {
  if (heard === undefined) return NO_ADDRESS;
  const { answer, error } = heard;
  if (answer === undefined || answer.status >= 500) {
    // Replaces these errors' usual hint, since it suggests `doctor` itself.
    const hint = 'check the network, and the results of base_url, proxy and certificates above';
    return { ...failWith(error), hint: asCliError(error).hint ?? hint };
  }
  const where = settings?.baseUrl?.value ?? 'the sandbox';
  return pass(`${where} responded in ${answer.received - answer.sent} ms`);
}

function owner(heard: Heard | undefined): Finding {
  if (heard === undefined) return NO_ADDRESS;
  const { hasKey, answer, user, error } = heard;
  if (!hasKey) return notChecked('no key');
  if (answer === undefined || answer.status >= 500) {
    return notChecked('the service did not respond');
  }
  if (user === undefined) {
    const finding = failWith(error);
    if (error instanceof CliError && error.failure === 'rateLimited') {
      return { ...finding, status: 'warn' };
    }
    return answer.status === 404
      ? { ...finding, hint: 'check the base URL: it has no GET /users/me' }
      : finding;
  }
  const who = user.email ?? user.name ?? user.id;
  return user.is_active === false
    ? fail(`the account ${who} is blocked`, "contact the service's support")
    : pass(`the key belongs to ${who}`);
}

/**
 * Whether a registered key can sign in to instances from this computer without a prompt, as `run`
 * requires.
 */
async function sshKeyCheck(heard: Heard | undefined, context: Context): Promise<Finding> {
  if (heard?.user === undefined) return notChecked('the account is unknown');
  const keys = await (await context.api()).sshKeys.list();
  if (keys.length === 0) {
    return warn('the account has no SSH key', `add one: ${gpucloud('ssh-keys', 'add')}`);
  }
  const halves = await privateHalves(keys, context);
  const choice = chooseKey(halves);
  if (choice !== undefined && choice.needs !== 'passphrase') {
    const { key, needs, file = needs === 'agent' ? 'in the SSH agent' : undefined } = choice;
    return pass(`can sign in with ${key.name ?? key.id}${file === undefined ? '' : ` (${file})`}`);
  }
  const [locked] = halves;
  return locked === undefined
    ? warn(
        'no registered SSH key has its private key in ~/.ssh or in the SSH agent',
        `add a key of this computer: ${gpucloud('ssh-keys', 'add')}`,
      )
    : warn(
        `${locked.file} has a passphrase, and "gpucloud run" can't prompt for it`,
        `add it to the SSH agent: ssh-add ${locked.file}`,
      );
}

/** Whether a schedule enforces deadlines, idle rules and jobs of the active profile. */
async function deadlinesCheck(context: Context): Promise<Finding> {
  const { armed, enforces, reason, last_run_at, scheduler } = await armedStatus(context);
  if (reason === null) return pass(`"instances reap" enforces: ${enforces.join(', ')}`);
  if (!armed && last_run_at === null && scheduler === null) return pass(reason);
  const show = gpucloud('instances', 'reap', '--status');
  if (enforces.length === FEATURES.length) return warn(reason, show);
  return warn(reason, `${show}; schedule it again: ${await armCommand(context)}`);
}

/** What agents can do with `gpucloud mcp`, which needs enforced deadlines to rent. */
async function mcpCheck(context: Context): Promise<Finding> {
  const { armed } = await armedStatus(context);
  return pass(
    armed
      ? 'agents can rent within a budget: "gpucloud mcp --help"'
      : 'agents can read; to rent within a budget, they need a scheduled "instances reap"',
  );
}

function clockCheck(heard: Heard | undefined): Finding {
  if (heard === undefined) return NO_ADDRESS;
  const { answer } = heard;
  const told = Date.parse(answer?.headers.date ?? '');
  if (answer === undefined || Number.isNaN(told)) {
    return notChecked("the service's responses have no date");
  }
  // Adds half a second, since the header rounds down to whole seconds.
  const skew = (answer.sent + answer.received) / 2 - (told + 500);
  const seconds = Math.round(Math.abs(skew) / 1000);
  const words = `${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service's clock`;
  if (Math.abs(skew) > CLOCKS.noticed) {
    return warn(
      `this computer's clock is ${words}: relative times are wrong`,
      'set the clock, ideally with NTP',
    );
  }
  return pass(seconds === 0 ? "matches the service's clock" : words);
}
