import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../../errors.ts';
import { temporaryName } from '../../system/files.ts';
import type { Computer, Job, Scheduler } from './contract.ts';
import { mustRun, runTool } from './tool.ts';
import { xmlText } from './xml.ts';

/** Schedules with a task of the Windows Task Scheduler that runs as this user. */
export function schtasks({ start }: Pick<Computer, 'start'>): Scheduler {
  const run = (...words: string[]) => mustRun(start, ['schtasks', ...words]);
  return {
    name: 'schtasks',
    note: 'It runs only while you are logged in, and opens a console window for a moment.',
    startsWithin: () => 120_000,
    isHere: async () => (await runTool(start, ['schtasks', '/?'])).code === 0,
    async hasEntry(name) {
      const words = ['schtasks', '/Query', '/TN', name, '/FO', 'CSV', '/NH'];
      return (await runTool(start, words)).code === 0;
    },
    async install(job) {
      const path = temporaryName(join(tmpdir(), job.name));
      try {
        // schtasks reads UTF-16 only with a byte order mark.
        writeFileSync(path, `\ufeff${taskFile(job)}`, { encoding: 'utf16le', flag: 'wx' });
        await run('/Create', '/TN', job.name, '/XML', path, '/F');
      } finally {
        rmSync(path, { force: true });
      }
      await run('/Run', '/TN', job.name);
    },
    async uninstall(name) {
      await run('/Delete', '/TN', name, '/F');
    },
  };
}

/**
 * Overrides two defaults: a task would not start on battery power, nor while its previous run
 * copies results, which may take hours.
 */
export function taskFile({ about, every, ...job }: Job): string {
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${xmlText(about)}</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <Repetition>
        <Interval>PT${every / 60_000}M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>2020-01-01T00:00:00</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>Parallel</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Enabled>true</Enabled>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%SystemRoot%\\System32\\cmd.exe</Command>
      <Arguments>${xmlText(cmdArguments(job))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

/** Sets the variables with cmd, since a task can't. `/s` makes cmd remove only the outer quotes. */
export function cmdArguments({ command, env }: Pick<Job, 'command' | 'env'>): string {
  const settings = Object.entries(env).map(([name, value]) => `set ${quoted(`${name}=${value}`)}`);
  const line = [...settings, command.map(quoted).join(' ')].join('&');
  return `/d /v:off /s /c "${line}"`;
}

/** Rejects characters that can't be escaped on a command line of cmd. */
function quoted(word: string): string {
  if (/["%\r\n]/.test(word)) {
    throw usageError(
      `a scheduled task can't contain "%" or line breaks: ${word}`,
      'choose other folders with GPUCLOUD_CONFIG_DIR and GPUCLOUD_STATE_DIR',
    );
  }
  return `"${word}"`;
}
