import { CliError } from '../../src/errors.ts';
import { nameIn, RentingService } from '../support/renting-service.ts';
import { type CliOptions, createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { no, ok, type RecordedRequest } from '../support/service.ts';

export const OFFERS = [1, 2].map((n) => `11111111-1111-4222-8333-44445555000${n}`);
export const GONE = 'Offer is out of stock';
export const CREATE = ['instances', 'create', 'gpu', ...HARDWARE];

interface Failed {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly resource: string | null;
  readonly may_be_billing: boolean;
  readonly errors?: readonly Failed[];
}

export type SeveralWorld = Awaited<ReturnType<typeof severalWorld>>;

/** Creates a service that rents several instances, and a runner of `create --count`. */
export async function severalWorld() {
  const service = new RentingService();
  // Depends on no order, since requests at the same time arrive in any.
  service.newId = (name = '') => {
    const again = [...service.instances.values()].filter((one) => one.name === name).length;
    return `22222222-1111-4222-8333-4444555${5 + again}000${name.match(/\d$/) ?? 0}`;
  };
  const world: World = await createWorld({ handler: service.handler });
  return {
    world,
    service,

    /** Runs the command with `--json`. Several errors become one object with a list. */
    async create(more: readonly string[], options: CliOptions = {}) {
      const argv = [...CREATE, ...more, '--json'];
      const { code, stdout, stderr, requests } = await world.cli(argv, options);
      const lines = stderr.split('\n').filter(Boolean);
      const messages: { error?: Failed; warning?: { code: string; message: string } }[] = lines.map(
        (line) => JSON.parse(line),
      );
      const error = messages.find((one) => one.error !== undefined)?.error;
      return {
        code,
        shown: stdout === '' ? undefined : JSON.parse(stdout),
        errors: error === undefined ? [] : (error.errors ?? [error]),
        warnings: messages.flatMap(({ warning }) => (warning === undefined ? [] : [warning])),
        posts: requests.flatMap(({ method, path, body }) =>
          method === 'POST' && path === '/instances' ? nameIn(body) : [],
        ),
        requests,
      };
    },

    statuses: () =>
      Object.fromEntries([...service.instances.values()].map(({ name, status }) => [name, status])),

    /** Refuses or loses the requests for these names, and rents the others. */
    answer(names: Readonly<Record<string, 'refused' | 'lost' | 'hangUp'>>): void {
      service.posts = Array.from({ length: 99 }, () => ({ body }: RecordedRequest) => {
        const name = nameIn(body);
        if (names[name] === 'refused') return no(409, GONE);
        if (names[name] === 'hangUp') return 'hangUp';
        const instance = service.rent(service.newId(name), name);
        return names[name] === 'lost' ? 'hangUp' : ok(instance, 201);
      });
    },

    /** Gives each instance the status of its name at its first read. */
    become(named: Readonly<Record<string, string>> = {}): void {
      service.onRead = async (id) => {
        const found = service.instances.get(id);
        if (found?.status === 'PROVISIONING') {
          service.instances.set(id, { ...found, status: named[found.name] ?? 'ACTIVE' });
        }
      };
    },

    /** Delays the next `count` creates until they are released. */
    holdCreates(count: number) {
      let release = () => {};
      const released = new Promise<void>((go) => {
        release = go;
      });
      let left = count;
      const arrived = new Promise<void>((go) => {
        service.posts = Array.from({ length: count }, () => async ({ body }: RecordedRequest) => {
          left -= 1;
          if (left === 0) go();
          await released;
          return ok(service.rent(service.newId(nameIn(body)), nameIn(body)), 201);
        });
      });
      return { arrived, release };
    },
  };
}

export const namesOf = (shown: readonly { name: string }[]) => shown.map(({ name }) => name);

export function interruptible() {
  const [first, second] = [new AbortController(), new AbortController()];
  return {
    interrupts: { first: first.signal, second: second.signal },
    press: (which: 'first' | 'second') =>
      ({ first, second })[which].abort(new CliError('interrupted', 'Interrupted.')),
  };
}
