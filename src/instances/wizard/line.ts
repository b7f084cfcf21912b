import { shellLine } from '../../cli/shell-line.ts';
import type { Port } from '../../rules/container.ts';
import { kopecksText, type Money } from '../../rules/money.ts';
import type { CreateFlags } from '../request/body.ts';

export interface Line {
  /** With names where they are as good as ids. */
  readonly flags: CreateFlags;
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
  readonly until: string;
  readonly maxPrice: Money | undefined;
}

/** The command that does the same without a question; values of variables stay out of it. */
export function commandLine({ flags, profile, baseUrl, until, maxPrice }: Line): string {
  const words = ['gpucloud', ...flag('--profile', profile), ...flag('--base-url', baseUrl)];
  words.push('instances', 'create');
  if (flags.name !== undefined) words.push(flags.name);
  words.push(
    ...flag('--file', flags.file),
    ...flag('--offer', flags.offer),
    ...flag('--image', flags.image),
    ...(flags.sshKey ?? []).flatMap((key) => flag('--ssh-key', key)),
    ...flag('--template', flags.template),
    ...flag('--drive', flags.drive),
    ...flag('--docker-image', flags.dockerImage),
    ...flag('--docker-command', flags.dockerCommand),
    ...flag('--shm-size', flags.shmSize === undefined ? undefined : String(flags.shmSize)),
    ...(flags.port ?? []).flatMap((port) => flag('--port', portText(port))),
    ...(flags.envFile ?? []).flatMap((file) => flag('--env-file', file)),
    ...variablesOf(flags).flatMap((key) => flag('--env', key)),
    ...(flags.anyEnvKey === true ? ['--any-env-key'] : []),
    ...(flags.volume ?? []).flatMap(({ host_path, container_path }) =>
      flag('--volume', `${host_path}:${container_path}`),
    ),
    ...flag('--max-price', maxPrice === undefined ? undefined : kopecksText(maxPrice)),
    until === 'ssh' ? '--wait=ssh' : '--wait',
  );
  return shellLine(words);
}

/** The names of the variables whose values the command takes from the environment. */
export function variablesOf({ env = [] }: CreateFlags): string[] {
  return [...new Set(env.map((variable) => variable.split('=')[0] ?? ''))];
}

/** A value that starts with a hyphen would be read as a flag of its own. */
function flag(name: string, value: string | undefined): string[] {
  if (value === undefined) return [];
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value];
}

function portText({ external_port, internal_port, protocol, name, is_main }: Port): string {
  return [
    `${external_port}:${internal_port}${protocol === 'UDP' ? '/udp' : ''}`,
    ...(name === undefined ? [] : [`name=${name}`]),
    ...(is_main === true ? ['main'] : []),
  ].join(',');
}
