import { eachBounded } from '../../bounded.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { OR_STDIN, severalGiven } from '../../cli/input.ts';
import { checked } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import { sightingOf } from '../../context/observe.ts';
import type { Context } from '../../context.ts';
import { CliError, SeveralErrors } from '../../errors.ts';
import { settleOpen } from '../../instances/settle-open.ts';
import type { Changed } from '../../instances/waiting.ts';
import { resourceId } from '../../rules/ids.ts';
import { changedView } from './view.ts';

const AT_ONCE = 4;

export function registerTrack(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: changedView,
    notes:
      'Their ids are in the web console. Each is read; --force takes up one that is not found.',
    examples: ['gpucloud instances track 3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d10'],
  })
    .argument('<id...>', `ids of machines${OR_STDIN}`)
    .option('--force', 'take up an id that the service does not find, or that can not be read now')
    .action(async (given, flags, command) => {
      const context = frame.context(command);
      const ids = await severalGiven('ID', given, context);
      for (const id of ids) checked('ID', id, resourceId);
      return track({ ids, force: flags.force === true }, context);
    });
}

export interface TrackInput {
  readonly ids: readonly string[];
  readonly force: boolean;
}

export async function track({ ids, force }: TrackInput, context: Context): Promise<void> {
  const api = await context.api();
  const journal = await context.journal();
  const errors: CliError[] = [];
  const taken = await eachBounded([...new Set(ids)], AT_ONCE, async (id) => {
    try {
      const known = await journal.instance(id);
      const instance = await api.instances.get(id);
      await journal.observe(sightingOf(instance), 'track');
      if (known?.untracked === false)
        context.err.note(`Known already: ${instance.name ?? id} (${id}).`);
      return { id, name: instance.name ?? id, status: instance.status };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (!force || error.failure === 'authentication' || error.failure === 'storage') {
        errors.push(error);
        return undefined;
      }
      await journal.track(id);
      context.err.warn(`Taken into the list unseen: ${id}. ${error.message}`);
      return { id, name: id, status: error.failure === 'notFound' ? 'GONE' : 'UNREAD' };
    }
  });
  const rows: Changed[] = taken.filter((row) => row !== undefined);
  if (rows.length > 0) {
    // A machine that was looked up by hand is often the one that a lost answer told of.
    await settleOpen(context);
    await context.out.list(rows, changedView);
  }
  const [first, ...others] = errors;
  if (first !== undefined) {
    throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
  }
}
