import type { Context } from '../../context.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { wantsColour } from '../../output/index.ts';
import { type Check, fail, type Look, notChecked, pass, warn } from './check.ts';

/** As `engines` of the package has it. */
const OLDEST_NODE = [20, 18, 1] as const;

export function looksAtComputer(context: Context): Look[] {
  return [
    { ids: ['node'], make: async () => [nodeCheck(context.host.nodeVersion)] },
    { ids: ['terminal'], make: async () => [terminalCheck(context)] },
    { ids: ['locale'], make: async () => [localeCheck(context)] },
    { ids: ['ssh'], make: async () => [await sshCheck(context)] },
  ];
}

export function nodeCheck(version: string | undefined): Check {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (version === undefined || parts === undefined) {
    return notChecked('node', 'the version of Node.js is not told');
  }
  const at = OLDEST_NODE.findIndex((oldest, place) => parts[place] !== oldest);
  const isOld = at >= 0 && (parts[at] ?? 0) < (OLDEST_NODE[at] ?? 0);
  return isOld
    ? fail(
        'node',
        `Node.js ${version} is older than ${OLDEST_NODE.join('.')}, the oldest that gpucloud works on`,
        'install a newer Node.js: https://nodejs.org',
      )
    : pass('node', `Node.js ${version}`);
}

function terminalCheck({ host, env, flags }: Context): Check {
  const width = host.stdout.columns ?? 0;
  const what = (name: 'stdin' | 'stdout' | 'stderr') =>
    `${name} ${host[name].isTTY === true ? 'a terminal' : 'no terminal'}`;
  const colours = wantsColour(host.stdout, env, flags.color) ? 'colours on' : 'colours off';
  const words = [
    what('stdin'),
    host.stdout.isTTY === true && width > 0
      ? `${what('stdout')} of ${width} columns`
      : what('stdout'),
    what('stderr'),
    env.TERM ? `TERM=${env.TERM}` : 'TERM not set',
    colours,
  ].join(', ');
  return host.stdout.isTTY === true && width === 0
    ? warn('terminal', `${words}; its width is not told, so that tables are not cut to it`)
    : pass('terminal', words);
}

/** POSIX: LC_ALL goes before LC_CTYPE, and that before LANG; an empty one counts as not set. */
function localeCheck({ host, env }: Context): Check {
  if (host.platform === 'win32') {
    return pass('locale', 'Windows needs none');
  }
  const name = ['LC_ALL', 'LC_CTYPE', 'LANG'].find((variable) => env[variable]);
  const told = name === undefined ? 'no locale is set' : `${name}=${env[name]}`;
  if (name !== undefined && /utf-?8/i.test(env[name] ?? '')) {
    return pass('locale', told);
  }
  const message = `${told}: it is not UTF-8`;
  // What a pipe or a file gets is UTF-8 in any case.
  return host.stdout.isTTY === true
    ? warn('locale', `${message}, so that ₽ and names may be garbled`, 'export LANG=C.UTF-8')
    : pass('locale', `${message}, which matters in a terminal only`);
}

/** Milliseconds: `ssh -V` reads no file and asks nobody. */
const SSH_PATIENCE = 5_000;

async function sshCheck({ start, flags }: Context): Promise<Check> {
  const install = 'install an OpenSSH client and see that it is on PATH';
  let said = '';
  try {
    const { ended } = await start({
      file: 'ssh',
      args: ['-V'],
      timeout: Math.min(SSH_PATIENCE, flags.timeout ?? SSH_PATIENCE),
      hear: (text) => {
        said = (said + text).slice(0, 500);
      },
    });
    const code = await ended;
    const version = said.trim().split('\n')[0]?.trim() ?? '';
    return code === 0 && version !== ''
      ? pass('ssh', version)
      : warn('ssh', `ssh is on PATH, but "ssh -V" does not tell its version`, install);
  } catch (error) {
    return errorCode(error) === 'ENOENT'
      ? warn('ssh', 'no ssh on PATH: machines can be rented, but not reached by it', install)
      : warn('ssh', `ssh can't be started (${faultOf(error)})`, install);
  }
}
