import { verb } from '../../../command-line/verb.ts';
import { usageError } from '../../../errors.ts';
import { findInstance } from '../../../instances/resolve.ts';
import { copyNow } from '../../../jobs/rescue/copy-now.ts';
import { toRescue } from '../../../jobs/rescue/wanted.ts';
import type { RescuedPath } from '../../../json-results/instances.ts';
import { field, type View } from '../../../output/output.ts';
import { gpucloud } from '../../../output/shell-line.ts';
import { howToReach, withSignInFlags } from '../../../ssh/ssh-flags.ts';

const rescuedView: View<RescuedPath> = {
  columns: [
    field('remote', 'REMOTE'),
    field('local', 'LOCAL'),
    field('files', 'FILES'),
    field('bytes', 'BYTES'),
    field('copied_at', 'COPIED', { kind: 'time' }),
    { id: 'changing', header: 'CHANGING', value: ({ changing }) => changing.join(', ') },
    field('failure', 'FAILURE'),
  ],
  id: ({ local }) => local,
  empty: 'Nothing to copy.',
};

export const rescue = verb({
  summary: 'Copy the --rescue paths of an instance now',
  view: rescuedView,
  notes:
    'Copies the paths set with --rescue, or REMOTE[:LOCAL], to this computer, and compares both ' +
    'sides by SHA-256. Copies a file again that changed meanwhile, at most twice. Does not ' +
    'terminate the instance.\n\n' +
    'Exits with 9 if this computer could not store a file, and with 125 if the instance could not ' +
    'send it.',
  ends: ['runFailed'],
  completes: { remote: 'nothing', '--user': 'nothing' },
  examples: [
    'gpucloud instances rescue trainer',
    'gpucloud instances rescue trainer results:out notebooks',
  ],
  takes: (command) =>
    withSignInFlags(
      command
        .argument('<instance>', 'name or ID')
        .argument('[remote...]', 'files, folders or patterns: REMOTE[:LOCAL]'),
    ),
  async run(context, typed, remotes, signIn) {
    if (remotes.includes('none')) {
      throw usageError(
        'REMOTE "none": only "instances expire" removes the paths of --rescue',
        `remove them: ${gpucloud('instances', 'expire', typed, '--rescue', 'none')}; copy a file or folder named none: ${gpucloud('instances', 'rescue', typed, './none')}`,
      );
    }
    const how = await howToReach(signIn, context);
    const given =
      remotes.length === 0 ? undefined : await toRescue({ rescue: remotes }, [typed], context);
    const target = await findInstance(typed, context);
    const { paths, error } = await copyNow(target, { given, how }, context);
    await context.out.list(paths, rescuedView);
    if (error !== undefined) throw error;
  },
});
