import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { JobRecord } from '../../src/jobs/record/record.ts';
import { afterwards, removeFolder } from '../support/afterwards.ts';
import type { Outcome } from '../support/program.ts';
import { NEW, RentingService } from '../support/renting-service.ts';
import { detailsOf } from '../support/run-cli.ts';
import { type Service, startService } from '../support/service.ts';
import { lineToTranscript, toTranscript } from '../support/transcript.ts';
import { endCommand } from './end-command.ts';
import { type FastRun, runFast } from './fast-run.ts';
import { IMAGE, KEY_ID, OFFER } from './job-world.ts';
import { type LoopbackSsh, loopbackSsh } from './loopback-ssh.ts';
import { measured } from './measured.ts';
import { type PassingClock, passingClock } from './passing-clock.ts';

/** Divides the supervisor's pauses by five. */
const SLEEP = `#!/bin/sh
case $1 in 0.2) exec /bin/sleep 0.04 ;; 1) exec /bin/sleep 0.2 ;; *) exec /bin/sleep "$1" ;; esac
`;

/** Omits a default flag that the test overrides, since a flag may be given only once. */
const unlessIn = (flags: readonly string[], ...word: readonly [string, string]) =>
  flags.includes(word[0]) ? [] : word;

/** Runs jobs in one process, with an ssh that starts shells on this computer. */
export interface LoopbackWorld {
  readonly renting: RentingService;
  readonly service: Service;
  readonly ssh: LoopbackSsh;
  /** The folder of the job on the instance. */
  readonly job: string;
  /** The home folder on the instance with this ID. */
  there(id: string): string;
  /** A file in the home folder on this computer. */
  local(name: string): string;
  /** The path of a stored file of the only job, such as its `json`. */
  jobFile(kind: string): string;
  /** Reads the stored record of the only job. */
  record(): JobRecord;
  /** The clock of this computer and the service. */
  readonly clock: PassingClock;
  /** Moves the clock. */
  advance(milliseconds: number): void;
  gpucloud(argv: readonly string[], how?: FastRun): Promise<Outcome>;
  /** Starts a job with --detach. */
  detach(command: string, ...flags: string[]): Promise<void>;
  /** Runs a shell script, or these words instead. */
  run(
    script: string,
    flags: readonly string[],
    how?: FastRun,
    words?: readonly string[],
  ): Promise<Outcome>;
  /** Runs a command on the rented instance with `run --on`. */
  runOn(command: string, ...flags: string[]): Promise<Outcome>;
  /** The number of terminate requests. */
  terminations(): number;
  status(): string | undefined;
  close(): Promise<void>;
}

export async function createLoopbackWorld(): Promise<LoopbackWorld> {
  // Of the same length on most computers, since columns and labels are padded and cut by it.
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-loop-'.padEnd(40 - tmpdir().length, '-')));
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')];
  for (const path of [bin, home]) await mkdir(path);
  const there = (id: string) => join(folder, id);
  await writeFile(join(bin, 'sleep'), SLEEP, { mode: 0o755 });
  const path = `${bin}:${process.env.PATH}`;
  const ssh = loopbackSsh({ home: there, path });
  const key = join(home, 'key');
  await writeFile(key, '');
  const banner = createServer((socket) => socket.end('SSH-2.0-test\r\n')).listen(0, '127.0.0.1');
  await once(banner, 'listening');
  const renting = new RentingService();
  const clock = passingClock(5);
  renting.clock = clock;
  const rent = renting.rent.bind(renting);
  renting.rent = (id, name, more) => {
    mkdirSync(there(id), { recursive: true });
    return rent(id, name, {
      status: 'ACTIVE',
      price_per_hour_snapshot: '89.90',
      ip_address: '127.0.0.1',
      ssh_username: 'root',
      ssh_port: (banner.address() as AddressInfo).port,
      ...more,
    } as object);
  };
  const service = await startService(renting.handler, renting.clock);
  const computer = {
    home,
    env: {
      PATH: path,
      HOME: home,
      GPUCLOUD_CONFIG_DIR: join(home, 'config'),
      GPUCLOUD_STATE_DIR: join(home, 'state'),
    },
  };
  const env = { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef' };
  const hardware = ['--offer', OFFER, '--image', IMAGE, '--ssh-key', KEY_ID];
  const words = [...hardware, '--identity', key];
  const started: Promise<Outcome>[] = [];
  let running = 0;
  /** Runs the program and adds what it prints to the transcript. */
  const transcribed = async (argv: readonly string[], how: FastRun) => {
    const words = argv.map((word) => word.replaceAll(folder, 'FOLDER'));
    const write = toTranscript(words, {}, home);
    const before = service.requests.length;
    let isAlone = ++running === 1;
    const unprinted: string[] = [];
    const outcome = await runFast({ computer, env }, argv, {
      onNote: (text) => unprinted.push(text),
      onFailure: (failure) => unprinted.push(detailsOf(failure)),
      ...how,
    });
    isAlone &&= --running === 0;
    // Whether a wait that ends at the same moment reads the log is not certain.
    const requests = (isAlone ? service.requests.slice(before) : []).filter(
      ({ path }) => !path.includes('/events'),
    );
    const inRun = (text: string) => measured(text.replaceAll(folder, 'FOLDER'));
    const [stdout, stderr] = [inRun(outcome.stdout), inRun(outcome.stderr)];
    await write({ code: Number(outcome.code), stdout, stderr, requests }, unprinted.map(inRun));
    return outcome;
  };
  /** Adds the stored jobs, and which files are left on this computer. */
  const leftToTranscript = () => {
    // Not the instances, where a supervisor may still remove a folder.
    const left = readdirSync(home, { recursive: true, encoding: 'utf8' }).map((path) =>
      join('home', path),
    );
    const folders = new Map<string, string[]>();
    for (const path of left) {
      if (path.startsWith('home/state/journal/')) continue;
      const names = folders.get(dirname(path)) ?? [];
      folders.set(dirname(path), [...names, measured(basename(path))].sort());
    }
    const lines = [...folders].map(([path, names]) => `${path}: ${names.slice(0, 20).join(' ')}`);
    const records = left
      .filter((path) => /^home\/state\/jobs\/[^/]+\.json$/.test(path))
      .map((path) => join(folder, path))
      .filter((path) => statSync(path).isFile())
      .map((path) => measured(readFileSync(path, 'utf8').trim()))
      .map((record) => record.replaceAll(/"[a-z_]+":(null|false|\[\]),?/g, ''));
    for (const line of [...lines.sort().slice(0, 20), ...records.sort()]) {
      lineToTranscript(line.replaceAll(folder, 'FOLDER').replace(service.url, 'URL'));
    }
  };
  const gpucloud = (argv: readonly string[], how?: FastRun) => {
    const outcome = transcribed(argv, {
      ...(how?.speed === undefined ? { clock } : {}),
      programs: ssh,
      ...how,
    });
    started.push(outcome);
    return outcome;
  };
  const run: LoopbackWorld['run'] = (script, flags, how, command = ['sh', '-c', script]) =>
    gpucloud(
      [
        ...['run', ...words, ...unlessIn(flags, '--name', 'job')],
        ...[...unlessIn(flags, '--terminate-after', '1h'), ...flags, '--', ...command],
      ],
      how,
    );
  const runOn = (command: string, ...flags: string[]) =>
    gpucloud(['run', '--on', NEW, '--identity', key, ...flags, '--', 'sh', '-c', command]);
  const job = join(there(NEW), 'gpucloud-run');
  const jobFile = (kind: string) => {
    const jobs = join(home, 'state', 'jobs');
    const [name = ''] = readdirSync(jobs).filter((one) => one.endsWith('.json'));
    return join(jobs, name.replace(/json$/, kind));
  };
  return {
    renting,
    service,
    ssh,
    job,
    there,
    local: (name) => join(home, name),
    jobFile,
    record: () => JSON.parse(readFileSync(jobFile('json'), 'utf8')),
    clock,
    advance: clock.advance,
    gpucloud,
    run,
    runOn,
    async detach(command, ...flags) {
      const { code, stderr } = await run(command, ['--detach', '--unenforced', ...flags]);
      if (code !== 0) throw new Error(stderr);
    },
    terminations: () => service.requests.filter(({ path }) => path.endsWith('/terminate')).length,
    status: () => renting.instances.get(NEW)?.status,
    close: afterwards(async () => {
      endCommand(join(job, 'pid'));
      // Waits for every run, which could otherwise write to the removed folder.
      await Promise.allSettled(started);
      leftToTranscript();
      await service.close();
      banner.close();
      // Tries again while the supervisor of a killed command still writes to its folder.
      await removeFolder(folder);
    }),
  };
}
