/** One stop of the tour: what a newcomer learns there, and the command that shows it. */
export interface TourStep {
  readonly title: string;
  /** Read before the command runs; a line each. */
  readonly words: readonly string[];
  readonly argv: readonly string[];
}

const BOX = 'my-first-box';

/** Rent, connect, spend, stop: the whole of a rental, in the order in which a person does it. */
export const TOUR: readonly TourStep[] = [
  {
    title: 'What can be rented',
    words: [
      'An offer is a kind of machine with its price per hour; an image is what is installed on it.',
      'Here in the sandbox all of them are known. The real service shows its own in the web console.',
    ],
    argv: ['sandbox', 'catalog'],
  },
  {
    title: 'Rent a machine',
    words: [
      'One hour of the price is reserved at once, and each hour is charged as it passes.',
      '--wait waits until the machine runs.',
    ],
    argv: [
      ...['instances', 'create', BOX, '--offer', 'RTX 4090', '--image', 'Ubuntu 22.04'],
      '--wait',
    ],
  },
  {
    title: 'Connect',
    words: [
      'gpucloud enters a machine with the ssh of your system. Nothing is behind the address of a',
      'machine of the sandbox, so that --print only shows the command that would run.',
    ],
    argv: ['instances', 'ssh', BOX, '--print'],
  },
  {
    title: 'Let three hours pass',
    words: [
      'The clock of the sandbox can be turned. On the real service, time and money pass by themselves.',
    ],
    argv: ['sandbox', 'advance', '3h'],
  },
  {
    title: 'See what is yours and what it costs',
    words: [
      'gpucloud writes down each machine before it asks for it, so that none is ever lost:',
      'this is what this computer knows, read afresh, with the money that it burns.',
    ],
    argv: ['status'],
  },
  {
    title: 'What was spent',
    words: ['Every hour is a charge of its own, taken from the balance in roubles.'],
    argv: ['billing', 'spend'],
  },
  {
    title: 'End it',
    words: [
      'A machine bills until it is terminated, whether you use it or not.',
      'Terminating deletes it and its disk for good. A person is asked first; --yes answers.',
    ],
    argv: ['instances', 'terminate', BOX, '--yes', '--wait'],
  },
  {
    title: 'What is left',
    words: ['Nothing bills any more.'],
    argv: ['billing', 'balance'],
  },
];
