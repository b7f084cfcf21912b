import type { Context } from '../../context.ts';
import { commandLines } from '../../output/shell-line.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import type { Port } from '../../rules/container.ts';
import { kopecksText } from '../../rules/money.ts';
import { deadlineWords } from '../deadlines/deadline.ts';
import type { CreateFlags } from '../request/given.ts';
import type { Wish } from './summary.ts';

/** Prints the command with these flags, but without values of variables. */
export function printCommand(
  flags: CreateFlags,
  { maxPrice, ends, command }: Wish,
  prompts: Prompts,
  context: Context,
): void {
  const variables = [...new Set((flags.env ?? []).map((one) => one.split('=')[0] ?? ''))];
  const { offer, image, template, drive, volume = [] } = flags;
  const words = [
    ['gpucloud', ...flag('--profile', context.flags.profile).flat()],
    ...flag('--base-url', context.flags.baseUrl),
    command.start(flags.name),
    ...flag('--file', flags.file),
    ...flag('--offer', offer),
    ...flag('--image', image),
    ...flag('--ssh-key', ...(flags.sshKey ?? [])),
    ...flag('--template', template),
    ...flag('--drive', drive),
    ...flag('--docker-image', flags.dockerImage),
    ...flag('--docker-command', flags.dockerCommand),
    ...flag('--shm-size', flags.shmSize?.toString()),
    ...flag('--port', ...(flags.port ?? []).map(portText)),
    ...flag('--env-file', ...(flags.envFile ?? [])),
    ...flag('--env', ...variables),
    ...(flags.anyEnvKey === true ? [['--any-env-key']] : []),
    ...flag('--volume', ...volume.map((one) => `${one.host_path}:${one.container_path}`)),
    ...flag('--max-price', maxPrice && kopecksText(maxPrice)),
    deadlineWords(ends),
    ...command.end,
  ];
  const pieces = words.filter(({ length }) => length > 0);
  for (const line of commandLines(pieces, context.host.stderr.columns)) prompts.print(`  ${line}`);
  if (variables.length > 0) {
    prompts.print(`Set ${variables.join(', ')} in the environment first.`);
  }
}

/** Each value with its flag. A value that starts with a hyphen would be read as another flag. */
export function flag(name: string, ...values: readonly (string | undefined)[]): string[][] {
  return values.flatMap((value) => {
    if (value === undefined) return [];
    return value.startsWith('-') ? [[`${name}=${value}`]] : [[name, value]];
  });
}

function portText({ external_port, internal_port, protocol, name, is_main }: Port): string {
  return [
    `${external_port}:${internal_port}${protocol === 'UDP' ? '/udp' : ''}`,
    ...(name === undefined ? [] : [`name=${name}`]),
    ...(is_main === true ? ['main'] : []),
  ].join(',');
}
