import { traceOf } from './kills.ts';
import type { Scenario } from './rig.ts';

const CALLS = [
  'openat',
  'fsync',
  'rename',
  'link',
  'unlink',
  'write',
  'writev',
  'sendto',
  'sendmsg',
] as const;

const PLACE = (name: string) => `/journal/[^/>]*/[^/>]*/${name}`;

/** The required steps in order, each with the strace line that shows it. */
const STEPS: readonly (readonly [string, RegExp])[] = [
  [
    "fsync of the request's content",
    new RegExp(`fsync\\(\\d+<[^>]*${PLACE('requests')}/traced\\.json\\.[^/>]*\\.tmp>`),
  ],
  [
    'its exclusive name',
    new RegExp(`link\\("[^"]*\\.tmp", "[^"]*${PLACE('requests')}/traced\\.json"\\) += 0`),
  ],
  ['fsync of its folder', new RegExp(`fsync\\(\\d+<[^>]*${PLACE('requests')}>`)],
  ['the request', /(write|writev|sendto|sendmsg)\(\d+<(socket|TCP)[^>]*>.*POST \/instances/],
  ['fsync of the instance', new RegExp(`fsync\\(\\d+<[^>]*${PLACE('instances')}/[^/>]*\\.tmp>`)],
  ['its name', new RegExp(`rename\\("[^"]*${PLACE('instances')}/[^"]*\\.tmp"`)],
  ['fsync of its folder', new RegExp(`fsync\\(\\d+<[^>]*${PLACE('instances')}>`)],
  ['the end of the request', new RegExp(`unlink\\("[^"]*${PLACE('requests')}/traced\\.json"`)],
  ['what is printed', /write\(1<[^>]*>, "\{/],
];

/** Returns the steps that are missing or out of order. */
export async function disorder(
  bundle: string,
  operation: Scenario['operation'],
): Promise<string[]> {
  const lines = joined(await traceOf(bundle, operation, CALLS));
  const wrong: string[] = [];
  let at = -1;
  for (const [name, pattern] of STEPS) {
    const next = lines.findIndex((line, index) => index > at && pattern.test(line));
    if (next < 0) wrong.push(`${name} is missing, or comes too early`);
    else at = next;
  }
  // Checks that the request was sent only once, since other steps may repeat.
  const requests = lines.filter((line) => STEPS[3]?.[1].test(line) === true);
  if (requests.length !== 1) wrong.push(`${requests.length} requests`);
  return wrong;
}

/**
 * Joins a call that strace splits when another thread makes a call. A call counts when it ends, but
 * a write counts when it starts.
 */
function joined(log: string): string[] {
  const begun = new Map<string, string>();
  return log.split('\n').flatMap((line) => {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (call.endsWith('<unfinished ...>')) {
      if (/^(write|writev|sendto|sendmsg)\(/.test(call)) return [call];
      begun.set(thread, call.replace('<unfinished ...>', ''));
      return [];
    }
    const [, name, rest] = /^<\.\.\. (\w+) resumed>(.*)$/.exec(call) ?? [];
    if (name === undefined) return [call];
    const start = begun.get(thread);
    begun.delete(thread);
    return start === undefined ? [] : [`${start}${rest ?? ''}`];
  });
}
