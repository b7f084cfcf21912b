import type { Drive } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { intervalOption, watch, watchOption } from '../../watch/watching.ts';
import { driveView, SEVEN_DAYS } from './view.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: driveView,
    examples: [
      'gpucloud drives list',
      'gpucloud drives list --columns name,size_gb,used_bytes --sort -size_gb',
      'gpucloud drives list --watch',
    ],
  })
    .addOption(watchOption())
    .addOption(intervalOption())
    .action((flags, command) => {
      const context = frame.context(command);
      return flags.watch === true ? watchAll(flags.interval, context) : list(context);
    });
}

export async function list(context: Context): Promise<void> {
  const drives = await (await context.api()).drives.list();
  await context.out.list(drives, driveView);
  for (const text of suspended(drives)) context.err.warn(text);
}

async function watchAll(interval: number, context: Context): Promise<void> {
  const api = await context.api();
  await watch(
    {
      read: (options) => api.drives.list(options),
      show: (drives, out) => out.list(drives, driveView),
      rows: (drives) => drives,
      view: driveView,
      warnings: suspended,
    },
    interval,
    context,
  );
}

function suspended(drives: readonly Drive[]): string[] {
  return drives
    .filter(({ status }) => status === 'SUSPENDED')
    .map(
      ({ id, name }) =>
        `The drive ${name ?? id} is SUSPENDED: ${SEVEN_DAYS}. Top up the balance, then: gpucloud drives resume ${id}`,
    );
}
