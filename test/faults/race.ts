import { randomUUID } from 'node:crypto';
import { createComputer } from '../support/program.ts';
import { randomNumbers } from '../support/random.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Handler, ok, startService } from '../support/service.ts';

const SOURCE = '11111111-2222-4333-8444-555555555555';
export const RACES = ['create', 'reorder', 'drive'] as const;
type Kind = (typeof RACES)[number];

export interface Race {
  readonly kind: Kind;
  readonly processes: number;
}

interface Thing {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

const random = randomNumbers();

/** The share of races in which all processes send at the same moment. */
const TOGETHER = 0.5;

/**
 * Runs several processes that create the same name. The service accepts used names and responds
 * after 100 to 400 ms. Returns the violations: two concurrent POSTs of a name, or an exit code
 * other than 0, 5 or 7.
 */
export async function race(bundle: string, { kind, processes }: Race): Promise<string[]> {
  const things = new Map<string, Thing>();
  const drives: Thing[] = [];
  const wrong: string[] = [];
  let open = 0;
  let posts = 0;
  const isTogether = random() < TOGETHER;
  const waiting: (() => void)[] = [];
  const handler: Handler = async ({ method, path, body }) => {
    if (method === 'POST') {
      open += 1;
      posts += 1;
      if (open > 1) wrong.push(`${open} POSTs at the same time`);
      await pause(100 + random() * 300);
      open -= 1;
      const { instance_name, new_name, name } = body as Record<string, string>;
      const made = {
        id: randomUUID(),
        name: instance_name ?? new_name ?? name ?? '',
        status: 'ACTIVE',
      };
      if (kind === 'drive') drives.push(made);
      else things.set(made.id, made);
      return ok(made);
    }
    if (path === '/users/me') {
      if (isTogether && kind !== 'drive') await all(waiting, processes);
      return ok({ id: 'user-1' });
    }
    if (path === '/storage/drives') return ok(drives);
    const id = path.split('/')[2] ?? '';
    if (id === SOURCE) return ok({ id, name: 'source', status: 'TERMINATED' });
    const found = things.get(id);
    return found === undefined
      ? { status: 404, body: { statusCode: 404, message: 'Not found', error: 'No' } }
      : ok(found);
  };
  const service = await startService(handler);
  const computer = await createComputer(bundle);
  const argv = {
    create: ['instances', 'create', 'race', ...HARDWARE],
    reorder: ['instances', 'reorder', SOURCE, 'race'],
    drive: ['drives', 'create', 'race', '--size', '5'],
  }[kind];
  const env = { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: 'svc_sk_race_0123456789' };
  try {
    const ended = await Promise.all(
      Array.from({ length: processes }, () => computer.gpucloud(argv, { env })),
    );
    for (const { code, stderr } of ended) {
      if (![0, 5, 7].includes(code ?? -1)) wrong.push(`exit ${code}: ${stderr}`);
    }
    const made = ended.filter(({ code }) => code === 0).length;
    if (made !== 1 || posts !== 1) wrong.push(`${posts} POSTs, ${made} processes with success`);
    return wrong.map((what) => `${processes} × ${kind}: ${what}`);
  } finally {
    await service.close();
    await computer.remove();
  }
}

/** Runs `count` races of the given kinds, with 2, 4 and 8 processes in turn. */
export async function races(bundle: string, count: number, kinds: readonly Kind[] = RACES) {
  const wrong: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const kind = kinds[at % kinds.length] ?? 'create';
    const processes = [2, 4, 8][Math.floor(at / kinds.length) % 3] ?? 2;
    wrong.push(...(await race(bundle, { kind, processes })));
  }
  return wrong;
}

/** Resolves once `count` callers wait. */
function all(waiting: (() => void)[], count: number): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length >= count) for (const go of waiting) go();
  });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
