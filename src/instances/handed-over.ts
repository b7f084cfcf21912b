import { linesIn } from '../command-line/input.ts';
import type { Context } from '../context.ts';
import { ensureCliError, usageError } from '../errors.ts';
import type { Journal } from '../journal/index.ts';
import { gpucloud } from '../output/shell-line.ts';
import { instant, minuteText } from '../output/time.ts';
import { typedName } from '../rules/names.ts';
import * as z from '../zod.ts';
import { endsNeed, type Feature } from './deadlines/armed.ts';
import { setDeadline, type WantedEnds } from './deadlines/deadline.ts';

/** Bytes of a list from another computer: some 20,000 instances. */
const LONGEST = 64 * 1024 * 1024;

/** A row of `instances list --json` on another computer. */
interface HandedOver {
  readonly id: string | null;
  readonly name: string;
  readonly ends: WantedEnds;
  readonly hasJob: boolean;
  /** The paths of `--rescue` on the instance. Their copies belong to the other computer. */
  readonly rescue: readonly string[];
}

/** Reads what another computer's list hands over: IDs, deadlines and idle rules. */
export function createHandedOver() {
  const rows: HandedOver[] = [];
  return {
    rows,
    /** How to read stdin: a list in JSON or JSON lines, otherwise one ID per line. */
    how: {
      longest: LONGEST,
      namesIn(text: string): readonly string[] {
        if (!/^\s*[[{]/.test(text)) return linesIn(text);
        rows.push(...rowsIn(text));
        return rows.flatMap(({ id }) => id ?? []);
      },
    },
  };
}

function rowsIn(text: string): HandedOver[] {
  const schema = z.looseObject({
    id: z.nullable(z.string()),
    name: z.optional(z.string()),
    ends_at: z.nullish(z.string().check(z.refine((time) => instant(time) !== undefined))),
    if_idle_seconds: z.nullish(z.number().check(z.positive())),
    has_job: z.optional(z.boolean()),
    rescue: z.optional(z.array(z.looseObject({ remote: z.string() }))),
  });
  return elementsIn(text).map((element, at) => {
    const parsed = schema.safeParse(element);
    if (!parsed.success) {
      const field = parsed.error.issues[0]?.path.join('.') || 'the row';
      throw usageError(
        `ID "-": row ${at + 1}: ${field} is not as "instances list --json" prints it`,
      );
    }
    const { id, name, ends_at, if_idle_seconds: idle, has_job, rescue = [] } = parsed.data;
    return {
      id,
      name: String(name ?? id),
      ends: {
        ...(ends_at == null ? {} : { deadline: new Date(Number(instant(ends_at))).toISOString() }),
        ...(idle == null ? {} : { if_idle: idle * 1000 }),
      },
      hasJob: has_job === true,
      rescue: rescue.map(({ remote }) => remote),
    };
  });
}

function elementsIn(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text) as unknown].flat();
  } catch {
    // Not one value: JSON lines.
  }
  try {
    return linesIn(text).map((line): unknown => JSON.parse(line));
  } catch {
    throw usageError('ID "-": stdin is neither IDs, one per line, nor valid JSON');
  }
}

/**
 * Sets the deadline and the idle rule that a tracked instance had on the other computer. This
 * computer keeps its own, and says so if it differs. Returns what now needs to be enforced, and
 * throws CliError if it could not be set.
 */
export async function takeOver(
  { id, name, ends }: HandedOver & { readonly id: string },
  journal: Journal,
  context: Context,
): Promise<readonly Feature[]> {
  const needed = endsNeed(ends);
  if (needed.length === 0) return [];
  const { deadline, if_idle } = await journal.ends(id);
  const missing: WantedEnds = {
    ...(ends.deadline !== undefined && deadline == null ? { deadline: ends.deadline } : {}),
    ...(ends.if_idle !== undefined && if_idle === undefined ? { if_idle: ends.if_idle } : {}),
  };
  const typed = typedName(name, id);
  if (isOther(deadline, ends.deadline)) {
    context.err.warn(
      'incomplete',
      `Not handed over: the deadline of ${name}. This computer keeps its own: ${minuteText(Date.parse(String(deadline)))}. To move it: ${gpucloud('instances', 'expire', typed, '--after', '4h')}`,
    );
  }
  if (isOther(if_idle?.after, ends.if_idle)) {
    context.err.warn(
      'incomplete',
      `Not handed over: the idle rule of ${name}. This computer keeps its own. To change it: ${gpucloud('instances', 'expire', typed, '--if-idle', '45m')}`,
    );
  }
  if (endsNeed(missing).length === 0) return needed;
  try {
    await setDeadline({ id, name }, missing, journal, context);
  } catch (error) {
    ensureCliError(error);
    throw error.with(`Tracked ${name}, but not its deadline: ${error.message}`, {
      hint: `set it: ${gpucloud('instances', 'expire', typed, '--after', '4h')}`,
      resource: id,
      mayBeBilling: true,
    });
  }
  return needed;
}

/** Whether this computer has another value than the other computer handed over. */
function isOther<T>(own: T | null | undefined, given: T | undefined): boolean {
  return own != null && given !== undefined && own !== given;
}

/** Warns about what only the other computer can finish. */
export function warnOfLeftThere(rows: readonly HandedOver[], { err }: Context): void {
  for (const { id, name, hasJob, rescue } of rows) {
    if (id === null) {
      err.warn(
        'outcome_unknown',
        `Not handed over: the request for ${name}, whose outcome is unknown. It may be billing. Recover it on the other computer.`,
      );
    } else if (hasJob) {
      err.warn(
        'incomplete',
        `Not handed over: the job of ${name}. Only the other computer can finish it.`,
      );
    }
    if (id !== null && rescue.length > 0) {
      const flags = rescue.flatMap((path) => ['--rescue', path]);
      err.warn(
        'incomplete',
        `Not handed over: the --rescue paths of ${name}. To copy them to this computer: ${gpucloud('instances', 'expire', typedName(name, id), ...flags)}`,
      );
    }
  }
}
