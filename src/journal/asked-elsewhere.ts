import { CliError } from '../errors.ts';

/** A request was not made again, since another process does it, or has settled it just now. */
export class AskedElsewhere extends CliError {
  constructor(name: string) {
    super('wrongState', `The request for ${name} is being settled by another gpucloud.`, {
      resource: name,
      hint: 'look again in a while: gpucloud instances recover',
    });
    this.name = 'AskedElsewhere';
  }
}
