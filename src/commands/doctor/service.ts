import { access, constants } from 'node:fs/promises';
import { proxyFor } from '../../api/http/proxy.ts';
import type { Api, RawAnswer, User } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import { type Check, fail, failWith, type Look, notChecked, pass, warn } from './check.ts';
import { settingsOrNot } from './settings.ts';

export function looksAtService(context: Context): Look[] {
  return [
    { ids: ['proxy'], make: async () => [await proxyCheck(context)] },
    { ids: ['certificates'], make: async () => [await certificatesCheck(context)] },
    { ids: ['service', 'account', 'clock'], make: () => serviceChecks(context) },
  ];
}

async function proxyCheck(context: Context): Promise<Check> {
  const settings = await settingsOrNot(context);
  if (settings?.sandbox === true) {
    return pass('proxy', 'none is used: the sandbox is on this computer');
  }
  const address = settings?.baseUrl?.value;
  if (address === undefined) {
    return notChecked('proxy', 'the address of the service is not known');
  }
  const target = new URL(address);
  const proxy = proxyFor(target, context.env);
  if (proxy === undefined) {
    return pass('proxy', `none is in force for ${target.host}`);
  }
  const { url, port, authorization } = proxy;
  const user = authorization === undefined ? '' : ', with a user name';
  return pass(
    'proxy',
    `${target.host} is reached through ${url.protocol}//${url.hostname}:${port}${user}`,
  );
}

async function certificatesCheck({ env }: Context): Promise<Check> {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    return warn(
      'certificates',
      'NODE_TLS_REJECT_UNAUTHORIZED=0: no certificate is checked, and whoever is on the way can read the key',
      'unset it; NODE_EXTRA_CA_CERTS names a file of further authorities',
    );
  }
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (!extra) {
    return pass('certificates', "checked against Node.js's own authorities");
  }
  try {
    await access(extra, constants.R_OK);
  } catch (error) {
    return warn(
      'certificates',
      `NODE_EXTRA_CA_CERTS names ${extra}, which can't be read (${faultOf(error)})`,
      'correct the path: Node.js goes on without it',
    );
  }
  return pass('certificates', `checked against Node.js's own authorities and ${extra}`);
}

/**
 * What is sent where there is no key, so that it can still be told whether the service is there.
 * It answers something, and that is all that is looked at.
 */
const NO_KEY = 'no-key';

/** One request tells all three: whether there is an answer, whose the key is, and the time. */
async function serviceChecks(context: Context): Promise<readonly Check[]> {
  const settings = await settingsOrNot(context);
  const address = settings?.baseUrl?.value;
  if (settings === undefined || (!settings.sandbox && address === undefined)) {
    return ['service', 'account', 'clock'].map((id) =>
      notChecked(id, 'the address of the service is not known'),
    );
  }
  const hasKey = settings.sandbox || settings.apiKey !== undefined;
  const api = hasKey
    ? await context.api()
    : await context.apiFor({ baseUrl: address ?? '', apiKey: NO_KEY });
  const heard = await ask(api, context);
  return [
    reached(heard, settings.sandbox ? 'the sandbox' : (address ?? '')),
    hasKey ? owner(heard) : notChecked('account', 'there is no key'),
    settings.sandbox
      ? pass('clock', 'the sandbox has a clock of its own')
      : clockCheck(heard.answer),
  ];
}

/** What came of GET /users/me. */
interface Heard {
  /** The last answer, whatever its status; undefined when there was none. */
  readonly answer: (RawAnswer & Timing) | undefined;
  readonly user: User | undefined;
  readonly error: unknown;
}

/** Milliseconds since 1970. */
interface Timing {
  readonly sent: number;
  readonly received: number;
}

async function ask(api: Api, { clock, signal }: Context): Promise<Heard> {
  let sent = clock.now();
  let answer: Heard['answer'];
  let user: User | undefined;
  let error: unknown;
  try {
    user = await api.users.me({
      onSending() {
        sent = clock.now();
      },
      async onAnswer(raw) {
        answer = { ...raw, sent, received: clock.now() };
      },
    });
  } catch (thrown) {
    signal.throwIfAborted();
    error = thrown;
  }
  return { answer, user, error };
}

function reached({ answer, error }: Heard, where: string): Check {
  if (answer === undefined || answer.status >= 500) {
    // The usual hint of these errors names this very command.
    const hint = 'check the network, and base_url, proxy and certificates of this report';
    return { ...failWith('service', error), hint };
  }
  return pass('service', `${where} answered in ${answer.received - answer.sent} ms`);
}

function owner({ answer, user, error }: Heard): Check {
  if (answer === undefined || answer.status >= 500) {
    return notChecked('account', 'the service did not answer');
  }
  if (user === undefined) {
    const check = failWith('account', error);
    const wait = error instanceof CliError && error.failure === 'rateLimited';
    if (wait) return { ...check, status: 'warn' };
    return answer.status === 404
      ? { ...check, hint: 'see that the base URL is that of the API: GET /users/me is not there' }
      : check;
  }
  const who = user.email ?? user.name ?? user.id;
  return user.is_active === false
    ? fail('account', `the account ${who} is blocked`, 'ask the support of the service')
    : pass('account', `the key works, and is that of ${who}`);
}

/** Milliseconds: beyond this, "3 min ago" and what is paid until when are misread. */
const SKEW = 60_000;

function clockCheck(answer: Heard['answer']): Check {
  const told = Date.parse(answer?.headers.date ?? '');
  if (answer === undefined || Number.isNaN(told)) {
    return notChecked('clock', 'no answer of the service tells its time');
  }
  // The header has whole seconds, cut off.
  const skew = (answer.sent + answer.received) / 2 - (told + 500);
  const seconds = Math.round(Math.abs(skew) / 1000);
  const words = `${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service's`;
  return Math.abs(skew) > SKEW
    ? warn(
        'clock',
        `this computer's clock is ${words}: relative times are wrong by as much`,
        'set the clock, best by NTP',
      )
    : pass('clock', seconds === 0 ? "goes with the service's" : `${words}`);
}
