import { type Command, Option, type OptionValues } from '../../command-line/command.ts';
import { each, repeated, ruled, ruledEach } from '../../command-line/parse.ts';
import { usageError } from '../../errors.ts';
import { publishedPort, volume } from '../../rules/container.ts';
import { sharedMemoryGb } from '../../rules/numbers.ts';
import { positiveDuration } from '../../rules/times.ts';
import {
  ifIdleOption,
  rescueBudgetOption,
  rescueOption,
  terminateAfterOption,
  terminateAtOption,
  unenforcedOption,
} from '../deadlines/deadline.ts';
import { maxPriceOption } from './max-price.ts';

/**
 * The value of `--no-ssh-key`. As a preset, it also lets commander name that flag in a conflict.
 * Without either flag, gpucloud chooses the keys.
 */
const NO_KEYS: readonly string[] = [];

const sshKeys = repeated((text: string, before: readonly string[] = []): readonly string[] => {
  if (before === NO_KEYS) throw bothKeyFlags();
  return [...before, text];
});

function noSshKey(_preset: unknown, before: readonly string[] = NO_KEYS): readonly string[] {
  if (before !== NO_KEYS) throw bothKeyFlags();
  return NO_KEYS;
}

function bothKeyFlags() {
  return usageError("--ssh-key can't be used with --no-ssh-key");
}

/** Adds the flags that describe a new instance, for every command that rents from an offer. */
export function withRequestFlags<Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) {
  const described = command
    .optionsGroup('Hardware:')
    .option(
      '--offer <offer>',
      'offer (the hardware), by name or ID (repeatable: tried in order)',
      each,
    )
    .option(
      '--retry-for <duration>',
      'keep retrying refused offers for this long',
      ruled('--retry-for', positiveDuration),
    )
    .option('--image <image>', 'base image (the system), by name or ID')
    .option('--drive <drive>', 'cloud drive to attach, by name or ID')
    .optionsGroup('Access:')
    .addOption(
      new Option('--ssh-key <key>', 'SSH key, by name, ID or fingerprint (repeatable)').argParser(
        sshKeys,
      ),
    );
  // Added apart, since its type would add `false` to the type of --ssh-key.
  described.addOption(
    new Option('--no-ssh-key', 'rent without an SSH key').preset(NO_KEYS).argParser(noSshKey),
  );
  return described
    .optionsGroup('Container:')
    .option('--template <template>', 'application template, by slug, name or ID')
    .option('--docker-image <image>', 'run this container')
    .option('--docker-command <command>', 'command to run in the container')
    .option(
      '--shm-size <gb>',
      'shared memory of the container, in GB',
      ruled('--shm-size', sharedMemoryGb),
    )
    .option(
      '-p, --port <mapping>',
      'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)',
      ruledEach('--port', publishedPort),
    )
    .option(
      '-e, --env <variable>',
      'set a variable: KEY=VALUE, or KEY to copy its value (repeatable)',
      each,
    )
    .option('--env-file <file>', 'read variables from a file (repeatable)', each)
    .option('--any-env-key', 'allow nonstandard variable names')
    .option(
      '-v, --volume <mapping>',
      'mount HOST_PATH:CONTAINER_PATH (repeatable)',
      ruledEach('--volume', volume),
    )
    .optionsGroup('Limits:')
    .addOption(maxPriceOption())
    .addOption(terminateAfterOption())
    .addOption(terminateAtOption())
    .addOption(ifIdleOption())
    .addOption(rescueOption())
    .addOption(rescueBudgetOption())
    .addOption(unenforcedOption())
    .optionsGroup('Options:')
    .option('-f, --file <file>', 'read a job or instance from a YAML or JSON file; - for stdin');
}
