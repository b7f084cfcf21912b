import { Option } from '../../command-line/command.ts';
import { oneOf, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import { serve } from '../../mcp/server.ts';
import { LEVELS } from '../../mcp/tools.ts';
import { positiveMoney } from '../../rules/money.ts';
import { wholeNumber } from '../../rules/numbers.ts';
import { lifetime } from '../../rules/times.ts';

export const mcp = verb({
  summary: 'Serve the commands to AI agents, with a budget',
  notes:
    'Serves the Model Context Protocol over stdin and stdout. An agent starts it and calls the ' +
    'commands as tools.\n\n' +
    '--allow read, the default, changes nothing. --allow jobs adds run, jobs, and terminating what ' +
    'the session rented. --allow all adds most other commands. No tool prints a key, changes a ' +
    'profile or spends money outside of the budget.\n\n' +
    'The budget needs --max-cost and --for. Each instance gets a deadline, at the latest the ' +
    'end of the session. gpucloud counts its highest price for every started hour until 10 minutes ' +
    'after the deadline, and rejects a request that could exceed --max-cost. Requests with ' +
    'an unknown outcome count too.\n\n' +
    'When the agent closes stdin, on SIGTERM, and after --for, terminates what the session rented, ' +
    'unless --keep is given. If the server is killed, a scheduled "instances reap" terminates the ' +
    'instances at their deadlines. Without one, --allow jobs and all need --unenforced.',
  completes: { '--max-cost': 'nothing', '--max-instances': 'nothing' },
  examples: [
    'gpucloud mcp',
    'gpucloud mcp --allow jobs --max-cost 500 --for 4h',
    'gpucloud mcp --allow all --max-cost 2000 --max-instances 2 --for 8h',
  ],
  takes: (command) =>
    command
      .addOption(
        new Option('--allow <level>', `what agents may do: ${LEVELS.join(', ')}`)
          .argParser(oneOf('--allow', LEVELS))
          .default('read' as const),
      )
      .option(
        '--max-cost <rub>',
        'limit the cost of everything that the session rents',
        ruled('--max-cost', positiveMoney),
      )
      .option(
        '--max-instances <n>',
        'limit the instances that may run at once',
        ruled('--max-instances', (text: string) => wholeNumber(text, 1, 1000)),
      )
      .option('--for <duration>', 'end the session after this time', ruled('--for', lifetime))
      .option('--keep', 'leave instances running at the end of the session, until their deadlines')
      .option('--unenforced', 'rent although nothing enforces deadlines if the server is killed'),
  async run(context, flags, { runtime }) {
    const { allow, maxCost, maxInstances, keep = false, unenforced = false } = flags;
    await serve(
      { allow, maxCost, maxInstances, for: flags.for, keep, unenforced },
      context,
      runtime,
    );
  },
});
