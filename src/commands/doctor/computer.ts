import type { Context } from '../../context.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { wantsColour } from '../../output/index.ts';
import { type Checks, type Finding, fail, notChecked, pass, warn } from './check.ts';

/** As `engines` of the package has it. */
const OLDEST_NODE = '20.18.1';

export function computerChecks(context: Context): Checks {
  return {
    node: () => nodeCheck(context.host.nodeVersion),
    terminal: () => terminalCheck(context),
    locale: () => localeCheck(context),
    ssh: () => sshCheck(context),
  };
}

export function nodeCheck(version: string | undefined): Finding {
  if (version === undefined) return notChecked('the version of Node.js is not told');
  return version.localeCompare(`v${OLDEST_NODE}`, 'en', { numeric: true }) < 0
    ? fail(
        `Node.js ${version} is older than ${OLDEST_NODE}, the oldest that gpucloud works on`,
        'install a newer Node.js: https://nodejs.org',
      )
    : pass(`Node.js ${version}`);
}

function terminalCheck({ host, env, flags }: Context): Finding {
  const width = host.stdout.columns ?? 0;
  const isTerminal = host.stdout.isTTY === true;
  const what = (name: 'stdin' | 'stdout' | 'stderr') =>
    `${name} ${host[name].isTTY === true ? 'a terminal' : 'no terminal'}`;
  const words = [
    what('stdin'),
    isTerminal && width > 0 ? `${what('stdout')} of ${width} columns` : what('stdout'),
    what('stderr'),
    env.TERM ? `TERM=${env.TERM}` : 'TERM not set',
    wantsColour(host.stdout, env, flags.color) ? 'colours on' : 'colours off',
  ].join(', ');
  return isTerminal && width === 0
    ? warn(`${words}; its width is not told, so that tables are not cut to it`)
    : pass(words);
}

/** POSIX: LC_ALL goes before LC_CTYPE, and that before LANG; an empty one counts as not set. */
function localeCheck({ host, env }: Context): Finding {
  if (host.platform === 'win32') return pass('Windows needs none');
  const name = ['LC_ALL', 'LC_CTYPE', 'LANG'].find((variable) => env[variable]);
  const told = name === undefined ? 'no locale is set' : `${name}=${env[name]}`;
  if (name !== undefined && /utf-?8/i.test(env[name] ?? '')) return pass(told);
  // A pipe or a file gets UTF-8 in any case.
  return host.stdout.isTTY === true
    ? warn(`${told}: it is not UTF-8, so that ₽ and names may be garbled`, 'export LANG=C.UTF-8')
    : pass(`${told}: it is not UTF-8, which matters in a terminal only`);
}

/** Milliseconds: `ssh -V` reads no file and asks nobody. */
const SSH_TIMEOUT = 5_000;

async function sshCheck({ start, flags }: Context): Promise<Finding> {
  const install = 'install an OpenSSH client and see that it is on PATH';
  let printed = '';
  try {
    const { ended } = await start({
      file: 'ssh',
      args: ['-V'],
      timeout: Math.min(SSH_TIMEOUT, flags.timeout ?? SSH_TIMEOUT),
      hear: (text) => {
        printed = (printed + text).slice(0, 500);
      },
    });
    const code = await ended;
    const version = printed.trim().split('\n')[0]?.trim() ?? '';
    return code === 0 && version !== ''
      ? pass(version)
      : warn(`ssh is on PATH, but "ssh -V" does not tell its version`, install);
  } catch (error) {
    return errorCode(error) === 'ENOENT'
      ? warn('no ssh on PATH: machines can be rented, but not reached by it', install)
      : warn(`ssh can't be started (${faultOf(error)})`, install);
  }
}
