import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders, replaceFile } from '../../system/files.ts';
import type { Computer, Job, Scheduler } from './contract.ts';
import { mustRun, runTool } from './tool.ts';

const HEAD = '# Written by "gpucloud instances reap --install"; --uninstall removes it.\n';

/** Schedules with a timer of the user's own systemd. */
export function systemd({ start, home, configHome }: Computer): Scheduler {
  const folder = join(configHome ?? join(home, '.config'), 'systemd', 'user');
  const path = (name: string, kind: 'service' | 'timer') => join(folder, `${name}.${kind}`);
  const systemctl = (...words: string[]) => mustRun(start, ['systemctl', '--user', ...words]);
  return {
    name: 'systemd',
    note: 'It runs only while you are logged in. To run it always: loginctl enable-linger',
    startsWithin: () => 120_000,
    async isHere() {
      const { code } = await runTool(start, ['systemctl', '--user', 'show-environment']);
      return code === 0;
    },
    hasEntry: async (name) => existsSync(path(name, 'timer')),
    async install(job) {
      makeFolders(folder, 0o755);
      await replaceFile(path(job.name, 'service'), serviceUnit(job), { mode: 0o644 });
      await replaceFile(path(job.name, 'timer'), timerUnit(job), { mode: 0o644 });
      await systemctl('daemon-reload');
      await systemctl('enable', '--now', `${job.name}.timer`);
      await systemctl('start', '--no-block', `${job.name}.service`);
    },
    async uninstall(name) {
      await systemctl('disable', '--now', `${name}.timer`);
      for (const kind of ['service', 'timer'] as const) rmSync(path(name, kind), { force: true });
      await systemctl('daemon-reload');
    },
  };
}

export function serviceUnit({ about, command, env }: Job): string {
  const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
  // Escapes dollar signs, since in ExecStart they start variables.
  const words = command.map((word) => quoted(word).replaceAll('$', '$$$$'));
  return `${HEAD}[Unit]
Description=${about.replaceAll('%', '%%')}

[Service]
Type=oneshot
Environment=${variables.join(' ')}
ExecStart=${words.join(' ')}
`;
}

/** `Persistent` runs the timer after the computer was off at the scheduled time. */
export function timerUnit({ about, every }: Job): string {
  return `${HEAD}[Unit]
Description=${about.replaceAll('%', '%%')}

[Timer]
OnCalendar=*:0/${every / 60_000}
Persistent=true
AccuracySec=10s

[Install]
WantedBy=timers.target
`;
}

function quoted(word: string): string {
  return `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;
}
