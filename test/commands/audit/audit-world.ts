import { AccountService } from '../../support/account-service.ts';
import { manualClock } from '../../support/clock.ts';
import { createWorld, TEST_KEY, type World } from '../../support/run-cli.ts';
import { type Handler, ok } from '../../support/service.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** One row of `audit --json`. */
export interface Row {
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly evidence: readonly string[];
  readonly per_hour: string | null;
  readonly command: string | null;
}

interface Audited {
  readonly code: number;
  readonly stderr: string;
  readonly requests: readonly { readonly method: string; readonly body?: unknown }[];
  readonly rows: readonly Row[];
  row(check: string): Row | undefined;
}

/** An account in which only the test's own key is in use. */
export interface AuditWorld {
  readonly world: World;
  readonly service: AccountService;
  /** Replaces the service's responses. */
  handler: Handler;
  audit(...flags: string[]): Promise<Audited>;
  /** Returns the result of one check, and the exit code. */
  resultOf(check: string, ...flags: string[]): Promise<{ readonly code: number } & Partial<Row>>;
  track(...ids: string[]): Promise<void>;
  /** Adds a running instance that was created an hour ago, with the given fields. */
  running(fields?: object): string;
  keys(...list: object[]): void;
}

export async function createAuditWorld(): Promise<AuditWorld> {
  const clock = manualClock();
  const service = new AccountService(clock.now());
  service.profile = { name: 'Anna' };
  const at: { handler: Handler } = { handler: service.handler };
  const handler: Handler = (request) => at.handler(request);
  const world = await createWorld({ handler, clock });
  async function audit(...flags: string[]): Promise<Audited> {
    const { code, stdout, stderr, requests } = await world.cli(['audit', '--json', ...flags]);
    const rows: Row[] = stdout === '' ? [] : JSON.parse(stdout);
    return {
      code,
      stderr,
      requests,
      rows,
      row: (check) => rows.find((one) => one.check === check),
    };
  }
  function keys(...list: object[]): void {
    const fields = { is_active: true, expires_at: null };
    const data = list.map((key, n) => ({ id: `key-${n}`, name: `key-${n}`, ...fields, ...key }));
    service.broken.set('GET /api-keys', ok(data));
  }
  keys({ key_prefix: TEST_KEY.slice(0, 20), last_used_at: service.ago(0) });
  return Object.assign(at, {
    world,
    service,
    audit,
    async resultOf(check: string, ...flags: string[]) {
      const { code, row } = await audit(...flags);
      return { code, ...row(check) };
    },
    async track(...ids: string[]) {
      const { code, stderr } = await world.cli(['instances', 'track', ...ids]);
      if (code !== 0) throw new Error(stderr);
    },
    running: (fields = {}) =>
      service.instance(`box-${service.instances.size + 1}`, {
        created_at: service.ago(HOUR),
        ...fields,
      }),
    keys,
  });
}
