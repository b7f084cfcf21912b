import { CliError, usageError } from '../../errors.ts';
import { shellLine } from '../../output/shell-line.ts';
import type { Computer, Job, Scheduler } from './contract.ts';
import { mustRun, runTool } from './tool.ts';

/** Maximum line length in any cron. */
const LONGEST = 990;

/** Schedules with a line in the user's crontab; the comment at its end identifies it. */
export function crontab({ start }: Pick<Computer, 'start'>): Scheduler {
  /** Returns the lines of the crontab, or undefined if it can't be read. */
  async function read(): Promise<string[] | undefined> {
    const { code, stdout, stderr } = await runTool(start, ['crontab', '-l']);
    if (code === 0) return stdout.replace(/\n$/, '').split('\n');
    return code !== undefined && /no crontab/i.test(stderr) ? [] : undefined;
  }
  /**
   * Throws if the crontab can't be read, since writing a new crontab would lose the user's lines.
   */
  async function mustRead(): Promise<string[]> {
    const lines = await read();
    if (lines === undefined) throw new CliError('storage', 'Could not read the crontab.');
    return lines;
  }
  async function write(lines: readonly string[]): Promise<void> {
    await mustRun(start, ['crontab', '-'], lines.map((line) => `${line}\n`).join(''));
  }
  const isOf = (name: string) => (line: string) => line.endsWith(` # ${name}`);
  return {
    name: 'crontab',
    // Cron can't run a line on demand, and rereads the crontab once a minute.
    startsWithin: ({ every }) => every + 120_000,
    isHere: async () => (await read()) !== undefined && (await cronMayRun(start)),
    hasEntry: async (name) => (await read())?.some(isOf(name)) === true,
    async install(job) {
      const others = (await mustRead()).filter((line) => !isOf(job.name)(line));
      await write([...others, cronLine(job)]);
    },
    async uninstall(name) {
      const lines = await mustRead();
      const others = lines.filter((line) => !isOf(name)(line));
      if (others.length < lines.length) await write(others);
    },
  };
}

/**
 * Whether cron seems to run. Containers often have a crontab without cron, and waiting for the
 * first run would take minutes. Returns true if the list of processes is incomplete: then it lacks
 * process 1.
 */
async function cronMayRun(start: Computer['start']): Promise<boolean> {
  const { code, stdout } = await runTool(start, ['ps', '-A', '-o', 'pid=', '-o', 'comm=']);
  return code !== 0 || !/^ *1 /m.test(stdout) || /cron(?!tab)|busybox/.test(stdout);
}

/** Returns a job's command with its variables, quoted for any shell. */
export function commandLine({ command, env }: Pick<Job, 'command' | 'env'>): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return shellLine(['/usr/bin/env', ...variables, ...command]);
}

/**
 * Discards the output: cron would mail it every few minutes. `reap --status` shows why a run
 * failed.
 */
export function cronLine(job: Job): string {
  const command = `${commandLine(job)} >/dev/null 2>&1`;
  // Cron cuts a command at an unescaped %.
  const line = `*/${job.every / 60_000} * * * * ${command.replaceAll('%', '\\%')} # ${job.name}`;
  if (line.length > LONGEST) {
    throw usageError(
      "the command doesn't fit in a crontab line: its paths are too long",
      'choose other folders with GPUCLOUD_CONFIG_DIR and GPUCLOUD_STATE_DIR',
    );
  }
  return line;
}
